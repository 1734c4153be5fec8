// Colours of the token file for what is not drawn by style sheets, so that themes are in one place.
import { Color } from 'three';

export function tokenText(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888';
}

export function token(name: string): Color {
  return new Color(tokenText(name));
}
