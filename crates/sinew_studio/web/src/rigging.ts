// Force rigs in the page: which is meant, how they are placed and changed.
import { ask, run, store } from './app';
import { Emitter } from './emitter';
import type { Point, RigChange, Rigs, ShownRig } from './net/protocol';
import type { Viewport } from './view/viewport';

export const TEMPLATES: { id: string; tip: string }[] = [
  { id: 'bump', tip: 'Pushes the skin outwards' },
  { id: 'bulge', tip: 'Stretches along and narrows across; below 0 it swells as a muscle does' },
  { id: 'radial', tip: 'Pushes away from a point' },
  { id: 'torus', tip: 'Pushes away from a ring' },
];

export type GuideName = 'skin' | 'bone' | 'free';

export const rigs = (): Rigs | undefined => store.doc?.rigs;

export function changeRigs(change: RigChange): Promise<unknown> {
  return run({ rigs: change });
}

class Rigging extends Emitter<{ change: null }> {
  /** The rig that is meant, by name. */
  rig: string | null = null;
  guide: GuideName = 'skin';
  /** The template that the next click puts. */
  template: string | null = null;

  constructor() {
    super();
    store.on('opened', () => this.set({ rig: null, template: null }));
    store.on('doc', () => {
      if (this.rig !== null && !rigs()?.rigs.some(({ name }) => name === this.rig)) this.set({ rig: null });
    });
  }

  set(change: Partial<Pick<Rigging, 'rig' | 'guide' | 'template'>>): void {
    Object.assign(this, change);
    this.emit('change', null);
  }

  get chosen(): ShownRig | undefined {
    const all = rigs()?.rigs ?? [];
    return all.find(({ name }) => name === this.rig) ?? all[0];
  }
}

export const rigging = new Rigging();

/** Put a template on the body under a place of the screen. */
export async function placeRig(viewport: Viewport, template: string, at: Point): Promise<void> {
  const made = await ask<{ name: string } | null>({ type: 'rig_place', template, guide: rigging.guide, view: viewport.rig.view16(), at });
  if (made) rigging.set({ rig: made.name, template: null });
}

/** What a template dragged out of the panel is called while it is dragged. */
export const DRAGGED = 'application/x-sinew-template';

/** Templates are dropped on the picture. */
export function listenToTemplates(viewport: Viewport): void {
  const { element } = viewport;
  element.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes(DRAGGED)) event.preventDefault();
  });
  element.addEventListener('drop', (event) => {
    const template = event.dataTransfer?.getData(DRAGGED);
    if (!template) return;
    event.preventDefault();
    event.stopPropagation();
    void placeRig(viewport, template, viewport.ndc(event));
  });
}
