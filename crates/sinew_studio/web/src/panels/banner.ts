// The banner over a lost connection: what happened, and that it keeps trying.
import { socket, store } from '../app';
import { h } from '../ui/dom';

/** A break shorter than this is not worth a word. */
const GRACE_MS = 400;

export function buildBanner(): HTMLElement {
  const element = h(
    'div.banner',
    { role: 'alert', hidden: true, 'data-testid': 'banner' },
    h('strong', null, 'The studio does not answer.'),
    h('span', null, 'Your work is kept there. If it was closed, start `sinew` again; this page reconnects by itself.'),
    h(
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
