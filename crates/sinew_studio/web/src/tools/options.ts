// Options of tools: a few values of a capability, which the options bar shows and the tool reads.
import { store } from '../app';

export class Options<T extends object> {
  constructor(readonly value: T) {}

  set(change: Partial<T>): void {
    Object.assign(this.value, change);
    store.emit('tool', store.tool);
  }
}
