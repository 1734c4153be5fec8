// Flesh in the page: how it is changed, which joint is meant, and what of it is seen.
import { Euler, Quaternion } from 'three';
import { ask, run, store } from './app';
import { Emitter } from './emitter';
import type { Flesh, FleshChange, FleshJoint, FleshSettings, Vec3 } from './net/protocol';

export const flesh = (): Flesh | undefined => store.doc?.flesh;
export const isLive = (): boolean => store.doc?.fleshed?.on ?? false;

export function changeFlesh(change: FleshChange): Promise<unknown> {
  return run({ flesh: change });
}

/** Some settings, the others as they are. */
export function setFlesh(change: Partial<FleshSettings>): void {
  const settings = flesh()?.settings;
  if (settings) void changeFlesh({ settings: { settings: { ...settings, ...change } } });
}

export function setLive(on: boolean): void {
  void ask({ type: 'flesh_live', on });
}

export const stiffness = (): number => flesh()?.settings.stiffness ?? flesh()?.usual_stiffness ?? 3e4;

/** What the panel and the tools share. */
class Fleshing extends Emitter<{ change: null }> {
  /** The joint that is meant, by name. */
  joint: string | null = null;
  /** Joints are put and moved at rest, or turned in the pose. */
  mode: 'put' | 'turn' = 'put';
  /** Whether painted stiffness is seen as colours. */
  colours = false;

  constructor() {
    super();
    store.on('opened', () => this.set({ joint: null, mode: 'put', colours: false }));
    store.on('doc', () => {
      if (this.joint !== null && !joints().some(({ name }) => name === this.joint)) this.set({ joint: null });
      if (this.mode === 'put' && flesh()?.own_skeleton) this.set({ mode: 'turn' });
    });
  }

  set(change: Partial<Pick<Fleshing, 'joint' | 'mode' | 'colours'>>): void {
    Object.assign(this, change);
    this.emit('change', null);
  }

  /** Whether joints are turned, not put. */
  get turns(): boolean {
    return this.mode === 'turn' || (flesh()?.own_skeleton ?? false);
  }
}

export const fleshing = new Fleshing();

/** The joints as they are seen: where they were put, or in their pose. */
export function joints(): FleshJoint[] {
  const data = flesh();
  if (!data) return [];
  if (fleshing.turns) return data.joints;
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

export function turnTo(joint: string, degrees: Vec3): void {
  const [x, y, z] = degrees.map((angle) => (angle * Math.PI) / 180);
  const turn = new Quaternion().setFromEuler(new Euler(x, y, z, 'XYZ'));
  void changeFlesh({ turn: { joint, rotation: turn.toArray() as [number, number, number, number] } });
}

/** Whether the skeleton lacks what was put since it was made. */
export function isUnbound(): boolean {
  const data = flesh();
  if (!data || data.own_skeleton || data.sites.length === 0) return false;
  if (!data.bound) return true;
  const parentOf = (joint: FleshJoint): string | null => (joint.parent === null ? null : data.joints[joint.parent].name);
  const known = new Map(data.joints.map((joint) => [joint.name, parentOf(joint)]));
  return known.size !== data.sites.length || data.sites.some(({ name, parent }) => known.get(name) !== (parent ?? null)) || data.moved;
}

/** A name no clip has yet. */
export function freeClipName(stem: string): string {
  const taken = new Set(store.doc?.clips.map(({ name }) => name));
  if (!taken.has(stem)) return stem;
  for (let i = 2; ; i++) if (!taken.has(`${stem} ${i}`)) return `${stem} ${i}`;
}
