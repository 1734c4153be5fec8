// Long jobs: what runs, how far it is, and a button to stop it.
import { ask, store } from '../app';
import type { Job } from '../net/protocol';
import { el } from '../ui/dom';
import { iconButton } from '../ui/fields';
import { h, mounted, useTopics, type View } from '../ui/view';

export function buildJobs(): HTMLElement {
  return mounted(el('div.jobs', { 'aria-live': 'polite', 'data-testid': 'jobs' }), Jobs);
}

function Jobs(): View[] {
  useTopics(store, 'jobs');
  return [...store.jobs.values()].map(jobRow);
}

function jobRow({ job, title, share, note }: Job): View {
  const stop = (): void => {
    const own = store.jobs.get(job)?.stop;
    if (own) own();
    else void ask({ type: 'cancel', job });
  };
  return h(
    'div.job',
    { key: job, 'data-testid': `job-${job}` },
    h(
      'div.job-line',
      null,
      h('span.grow', null, note ? `${title}, ${note}` : title),
      h('span.dim', null, share === null ? '' : `${Math.round(share * 100)} %`),
    ),
    h(
      'div.job-line',
      null,
      h('progress', { max: 1, value: share ?? undefined, 'aria-label': title }),
      iconButton(`job-cancel-${job}`, 'close', 'Stop', stop),
    ),
  );
}
