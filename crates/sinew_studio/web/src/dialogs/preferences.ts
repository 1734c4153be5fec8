// Preferences of this browser; each takes effect at once.
import { perform } from '../actions';
import { store } from '../app';
import type { Prefs } from '../prefs';
import { openDialog } from '../ui/dialog';
import { h } from '../ui/dom';
import { row, segments, slider } from '../ui/fields';

export function openPreferences(): void {
  const body = h('div.stack');
  openDialog(
    'preferences',
    'Preferences',
    [body],
    [
      { label: 'Tour again', run: () => perform('tour') },
      { label: 'Done', primary: true },
    ],
  );
  const set = (change: Partial<Prefs>): void => {
    store.setPrefs(change);
    build();
  };
  const build = (): void => {
    const { prefs } = store;
    body.replaceChildren(
      row(
        'Theme',
        segments(
          'pref-theme',
          'Theme',
          prefs.theme,
          [
            { value: 'dark', label: 'Dark' },
            { value: 'light', label: 'Light' },
            { value: 'system', label: 'As the system' },
          ],
          (theme) => set({ theme }),
        ),
      ),
      row(
        'Keys',
        segments(
          'pref-keys',
          'Keys',
          prefs.keys,
          [
            { value: 'blender', label: 'Blender' },
            { value: 'industry', label: 'Industry' },
          ],
          (keys) => set({ keys }),
        ),
      ),
      row(
        'Scrolling',
        segments(
          'pref-navigation',
          'Scrolling',
          prefs.navigation,
          [
            { value: 'mouse', label: 'Zooms (mouse)' },
            { value: 'trackpad', label: 'Orbits (trackpad)' },
          ],
          (navigation) => set({ navigation }),
        ),
      ),
      row(
        'Units',
        segments(
          'pref-units',
          'Units',
          prefs.units,
          [
            { value: 'm', label: 'Metres' },
            { value: 'cm', label: 'Centimetres' },
          ],
          (units) => set({ units }),
        ),
      ),
      row(
        'Text size',
        segments(
          'pref-scale',
          'Text size',
          String(prefs.uiScale),
          [
            { value: '0.9', label: 'Small' },
            { value: '1', label: 'Normal' },
            { value: '1.2', label: 'Large' },
            { value: '1.5', label: 'Huge' },
          ],
          (uiScale) => set({ uiScale: Number(uiScale) }),
        ),
      ),
      row(
        'Brush at start',
        slider({
          id: 'pref-brush',
          label: 'Brush size at start',
          value: prefs.brushPx,
          min: 4,
          max: 150,
          step: 1,
          set: (brushPx) => {
            store.setPrefs({ brushPx });
            store.setOptions({ brushPx });
          },
        }),
      ),
      row(
        'Weight at start',
        slider({
          id: 'pref-weight',
          label: 'Weight at start',
          value: prefs.brushWeight,
          min: 0.05,
          max: 1,
          step: 0.05,
          set: (brushWeight) => {
            store.setPrefs({ brushWeight });
            store.setOptions({ weight: brushWeight });
          },
        }),
      ),
    );
  };
  build();
}

/** Theme and size on the root element, from which every style follows. */
export function applyPrefs(prefs: Prefs): void {
  const root = document.documentElement;
  const light =
    prefs.theme === 'light' || (prefs.theme === 'system' && matchMedia('(prefers-color-scheme: light)').matches);
  root.dataset.theme = light ? 'light' : 'dark';
  root.style.setProperty('--ui-scale', String(prefs.uiScale));
}
