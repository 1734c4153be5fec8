// Muscles in the page: which is selected, how they are placed and changed.
import { ask, run, store } from '../../app';
import { Emitter } from '../../emitter';
import type { MuscleChange, Muscles, Point, ShownMuscle } from '../../net/protocol';
import type { Viewport } from '../../view/viewport';

export const TEMPLATES: { id: string; tip: string }[] = [
  { id: 'bump', tip: 'Pushes the skin outwards' },
  { id: 'bulge', tip: 'Stretches along and narrows across; below 0 it swells as a muscle does' },
  { id: 'radial', tip: 'Pushes away from a point' },
  { id: 'torus', tip: 'Pushes away from a ring' },
];

export type GuideName = 'skin' | 'bone' | 'free';

export const muscles = (): Muscles | undefined => store.doc?.muscles;

export function changeMuscles(change: MuscleChange, gesture?: number): Promise<unknown> {
  return run({ muscles: change }, gesture);
}

class MuscleView extends Emitter<{ change: null }> {
  /** The selected muscle, by name. */
  name: string | null = null;
  guide: GuideName = 'skin';
  /** The template that the next click places. */
  template: string | null = null;

  constructor() {
    super();
    store.on('opened', () => this.set({ name: null, template: null }));
    store.on('doc', () => {
      if (this.name !== null && !muscles()?.muscles.some(({ name }) => name === this.name)) this.set({ name: null });
    });
  }

  set(change: Partial<Pick<MuscleView, 'name' | 'guide' | 'template'>>): void {
    Object.assign(this, change);
    this.emit('change', null);
  }

  get chosen(): ShownMuscle | undefined {
    const all = muscles()?.muscles ?? [];
    return all.find(({ name }) => name === this.name) ?? all[0];
  }
}

export const muscleView = new MuscleView();

/** Place a template on the body under a point of the screen. */
export async function placeMuscle(viewport: Viewport, template: string, at: Point): Promise<void> {
  const view = viewport.rig.view16();
  const request = { type: 'muscle_place' as const, template, guide: muscleView.guide, view, at };
  const made = await ask<{ name: string } | null>(request);
  if (made) muscleView.set({ name: made.name, template: null });
}

/** The kind of data of a template that is dragged out of the panel. */
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
    void placeMuscle(viewport, template, viewport.ndc(event));
  });
}
