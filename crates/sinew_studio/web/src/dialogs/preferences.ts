// Preferences of this browser; each takes effect at once.
import { perform } from '../actions';
import { store } from '../app';
import { handleOptions } from '../capabilities/handles/state';
import type { Prefs } from '../prefs';
import { openDialog } from '../ui/dialog';
import { row, type Segment, segments, slider } from '../ui/fields';
import { h, part, useTopics, type View } from '../ui/view';

export function openPreferences(): void {
  openDialog('preferences', 'Preferences', () => part(Preferences, {}), [
    { label: 'Restart tour', run: () => perform('tour') },
    { label: 'Done', primary: true },
  ]);
}

const choice = <T extends string>(
  id: string,
  label: string,
  value: T,
  choices: Segment<T>[],
  set: (value: T) => Partial<Prefs>,
): View =>
  row(
    label,
    segments(`pref-${id}`, label, value, choices, (to) => store.setPrefs(set(to))),
  );

function Preferences(): View {
  useTopics(store, 'prefs');
  const { prefs } = store;
  return h(
    'div.stack',
    null,
    choice(
      'theme',
      'Theme',
      prefs.theme,
      [
        { value: 'dark', label: 'Dark' },
        { value: 'light', label: 'Light' },
        { value: 'system', label: 'System' },
      ],
      (theme) => ({ theme }),
    ),
    choice(
      'keys',
      'Keys',
      prefs.keys,
      [
        { value: 'blender', label: 'Blender' },
        { value: 'industry', label: 'Industry' },
      ],
      (keys) => ({ keys }),
    ),
    choice(
      'navigation',
      'Scrolling',
      prefs.navigation,
      [
        { value: 'mouse', label: 'Zooms (mouse)' },
        { value: 'trackpad', label: 'Orbits (trackpad)' },
      ],
      (navigation) => ({ navigation }),
    ),
    choice(
      'units',
      'Units',
      prefs.units,
      [
        { value: 'm', label: 'Metres' },
        { value: 'cm', label: 'Centimetres' },
      ],
      (units) => ({ units }),
    ),
    choice(
      'scale',
      'Text size',
      String(prefs.uiScale),
      [
        { value: '0.9', label: 'Small' },
        { value: '1', label: 'Normal' },
        { value: '1.2', label: 'Large' },
        { value: '1.5', label: 'Huge' },
      ],
      (uiScale) => ({ uiScale: Number(uiScale) }),
    ),
    ...brushRows(prefs),
  );
}

function brushRows({ brushPx, brushWeight }: Prefs): View[] {
  const setSize = (px: number): void => {
    store.setPrefs({ brushPx: px });
    store.setOptions({ brushPx: px });
  };
  const setWeight = (weight: number): void => {
    store.setPrefs({ brushWeight: weight });
    handleOptions.set({ weight });
  };
  return [
    row(
      'Brush at start',
      slider({
        id: 'pref-brush',
        label: 'Brush size at start',
        value: brushPx,
        min: 4,
        max: 150,
        step: 1,
        set: setSize,
      }),
    ),
    row(
      'Weight at start',
      slider({
        id: 'pref-weight',
        label: 'Weight at start',
        value: brushWeight,
        min: 0.05,
        max: 1,
        step: 0.05,
        set: setWeight,
      }),
    ),
  ];
}

/** Theme and size on the root element, from which every style follows. */
export function applyPrefs(prefs: Prefs): void {
  const root = document.documentElement;
  const light =
    prefs.theme === 'light' || (prefs.theme === 'system' && matchMedia('(prefers-color-scheme: light)').matches);
  root.dataset.theme = light ? 'light' : 'dark';
  root.style.setProperty('--ui-scale', String(prefs.uiScale));
}
