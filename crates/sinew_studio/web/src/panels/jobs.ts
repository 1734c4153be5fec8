// Long jobs: what runs, how far it is, and a way to stop it.
import { ask, store } from '../app';
import { h } from '../ui/dom';
import { iconButton } from '../ui/fields';

interface Row {
  element: HTMLElement;
  tell(title: string, share: number | null, note: string): void;
}

/** Kept as long as the job runs: a button that is made anew while it is pressed is not pressed. */
function buildRow(job: number): Row {
  const bar = h('progress', { max: 1 });
  const name = h('span.grow');
  const percent = h('span.dim');
  const cancel = iconButton(`job-cancel-${job}`, 'close', 'Stop', () => {
    const stop = store.jobs.get(job)?.stop;
    if (stop) stop();
    else void ask({ type: 'cancel', job });
  });
  const element = h(
    'div.job',
    { 'data-testid': `job-${job}` },
    h('div.job-line', null, name, percent),
    h('div.job-line', null, bar, cancel),
  );
  const tell = (title: string, share: number | null, note: string): void => {
    name.textContent = note ? `${title}, ${note}` : title;
    percent.textContent = share === null ? '' : `${Math.round(share * 100)} %`;
    bar.setAttribute('aria-label', title);
    if (share === null) bar.removeAttribute('value');
    else bar.value = share;
  };
  return { element, tell };
}

export function buildJobs(): HTMLElement {
  const list = h('div.jobs', { 'aria-live': 'polite', 'data-testid': 'jobs' });
  const rows = new Map<number, Row>();
  store.on('jobs', () => {
    for (const [job, row] of rows) {
      if (store.jobs.has(job)) continue;
      row.element.remove();
      rows.delete(job);
    }
    for (const { job, title, share, note } of store.jobs.values()) {
      const row = rows.get(job) ?? buildRow(job);
      if (!rows.has(job)) list.append(row.element);
      rows.set(job, row);
      row.tell(title, share, note ?? '');
    }
  });
  return list;
}
