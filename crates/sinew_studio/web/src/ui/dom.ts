// Building elements without a framework.

type Attrs = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;
type Child = Node | string | null | undefined | false;

/** `h('button.primary', {'data-testid': 'x', onclick}, 'Go')`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  spec: K | `${K}.${string}`,
  attrs?: Attrs | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = spec.split('.');
  const el = document.createElement(tag as K);
  if (classes.length > 0) el.className = classes.join(' ');
  setAttrs(el, attrs ?? {});
  el.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return el;
}

export function setAttrs(el: HTMLElement, attrs: Attrs): void {
  for (const [key, value] of Object.entries(attrs)) {
    if (typeof value === 'function') el.addEventListener(key.slice(2), value as EventListener);
    else if (value === true) el.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) el.setAttribute(key, String(value));
  }
}

export function svg(tag: string, attrs: Record<string, string | number>, ...children: Element[]): SVGElement {
  const el = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attrs)) el.setAttribute(key, String(value));
  el.append(...children);
  return el;
}

/**
 * Parts of the page that are built when the pressed button or slider is let go: a button that is replaced meanwhile is not
 * clicked, and a slider slips out of the hand.
 */
const waiting = new Map<unknown, () => void>();
let isPressed = false;

addEventListener(
  'pointerdown',
  ({ target }) => {
    isPressed = target instanceof Element && target.closest('button, label, summary, input[type=range]') !== null;
  },
  true,
);
for (const type of ['pointerup', 'pointercancel', 'blur']) {
  // The click comes after the release, and before this.
  addEventListener(type, () => setTimeout(letGo), true);
}

function letGo(): void {
  isPressed = false;
  const builds = [...waiting.values()];
  waiting.clear();
  for (const build of builds) build();
}

/** Calls `build` only when what it depends on has changed, so that typing and focus survive updates. */
export function whenChanged<T>(build: (value: T) => void): (value: T) => void {
  let last: string | undefined;
  return (value) => {
    const now = JSON.stringify(value);
    if (now === last) return;
    last = now;
    if (isPressed) waiting.set(build, () => build(value));
    else build(value);
  };
}

export function formatBytes(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(0)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(2)} GB`;
}

export const formatCount = (n: number): string => n.toLocaleString('en-US');

/** Is the user typing somewhere, so that keys are text? */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['range', 'checkbox', 'radio', 'button'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}
