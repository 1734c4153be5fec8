// Flesh in the page: how it is changed, which joint is selected, and what of it is shown.
import { Euler, Quaternion } from 'three';
import { ask, run, store } from '../../app';
import { Emitter } from '../../emitter';
import { freeCopy } from '../../names';
import type { Flesh, FleshChange, FleshJoint, FleshSettings, Vec3 } from '../../net/protocol';
import { Options } from '../../tools/options';

/** What pressing the flesh does, and how much stiffer the brush makes it. */
export const fleshOptions = new Options<{ op: 'grab' | 'push'; stiffFactor: number }>({ op: 'grab', stiffFactor: 5 });

export const flesh = (): Flesh | undefined => store.doc?.flesh;
export const isLive = (): boolean => store.doc?.fleshed?.on ?? false;

export function changeFlesh(change: FleshChange, gesture?: number): Promise<unknown> {
  return run({ flesh: change }, gesture);
}

/** Some settings, the others as they are. */
export function setFlesh(change: Partial<FleshSettings>, gesture?: number): Promise<unknown> | undefined {
  const settings = flesh()?.settings;
  return settings && changeFlesh({ settings: { settings: { ...settings, ...change } } }, gesture);
}

export function setLive(on: boolean): void {
  void ask({ type: 'flesh_live', on });
}

export const stiffness = (): number => flesh()?.settings.stiffness ?? flesh()?.usual_stiffness ?? 3e4;

/** What the panel and the tools share. */
class FleshView extends Emitter<{ change: null }> {
  /** The selected joint, by name. */
  joint: string | null = null;
  /** Joints are placed and moved at rest, or turned in the pose. */
  mode: 'put' | 'turn' = 'put';
  /** Whether painted stiffness is shown as colours. */
  colours = false;

  constructor() {
    super();
    store.on('opened', () => this.set({ joint: null, mode: 'put', colours: false }));
    store.on('doc', () => {
      if (this.joint !== null && !joints().some(({ name }) => name === this.joint)) this.set({ joint: null });
      if (this.mode === 'put' && flesh()?.own_skeleton) this.set({ mode: 'turn' });
    });
  }

  set(change: Partial<Pick<FleshView, 'joint' | 'mode' | 'colours'>>): void {
    Object.assign(this, change);
    this.emit('change', null);
  }

  /** Whether joints are turned, not placed. */
  get turns(): boolean {
    return this.mode === 'turn' || (flesh()?.own_skeleton ?? false);
  }
}

export const fleshView = new FleshView();

/** The joints as they are shown: where they were placed, or in their pose. */
export function joints(): FleshJoint[] {
  const data = flesh();
  if (!data) return [];
  if (fleshView.turns) return data.joints;
  return data.sites.map(({ name, parent, position }) => {
    const at = data.sites.findIndex((site) => site.name === parent);
    return { name, parent: at < 0 ? null : at, position, turn: [0, 0, 0, 1] };
  });
}

export const jointOf = (name: string | null): FleshJoint | undefined => joints().find((joint) => joint.name === name);

/** Degrees about x, y and z by which a joint is turned. */
export function anglesOf({ turn }: FleshJoint): Vec3 {
  const { x, y, z } = new Euler().setFromQuaternion(new Quaternion(...turn), 'XYZ');
  return [x, y, z].map((angle) => (angle * 180) / Math.PI) as Vec3;
}

export function turnTo(joint: string, degrees: Vec3): Promise<unknown> {
  const [x, y, z] = degrees.map((angle) => (angle * Math.PI) / 180);
  const turn = new Quaternion().setFromEuler(new Euler(x, y, z, 'XYZ'));
  return changeFlesh({ turn: { joint, rotation: turn.toArray() as [number, number, number, number] } });
}

/** Whether joints were placed or moved since the skeleton was made. */
export function isUnbound(): boolean {
  const data = flesh();
  if (!data || data.own_skeleton || data.sites.length === 0) return false;
  if (!data.bound) return true;
  const parentOf = (joint: FleshJoint): string | null =>
    joint.parent === null ? null : data.joints[joint.parent].name;
  const known = new Map(data.joints.map((joint) => [joint.name, parentOf(joint)]));
  return (
    known.size !== data.sites.length ||
    data.sites.some(({ name, parent }) => known.get(name) !== (parent ?? null)) ||
    data.moved
  );
}

/** A name that no clip has yet. */
export const freeClipName = (stem: string): string => freeCopy(store.doc?.clips ?? [], stem);
