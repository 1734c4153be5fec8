// Elements of what is built once and not redrawn: the viewport, toasts, menus. Panels are drawn with `view.ts`.

type Attrs = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;
type Child = Node | string | null | undefined | false;

/** `el('button.primary', { 'data-testid': 'x', onclick }, 'Go')`. */
export function el<K extends keyof HTMLElementTagNameMap>(
  spec: K | `${K}.${string}`,
  attrs?: Attrs | null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const [tag, ...classes] = spec.split('.');
  const element = document.createElement(tag as K);
  if (classes.length > 0) element.className = classes.join(' ');
  for (const [key, value] of Object.entries(attrs ?? {})) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
  }
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** Calls `build` only when what it depends on has changed. */
export function whenChanged<T>(build: (value: T) => void): (value: T) => void {
  let last: string | undefined;
  return (value) => {
    const now = JSON.stringify(value);
    if (now === last) return;
    last = now;
    build(value);
  };
}

/** The element an event began at, also inside a shadow tree such as the rules editor's. */
export const originOf = (event: Event): EventTarget | null => event.composedPath()[0] ?? event.target;

/** Is the user typing somewhere, so that keys are text? */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['range', 'checkbox', 'radio', 'button'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

export function svg(tag: string, attrs: Record<string, string | number>, ...children: Element[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attrs)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}
