// The connection: requests with answers, messages in order, and coming back after a break.
import { socketAddress } from './address';
import type { Incoming, Outgoing } from './protocol';

export type Link = 'connecting' | 'open' | 'lost';

/** The server's error message. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly needsPath = false,
    readonly exists = false,
  ) {
    super(message);
  }
}

export interface SocketEvents {
  link(link: Link, retryInMs: number): void;
  message(message: Incoming): void;
  binary(buffer: ArrayBuffer): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const FIRST_RETRY_MS = 300;
const LAST_RETRY_MS = 8000;

export class Socket {
  private ws: WebSocket | null = null;
  private nextId = 1;
  private readonly waiting = new Map<number, Waiting>();
  private retryMs = FIRST_RETRY_MS;
  private retryTimer = 0;

  constructor(private readonly events: SocketEvents) {}

  connect(): void {
    clearTimeout(this.retryTimer);
    this.events.link('connecting', 0);
    const ws = new WebSocket(socketAddress());
    ws.binaryType = 'arraybuffer';
    ws.onopen = () => {
      this.retryMs = FIRST_RETRY_MS;
      this.events.link('open', 0);
    };
    ws.onmessage = (event) => this.take(event.data as string | ArrayBuffer);
    ws.onclose = () => this.closed();
    this.ws = ws;
  }

  get isOpen(): boolean {
    return this.ws?.readyState === WebSocket.OPEN;
  }

  /** Say something that needs no answer; lost if there is no connection. */
  send(message: Outgoing): void {
    if (this.isOpen) this.ws!.send(JSON.stringify(message));
  }

  /** Ask, and wait for the answer. */
  ask<T = unknown>(message: Outgoing): Promise<T> {
    if (!this.isOpen) return Promise.reject(new Refused('The studio is not connected; it keeps trying.'));
    const id = this.nextId++;
    this.ws!.send(JSON.stringify({ id, ...message }));
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
    });
  }

  /** Drop the connection, for tests of what happens then. */
  drop(): void {
    this.ws?.close();
  }

  private take(data: string | ArrayBuffer): void {
    if (typeof data !== 'string') {
      this.events.binary(data);
      return;
    }
    let message: Incoming;
    try {
      message = JSON.parse(data) as Incoming;
    } catch {
      return;
    }
    if (message.type === 'reply') this.answer(message);
    else this.events.message(message);
  }

  private answer(reply: Extract<Incoming, { type: 'reply' }>): void {
    const waiting = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if (reply.error !== undefined) waiting?.reject(new Refused(reply.error, reply.needs_path, reply.exists));
    else waiting?.resolve(reply.ok);
  }

  private closed(): void {
    this.ws = null;
    for (const { reject } of this.waiting.values())
      reject(new Refused('The connection was lost before the answer came.'));
    this.waiting.clear();
    this.events.link('lost', this.retryMs);
    this.retryTimer = window.setTimeout(() => this.connect(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 1.7, LAST_RETRY_MS);
  }
}
