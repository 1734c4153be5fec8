// What a person prefers, kept in this browser.
import type { Network } from './pose/messages';

export interface Prefs {
  theme: 'dark' | 'light' | 'system';
  keys: 'blender' | 'industry';
  navigation: 'mouse' | 'trackpad';
  units: 'm' | 'cm';
  uiScale: number;
  brushPx: number;
  brushWeight: number;
  tourDone: boolean;
  lookOf: string;
  tracker: Network;
}

const KEY = 'sinew.prefs';

const DEFAULTS: Prefs = {
  theme: 'dark',
  keys: 'blender',
  navigation: 'mouse',
  units: 'm',
  uiScale: 1,
  brushPx: 28,
  brushWeight: 1,
  tourDone: false,
  lookOf: 'handles',
  tracker: 'full',
};

/** Preferences of another version keep what still has its type. */
export function loadPrefs(): Prefs {
  const prefs: Prefs = { ...DEFAULTS };
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Record<string, unknown>;
    for (const key of Object.keys(prefs) as (keyof Prefs)[]) {
      if (typeof stored[key] === typeof prefs[key]) Object.assign(prefs, { [key]: stored[key] });
    }
  } catch {
    // A page without storage starts with the defaults each time.
  }
  return prefs;
}

export function savePrefs(prefs: Prefs): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // See above.
  }
}
