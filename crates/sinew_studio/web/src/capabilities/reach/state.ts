// Reaching: targets and weights as the user sets them. The server searches and shows; the document changes when the
// pose
// is taken.
import { ask, store } from '../../app';
import type { ReachGoal, Vec3 } from '../../net/protocol';
import { PoseGesture } from '../../tools/gesture';
import { Options } from '../../tools/options';

export const reachOptions = new Options({ pinOthers: false });

/** The present request, with a change. */
export function request(change: Partial<ReachGoal> = {}): ReachGoal {
  const targets = (store.doc?.reach?.targets ?? []).map(({ handle, position, pin }) => ({ handle, position, pin }));
  return { targets, pin_others: reachOptions.value.pinOthers, ...change };
}

/** All targets, with that of a handle elsewhere; it is created if there is none. */
export function withTarget(handle: string, position: Vec3 | null, pin?: boolean): ReachGoal['targets'] {
  const { targets } = request();
  const old = targets.find((target) => target.handle === handle);
  const made = { handle, position, pin: pin ?? old?.pin ?? false };
  return old ? targets.map((target) => (target === old ? made : target)) : [...targets, made];
}

/** A request that is streamed during a drag. */
export class ReachGesture {
  private readonly gesture = new PoseGesture('', []);

  update(change: Partial<ReachGoal>, time: number): void {
    this.gesture.update({ reach: request(change) }, time);
  }

  end(): void {
    this.gesture.end();
  }
}

/** A single request. */
export function reach(change: Partial<ReachGoal> = {}): void {
  const gesture = new ReachGesture();
  gesture.update(change, performance.now());
  gesture.end();
}

export function removeTarget(handle: string): void {
  reach({ targets: request().targets.filter((target) => target.handle !== handle) });
}

export const targetOf = (handle: string | null) => store.doc?.reach?.targets.find((target) => target.handle === handle);

export function endReach(accept: boolean): void {
  void ask({ type: 'reach_end', accept });
}
