// Reaching: targets and weights as the hand wishes them. The server searches and shows; nothing is done until it is taken.
import { ask, store } from './app';
import type { ReachWish, Vec3 } from './net/protocol';
import { PoseGesture } from './tools/gesture';

/** Everything as it is, with a change. */
export function wish(change: Partial<ReachWish> = {}): ReachWish {
  const targets = (store.doc?.reach?.targets ?? []).map(({ handle, position, pin }) => ({ handle, position, pin }));
  return { targets, pin_others: store.options.pinOthers, ...change };
}

/** All targets, with that of a handle elsewhere; it is made if need be. */
export function withTarget(handle: string, position: Vec3 | null, pin?: boolean): ReachWish['targets'] {
  const { targets } = wish();
  const old = targets.find((target) => target.handle === handle);
  const made = { handle, position, pin: pin ?? old?.pin ?? false };
  return old ? targets.map((target) => (target === old ? made : target)) : [...targets, made];
}

/** A wish that is streamed, as long as a hand moves. */
export class ReachGesture {
  private readonly gesture = new PoseGesture('', []);

  update(change: Partial<ReachWish>, time: number): void {
    this.gesture.update({ reach: wish(change) }, time);
  }

  end(): void {
    this.gesture.end();
  }
}

/** A wish at once. */
export function reach(change: Partial<ReachWish> = {}): void {
  const gesture = new ReachGesture();
  gesture.update(change, performance.now());
  gesture.end();
}

export function removeTarget(handle: string): void {
  reach({ targets: wish().targets.filter((target) => target.handle !== handle) });
}

export const hasTarget = (handle: string | null): boolean =>
  store.doc?.reach?.targets.some((target) => target.handle === handle) ?? false;

export function endReach(accept: boolean): void {
  void ask({ type: 'reach_end', accept });
}
