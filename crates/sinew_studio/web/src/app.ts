// The parts every module may use: store, connection, numbers, and how errors reach the user.

import type { Command, Outgoing } from './net/protocol';
import { Socket, type SocketEvents } from './net/socket';
import { Stats } from './stats';
import { Store } from './store';
import { toast } from './ui/toast';

export const store = new Store();
export const stats = new Stats();

const unconnected: SocketEvents = { link: () => {}, message: () => {}, binary: () => {} };
const events = { ...unconnected };
export const socket = new Socket({
  link: (link, retry) => events.link(link, retry),
  message: (message) => events.message(message),
  binary: (buffer) => events.binary(buffer),
});

/** Who takes what the server sends; set once, when the page is built. */
export function listen(to: SocketEvents): void {
  Object.assign(events, to);
}

/** Ask the server; a refusal becomes a toast and `undefined`. */
export async function ask<T = unknown>(message: Outgoing): Promise<T | undefined> {
  try {
    return await socket.ask<T>(message);
  } catch (error) {
    toast('error', error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** An undoable command. Those of one gesture, such as the drag of a slider, are one step. */
export function run(command: Command, gesture?: number): Promise<unknown> {
  return ask({ type: 'do', command, stroke: gesture });
}
