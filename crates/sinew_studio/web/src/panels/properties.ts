// Properties: each part is built anew only when what it shows has changed.
import { store } from '../app';
import { h, whenChanged } from '../ui/dom';
import { documentSection } from './document';
import { handleSection } from './handle';
import { methodSection } from './method';
import { moveSection } from './move';

export function buildProperties(): HTMLElement {
  const element = h('div.properties', { 'data-testid': 'properties' });
  const slot = (build: () => HTMLElement): ((key: unknown) => void) => {
    const place = h('div');
    element.append(place);
    return whenChanged(() => place.replaceChildren(build()));
  };
  const showHandle = slot(handleSection);
  const showMove = slot(moveSection);
  const showMethod = slot(methodSection);
  const showDocument = slot(documentSection);
  const show = (): void => {
    const { doc, prefs } = store;
    showHandle([store.handle(store.main), prefs.units]);
    showMove([store.main === null, prefs.units]);
    showMethod([doc?.edit, doc?.refine, doc?.prepare_ms, store.welcome]);
    showDocument([doc?.bounds, doc?.joints, doc?.warnings, prefs.units]);
  };
  for (const topic of ['doc', 'selection', 'prefs', 'welcome'] as const) store.on(topic, show);
  show();
  return element;
}
