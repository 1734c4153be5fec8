// The tour of the first start: five steps beside the real controls, each done when the user has done it.
import { store } from './app';
import { showPanel } from './shell/workspaces';
import { el } from './ui/dom';

interface Step {
  title: string;
  text: string;
  /** Test id of what it is about. */
  at: string;
  prepare?(): void;
  /** Calls `done` when the user has done it; gives back how to stop listening. */
  watch(done: () => void): () => void;
}

const STEPS: Step[] = [
  {
    title: 'Look around',
    text: 'Drag on empty space to orbit. The wheel zooms, the right button pans.',
    at: 'viewport',
    watch: (done) =>
      store.on('camera', (byUser) => {
        if (byUser) done();
      }),
  },
  {
    title: 'Select a handle',
    text:
      'Coloured parts are handles: rigid regions that you move to deform the surface. Click a hand or an elbow, or ' +
      'its name in the list. Its secondary handles are selected, too.',
    at: 'viewport',
    prepare: () => store.setTool('drag'),
    watch: (done) =>
      store.on('selection', () => {
        if (store.main !== null) done();
      }),
  },
  {
    title: 'Pose it',
    text: 'Drag it. It turns about the dot at its joint, and the soft surface between the handles follows.',
    at: 'viewport',
    watch: (done) =>
      store.on('gesture', (kind) => {
        if (kind === 'pose') done();
      }),
  },
  {
    title: 'Save the pose',
    text:
      'Save the pose you made. Click a thumbnail to load a pose again; Ctrl Z undoes anything. The ' +
      'workspaces above lead on: Animate, Perform, Flesh, Deliver.',
    at: 'pose-save',
    prepare: () => showPanel('poses'),
    watch: (done) => {
      const count = store.doc?.examples.length ?? 0;
      return store.on('doc', (doc) => {
        if (doc.examples.length > count) done();
      });
    },
  },
  {
    title: 'Export it',
    text:
      'Open the export dialog: GLB plays in Blender, three.js and game engines. To start with your own ' +
      'mesh, drop it anywhere on this page.',
    at: 'export-button',
    watch: (done) => {
      const seen = new MutationObserver(() => {
        if (document.querySelector('[data-testid="dialog-export"]')) done();
      });
      seen.observe(document.body, { childList: true });
      return () => seen.disconnect();
    },
  },
];

/** Time to see that a step is done. */
const PAUSE_MS = 700;

export class Tour {
  private readonly spot = el('div.tour-spot', { 'aria-hidden': 'true', hidden: true });
  private readonly card = el('div.tour-card', {
    role: 'dialog',
    'aria-label': 'Tour',
    'data-testid': 'tour',
    hidden: true,
  });
  private at = -1;
  private unwatch: () => void = () => {};

  constructor() {
    document.body.append(this.spot, this.card);
    addEventListener('resize', () => this.place());
  }

  start(): void {
    this.show(0);
  }

  startOnce(): void {
    if (!store.prefs.tourDone && this.at < 0) this.start();
  }

  private show(at: number): void {
    this.unwatch();
    this.at = at;
    const step = STEPS[at];
    if (!step) return this.finish();
    step.prepare?.();
    const dots = STEPS.map((_, i) => el('span', { class: i < at ? 'done' : i === at ? 'now' : '' }));
    this.card.replaceChildren(
      el('div.tour-dots', { 'aria-label': `Step ${at + 1} of ${STEPS.length}` }, ...dots),
      el('h3', { 'data-testid': 'tour-title' }, step.title),
      el('p', null, step.text),
      el(
        'div.row',
        null,
        el(
          'button.ghost',
          { type: 'button', 'data-testid': 'tour-skip', onclick: () => this.finish() },
          'Skip the tour',
        ),
        el('span.grow'),
        el(
          'button',
          { type: 'button', 'data-testid': 'tour-next', onclick: () => this.show(at + 1) },
          at + 1 === STEPS.length ? 'Finish' : 'Next',
        ),
      ),
    );
    this.card.hidden = this.spot.hidden = false;
    let done = false;
    this.unwatch = step.watch(() => {
      if (done) return;
      done = true;
      this.card.classList.add('done');
      setTimeout(() => {
        this.card.classList.remove('done');
        if (this.at === at) this.show(at + 1);
      }, PAUSE_MS);
    });
    this.place();
  }

  private finish(): void {
    this.unwatch();
    this.unwatch = () => {};
    this.at = -1;
    this.card.hidden = this.spot.hidden = true;
    store.setPrefs({ tourDone: true });
  }

  /** The spot around the control, the card beside it where there is room. */
  private place(): void {
    const target = document.querySelector(`[data-testid="${STEPS[this.at]?.at}"]`);
    if (this.card.hidden || !target) return;
    const box = target.getBoundingClientRect();
    const card = this.card.getBoundingClientRect();
    const isLarge = box.width > innerWidth / 3;
    this.spot.classList.toggle('large', isLarge);
    const margin = isLarge ? -3 : 4;
    Object.assign(this.spot.style, {
      left: `${box.left - margin}px`,
      top: `${box.top - margin}px`,
      width: `${box.width + 2 * margin}px`,
      height: `${box.height + 2 * margin}px`,
    });
    const left = isLarge
      ? box.left + 16
      : Math.min(innerWidth - card.width - 12, Math.max(12, box.left + box.width / 2 - card.width / 2));
    const below = box.bottom + 12 + card.height < innerHeight;
    const top = isLarge ? box.bottom - card.height - 16 : below ? box.bottom + 12 : box.top - card.height - 12;
    this.card.style.left = `${left}px`;
    this.card.style.top = `${Math.max(8, top)}px`;
  }
}
