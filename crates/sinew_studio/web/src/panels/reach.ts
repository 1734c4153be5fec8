// Reaching: targets, the weights of the examples as sliders, what the search looks for, and taking or dropping the pose.

import { run, store } from '../app';
import { mirrorExample } from '../commands/examples';
import { address } from '../net/address';
import type { ReachTarget, Search, Vec3 } from '../net/protocol';
import { ReachGesture, endReach, reach, removeTarget, withTarget } from '../reaching';
import { h, whenChanged } from '../ui/dom';
import { AXES, checkbox, iconButton, lengthField, numberField, row, selectField, slider } from '../ui/fields';
import { icon } from '../ui/icons';
import { section } from './section';

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;

export function buildReach(): HTMLElement {
  const element = h('div.reach', { 'data-testid': 'reach' });
  const targets = buildTargets();
  const weights = buildWeights();
  const settings = h('div');
  const terms = h('dl.terms', { 'data-testid': 'reach-terms' });
  const said = h('p.note', { 'data-testid': 'reach-said', role: 'status' });
  const take = button('reach-accept', 'Take pose', 'primary', () => endReach(true));
  const drop = button('reach-cancel', 'Drop', '', () => endReach(false));
  const anew = button('reach-anew', 'Search anew', '', () => reach({ anew: true }));
  anew.dataset.tip = 'Look for a better pose anywhere, not only near this one';
  const showSettings = whenChanged(() => settings.replaceChildren(searchSection(terms)));
  const live = (): void => {
    const now = store.doc?.reach ?? null;
    for (const control of [take, drop, anew]) control.disabled = now === null;
    anew.disabled ||= now?.targets.length === 0;
    said.textContent = sayReach();
    said.classList.toggle('missed', now !== null && !now.reached);
    targets.show();
    weights.show();
    terms.replaceChildren(...termRows());
  };
  store.on('reach', live);
  for (const topic of ['doc', 'prefs', 'tool', 'selection'] as const)
    store.on(topic, () => {
      showSettings([store.doc?.search, store.welcome?.search, store.options.pinOthers]);
      live();
    });
  live();
  element.append(
    h('div.actions', null, take, drop, anew),
    said,
    h('h3', null, 'Targets'),
    targets.element,
    h('h3', null, 'Weights'),
    weights.element,
    settings,
  );
  return element;
}

function button(id: string, label: string, kind: string, press: () => void): HTMLButtonElement {
  return h('button', { type: 'button', class: kind, 'data-testid': id, onclick: press }, label);
}

function sayReach(): string {
  const { doc } = store;
  if (!doc) return '';
  if (doc.examples.length === 0) return 'There are no examples to blend. Pose the body and save poses first.';
  if (!doc.reach) return 'Press a handle in the picture and drag: the body follows your examples.';
  const { reach: found } = doc;
  if (found.targets.length === 0) return 'A blend of the examples, by hand. Put targets on handles to search.';
  if (found.reached) return `Reached, in ${found.ms.toFixed(1)} ms and ${found.evaluations} evaluations.`;
  return `Out of reach: this is the nearest pose, it misses by ${percent(found.missed)} of the body.`;
}

function buildTargets(): { element: HTMLElement; show(): void } {
  const element = h('div.targets', { 'data-testid': 'reach-targets' });
  const list = (): ReachTarget[] => store.doc?.reach?.targets ?? [];
  const build = whenChanged(() => {
    element.replaceChildren(...list().map(targetRow));
    if (list().length === 0) element.append(h('p.note', null, 'None yet.'));
  });
  return {
    element,
    show: () => {
      build([list().map(({ handle, pin }) => [handle, pin]), store.prefs.units, store.main]);
      const scale = store.prefs.units === 'cm' ? 100 : 1;
      list().forEach(({ handle, position, distance }) => {
        const of = element.querySelector(`[data-handle="${CSS.escape(handle)}"]`);
        of?.querySelectorAll('input').forEach((input, k) => {
          if (document.activeElement !== input) input.value = String(Number((position[k] * scale).toFixed(scale === 1 ? 4 : 2)));
        });
        const off = of?.querySelector('.off');
        if (off) off.textContent = `${(distance * scale).toFixed(scale === 1 ? 3 : 1)} ${store.prefs.units} off`;
      });
    },
  };
}

function targetRow({ handle, position, pin }: ReachTarget): HTMLElement {
  const swatch = h('span.swatch');
  swatch.style.backgroundColor = store.handle(handle)?.color ?? '';
  const set = (axis: 0 | 1 | 2, value: number): void => {
    const now = store.doc?.reach?.targets.find((target) => target.handle === handle)?.position ?? position;
    const to: Vec3 = [...now];
    to[axis] = value;
    reach({ targets: withTarget(handle, to) });
  };
  const pinned = iconButton(`target-pin-${handle}`, 'pin', 'Must be there, whatever it costs', () =>
    reach({ targets: withTarget(handle, store.doc?.reach?.targets.find((t) => t.handle === handle)?.position ?? position, !pin) }),
  );
  pinned.setAttribute('aria-pressed', String(pin));
  return h(
    'div.target-row',
    { class: store.main === handle ? 'main' : '', 'data-handle': handle, 'data-testid': `target-${handle}` },
    h(
      'div.target-head',
      { onclick: () => store.selectMain(handle, true) },
      swatch,
      h('span.name', null, handle),
      h('span.off', { 'data-testid': `target-off-${handle}` }),
      pinned,
      iconButton(`target-remove-${handle}`, 'trash', 'Remove the target', () => removeTarget(handle)),
    ),
    h(
      'div.target-place',
      null,
      ...AXES.map(([k, axis]) =>
        lengthField({
          id: `target-${handle}-${axis.toLowerCase()}`,
          label: `${handle} ${axis}`,
          value: position[k],
          set: (value) => set(k, value),
        }),
      ),
    ),
  );
}

function buildWeights(): { element: HTMLElement; show(): void } {
  const element = h('div.weights', { 'data-testid': 'reach-weights' });
  let rows: { input: HTMLInputElement; number: HTMLInputElement }[] = [];
  let gesture: ReachGesture | null = null;
  const set = (name: string, value: number): void => {
    gesture ??= new ReachGesture();
    gesture.update({ weights: [[name, value]] }, performance.now());
  };
  const end = (): void => {
    gesture?.end();
    gesture = null;
  };
  const build = whenChanged(() => {
    const [low, high] = store.doc?.search.limits ?? [0, 1];
    rows = [];
    element.replaceChildren(
      ...(store.doc?.examples ?? []).map(({ name, thumbnail, detail }) => {
        const input = slider({
          id: `weight-${name}`,
          label: `Weight of ${name}`,
          min: low,
          max: high,
          step: 0.01,
          value: 0,
          set: (value) => set(name, value),
        });
        input.addEventListener('change', end);
        const number = numberField({
          id: `weight-number-${name}`,
          label: `Weight of ${name}`,
          value: 0,
          step: 0.05,
          digits: 2,
          set: (value) => {
            set(name, value);
            end();
          },
        });
        rows.push({ input, number });
        return h(
          'div.weight-row',
          { 'data-testid': `weight-row-${name}` },
          thumbnail === null ? icon('figure') : h('img', { src: address(thumbnail), alt: '' }),
          h('span.name', { 'data-tip': detail ? `${name}, with detail` : name }, name),
          input,
          number,
          iconButton(`mirror-${name}`, 'mirror', 'Mirror into a new example', () => mirrorExample(name)),
        );
      }),
    );
  });
  return {
    element,
    show: () => {
      build([store.doc?.examples, store.doc?.search.limits]);
      rows.forEach(({ input, number }, k) => {
        const value = store.doc?.reach?.weights[k] ?? 0;
        const [low, high] = [Number(input.min), Number(input.max)];
        // A slider in the hand is where the hand is.
        if (!input.matches(':active')) input.value = String(value);
        const share = (Math.min(high, Math.max(low, input.valueAsNumber)) - low) / Math.max(high - low, 1e-9);
        input.style.setProperty('--share', String(share));
        if (document.activeElement !== number) number.value = String(Number(value.toFixed(2)));
        input.closest('.weight-row')?.classList.toggle('used', Math.abs(value) > 0.005);
      });
    },
  };
}

function termRows(): HTMLElement[] {
  const found = store.doc?.reach;
  const meaning = (name: string): string => store.welcome?.search.terms.find((term) => term.name === name)?.meaning ?? '';
  if (!found) return [];
  const rows = found.terms.flatMap(([name, value]) => [
    h('dt', { 'data-tip': meaning(name) }, name),
    h('dd', { 'data-testid': `term-${name}` }, value.toFixed(4)),
  ]);
  return [...rows, h('dt', { 'data-tip': 'Of the blend, without what handles do beyond the examples' }, 'sum'), h('dd', { 'data-testid': 'term-sum' }, found.energy.toFixed(4))];
}

function searchSection(terms: HTMLElement): HTMLElement {
  const { doc, welcome } = store;
  if (!doc || !welcome) return section('Search');
  const { search } = doc;
  const set = async (change: Partial<Search>): Promise<void> => {
    const done = await run({ set_search: change });
    if (done !== undefined && store.doc?.reach) reach();
  };
  const choices = (values: string[]): { value: string; label: string }[] =>
    values.map((value) => ({ value, label: value.replace(/-/g, ' ') }));
  const objective = h('input', {
    type: 'text',
    value: search.objective,
    placeholder: welcome.search.objective,
    spellcheck: 'false',
    'aria-label': 'Objective',
    'data-testid': 'search-objective',
    'data-tip': welcome.search.terms.map(({ name, meaning }) => `${name}: ${meaning}`).join(' · '),
  });
  objective.addEventListener('change', () => void set({ objective: objective.value.trim() }));
  const limit = (k: 0 | 1, label: string): HTMLInputElement =>
    numberField({
      id: `search-limit-${label}`,
      label: `${label} weight`,
      value: search.limits[k],
      step: 0.1,
      set: (value) => void set({ limits: k === 0 ? [value, search.limits[1]] : [search.limits[0], value] }),
    });
  return h(
    'div.search',
    null,
    checkbox('reach-pin-others', 'Pin everything else', store.options.pinOthers, (pinOthers) => {
      store.setOptions({ pinOthers });
      if (store.doc?.reach) reach();
    }),
    checkbox('search-residual', 'Reach a little beyond the examples', search.residual, (residual) => void set({ residual })),
    section(
      'Search',
      row('Objective', objective),
      terms,
      row('Optimiser', selectField('search-optimiser', 'Optimiser', search.optimiser, choices(welcome.search.optimisers), (optimiser) => void set({ optimiser }))),
      row('Try first', selectField('search-reorder', 'Order', search.reorder, [
        { value: 'none', label: 'as they are kept' },
        { value: 'distance', label: 'the nearest' },
        { value: 'weight', label: 'the heaviest' },
      ], (reorder) => void set({ reorder }))),
      row('Weights', limit(0, 'least'), limit(1, 'greatest')),
      row('A frame', numberField({
        id: 'search-local',
        label: 'How far a weight may move in a frame; 0 for any',
        value: search.local,
        min: 0,
        step: 0.05,
        set: (local) => void set({ local }),
      })),
      checkbox('search-in-order', 'Load one after the other (thesis)', search.in_order, (in_order) => void set({ in_order })),
    ),
  );
}

