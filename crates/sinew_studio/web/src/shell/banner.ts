// The banner while the connection is lost.
import { socket, store } from '../app';
import { el } from '../ui/dom';

/** Shorter breaks are not reported. */
const GRACE_MS = 400;

export function buildBanner(): HTMLElement {
  const element = el(
    'div.banner',
    { role: 'alert', hidden: true, 'data-testid': 'banner' },
    el('strong', null, 'The studio is not responding.'),
    el(
      'span',
      null,
      'Your work is safe there. If the studio was closed, start `sinew` again; this page reconnects automatically.',
    ),
    el(
      'button',
      {
        type: 'button',
        'data-testid': 'reconnect',
        onclick: () => {
          if (!socket.isOpen) socket.connect();
        },
      },
      'Try now',
    ),
  );
  let timer = 0;
  store.on('link', (link) => {
    if (link === 'open') {
      clearTimeout(timer);
      timer = 0;
      element.hidden = true;
    } else if (timer === 0)
      timer = window.setTimeout(() => {
        element.hidden = false;
      }, GRACE_MS);
  });
  return element;
}
