// What the program is made of, and under which licences: the same list as `sinew licenses`.
import { address } from '../net/address';
import { openDialog } from '../ui/dialog';
import { h } from '../ui/dom';

interface Part {
  kind: string;
  name: string;
  version: string;
  license: string;
  source: string | null;
  note: string | null;
  text: string;
}

interface Licenses {
  version: string;
  license: string;
  packages: Part[];
}

/** Texts are put in when somebody opens them: all together they are long. */
function row(part: Part): HTMLElement {
  const row = h(
    'details',
    { 'data-testid': `license-${part.name}` },
    h('summary', null, h('span', null, `${part.name} ${part.version}`), h('span.license', null, part.license)),
    part.note && h('p', null, part.note),
    part.source && h('p.path', null, part.source),
  );
  row.addEventListener('toggle', () => row.append(h('pre', null, part.text)), { once: true });
  return row;
}

async function load(list: HTMLElement): Promise<void> {
  const answer = await fetch(address('/licenses.json')).catch(() => null);
  if (!answer?.ok) {
    list.replaceChildren(h('p', null, 'The studio does not answer; `sinew licenses` prints the list as well.'));
    return;
  }
  const { version, license, packages } = (await answer.json()) as Licenses;
  list.replaceChildren(
    h('p', null, `Sinew ${version} is licensed ${license}. It is made of ${packages.length} parts:`),
    // First what was changed, which the licence asks to be said.
    ...packages.filter(({ note }) => note).map(row),
    ...packages.filter(({ note }) => !note).map(row),
  );
}

export function openLicenses(): void {
  const list = h('div.licenses', { 'data-testid': 'licenses' }, h('p', null, 'Loading…'));
  openDialog('licenses', 'Licences', [list]);
  void load(list);
}
