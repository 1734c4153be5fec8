// Long jobs: what runs, how far it is, and a way to stop it.
import { ask, store } from '../app';
import { h } from '../ui/dom';
import { iconButton } from '../ui/fields';

export function buildJobs(): HTMLElement {
  const element = h('div.jobs', { 'aria-live': 'polite', 'data-testid': 'jobs' });
  store.on('jobs', () => {
    element.replaceChildren(
      ...[...store.jobs.values()].map(({ job, title, share, stop }) => {
        const bar = h('progress', { max: 1, value: share ?? null, 'aria-label': title });
        return h(
          'div.job',
          { 'data-testid': `job-${job}` },
          h(
            'div.job-line',
            null,
            h('span.grow', null, title),
            h('span.dim', null, share === null ? '' : `${Math.round(share * 100)} %`),
          ),
          h(
            'div.job-line',
            null,
            bar,
            iconButton(`job-cancel-${job}`, 'close', 'Stop', () => {
              if (stop) stop();
              else void ask({ type: 'cancel', job });
            }),
          ),
        );
      }),
    );
  });
  return element;
}
