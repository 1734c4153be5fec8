// What the program is made of, and under which licences: the same list as `sinew licenses`.
import { useLayoutEffect, useState } from 'preact/hooks';
import { address } from '../net/address';
import { openDialog } from '../ui/dialog';
import { h, part, type View } from '../ui/view';

interface Package {
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
  packages: Package[];
}

/** Texts are drawn when they are opened: all together they are long. */
function PackageRow({ item }: { item: Package }): View {
  const [isOpen, setOpen] = useState(false);
  return h(
    'details',
    {
      'data-testid': `license-${item.name}`,
      ontoggle: ({ currentTarget }: Event) => setOpen((currentTarget as HTMLDetailsElement).open),
    },
    h('summary', null, h('span', null, `${item.name} ${item.version}`), h('span.license', null, item.license)),
    item.note && h('p', null, item.note),
    item.source && h('p.path', null, item.source),
    isOpen && h('pre', null, item.text),
  );
}

function LicenseList(): View {
  const [list, setList] = useState<Licenses | 'failed' | null>(null);
  useLayoutEffect(() => {
    void fetch(address('/licenses.json'))
      .then((answer) => (answer.ok ? answer.json() : 'failed'))
      .catch(() => 'failed')
      .then(setList);
  }, []);
  if (list === null) return h('div.licenses', { 'data-testid': 'licenses' }, h('p', null, 'Loading…'));
  if (list === 'failed')
    return h(
      'div.licenses',
      null,
      h('p', null, 'The studio is not responding; `sinew licenses` prints the list as well.'),
    );
  const { version, license, packages } = list;
  // First those that were changed, which their licence asks to be stated.
  const sorted = [...packages.filter(({ note }) => note), ...packages.filter(({ note }) => !note)];
  return h(
    'div.licenses',
    { 'data-testid': 'licenses' },
    h('p', null, `Sinew ${version} is licensed ${license}. It contains ${packages.length} packages:`),
    ...sorted.map((item) => part(PackageRow, { key: `${item.kind} ${item.name} ${item.version}`, item })),
  );
}

export function openLicenses(): void {
  openDialog('licenses', 'Licences', () => part(LicenseList, {}));
}
