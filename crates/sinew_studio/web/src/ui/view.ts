// Drawing panels: functions of the state whose result is compared with what is there, so that a control that is
// pressed, focused or dragged stays in place while the state streams in.
import {
  type Attributes,
  type ComponentChild,
  type ComponentChildren,
  createElement,
  render,
  type VNode,
} from 'preact';
import { useLayoutEffect, useReducer } from 'preact/hooks';
import type { Emitter } from '../emitter';

export type View = VNode;
export type Views = ComponentChildren;
export type Attrs = Attributes & Record<string, unknown>;

/** `h('button.primary', { 'data-testid': 'x', onclick }, 'Go')`. */
export function h(spec: string, attrs?: Attrs | null, ...children: ComponentChild[]): View {
  const [tag, ...classes] = spec.split('.');
  const given = attrs?.class;
  const all = typeof given === 'string' && given !== '' ? [...classes, given] : classes;
  return createElement(tag, { ...attrs, ...(all.length > 0 && { class: all.join(' ') }) }, ...children) as View;
}

/** A part with state or subscriptions of its own. */
export function part<P extends object>(component: (props: P) => Views, props: P & Attributes): View {
  return createElement(component as (props: P) => VNode, props) as View;
}

/** Draw the component again now. */
export function useRedraw(): () => void {
  return useReducer((n: number) => n + 1, 0)[1] as () => void;
}

/** Draw the component again whenever one of these topics is emitted. */
export function useTopics<Events>(emitter: Emitter<Events>, ...topics: (keyof Events)[]): void {
  const redraw = useRedraw();
  useLayoutEffect(() => {
    const stops = topics.map((topic) => emitter.on(topic, redraw));
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
}

/** An element of the page with a view inside that draws itself. */
export function mounted<T extends HTMLElement>(element: T, component: () => Views): T {
  render(part(component, {}), element);
  return element;
}
