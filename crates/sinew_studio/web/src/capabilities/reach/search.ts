// How examples are searched: the objective, its terms, the optimiser and its limits.
import { run, store } from '../../app';
import type { Search, Welcome } from '../../net/protocol';
import { checkbox, numberField, row, selectField, textField } from '../../ui/fields';
import { section } from '../../ui/section';
import { h, type View } from '../../ui/view';
import { reach, reachOptions } from './state';

const ORDERS = [
  { value: 'none', label: 'in stored order' },
  { value: 'distance', label: 'nearest first' },
  { value: 'weight', label: 'heaviest first' },
];

/** Change the search; a pose that is being reached is searched again. */
async function set(change: Partial<Search>): Promise<void> {
  const done = await run({ set_search: change });
  if (done !== undefined && store.doc?.reach) reach();
}

export function searchSection(): View {
  const { doc, welcome } = store;
  if (!doc || !welcome) return section('Search');
  const { search } = doc;
  return h(
    'div.search',
    { key: 'search' },
    checkbox('reach-pin-others', 'Pin all other handles', reachOptions.value.pinOthers, (pinOthers) => {
      reachOptions.set({ pinOthers });
      if (store.doc?.reach) reach();
    }),
    checkbox('search-residual', 'Reach slightly beyond the examples', search.residual, (residual) => set({ residual })),
    section('Search', ...settings(search, welcome.search)),
  );
}

function settings(search: Search, known: Welcome['search']): View[] {
  const optimisers = known.optimisers.map((value) => ({ value, label: value.replace(/-/g, ' ') }));
  const limit = (k: 0 | 1, name: string): View =>
    numberField({
      id: `search-limit-${name}`,
      label: `${name} weight`,
      value: search.limits[k],
      step: 0.1,
      set: (value) => set({ limits: k === 0 ? [value, search.limits[1]] : [search.limits[0], value] }),
    });
  return [
    row(
      'Objective',
      textField({
        id: 'search-objective',
        label: 'Objective',
        value: search.objective,
        placeholder: known.objective,
        tip: known.terms.map(({ name, meaning }) => `${name}: ${meaning}`).join(' · '),
        set: (objective) => set({ objective }),
      }),
    ),
    h('dl.terms', { 'data-testid': 'reach-terms' }, ...termRows(known)),
    row(
      'Optimiser',
      selectField('search-optimiser', 'Optimiser', search.optimiser, optimisers, (optimiser) => set({ optimiser })),
    ),
    row(
      'Order',
      selectField('search-reorder', 'Order', search.reorder, ORDERS, (reorder) => set({ reorder })),
    ),
    row('Weights', limit(0, 'least'), limit(1, 'greatest')),
    row(
      'Per frame',
      numberField({
        id: 'search-local',
        label: 'Largest change of a weight per frame; 0 for no limit',
        value: search.local,
        min: 0,
        step: 0.05,
        set: (local) => set({ local }),
      }),
    ),
    checkbox('search-in-order', 'Add examples one at a time (Hansen 2006)', search.in_order, (in_order) =>
      set({ in_order }),
    ),
  ];
}

function termRows(known: Welcome['search']): View[] {
  const found = store.doc?.reach;
  if (!found) return [];
  const meaning = (name: string): string => known.terms.find((term) => term.name === name)?.meaning ?? '';
  const rows = found.terms.flatMap(([name, value]) => [
    h('dt', { 'data-tip': meaning(name) }, name),
    h('dd', { 'data-testid': `term-${name}` }, value.toFixed(4)),
  ]);
  const tip = 'Of the blend, without what handles do beyond the examples';
  return [
    ...rows,
    h('dt', { 'data-tip': tip }, 'sum'),
    h('dd', { 'data-testid': 'term-sum' }, found.energy.toFixed(4)),
  ];
}
