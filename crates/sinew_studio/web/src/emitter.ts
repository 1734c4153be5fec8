// Typed events between modules that do not import each other.

type Listener<T> = (payload: T) => void;

export class Emitter<Events> {
  private readonly listeners = new Map<keyof Events, Set<Listener<never>>>();

  on<K extends keyof Events>(topic: K, listener: Listener<Events[K]>): () => void {
    const set = this.listeners.get(topic) ?? new Set();
    this.listeners.set(topic, set);
    set.add(listener as Listener<never>);
    return () => set.delete(listener as Listener<never>);
  }

  emit<K extends keyof Events>(topic: K, payload: Events[K]): void {
    for (const listener of this.listeners.get(topic) ?? []) (listener as Listener<Events[K]>)(payload);
  }
}
