// The pose library: examples with their pictures.
import { action, firstKeys, perform } from '../actions';
import { run, store } from '../app';
import { address } from '../net/address';
import { askText } from '../ui/dialog';
import { h, whenChanged } from '../ui/dom';
import { iconButton } from '../ui/fields';
import { icon } from '../ui/icons';

/** Pictures of poses that came without one, taken when they were first loaded. */
const taken = new Map<string, string>();

interface Example {
  name: string;
  thumbnail: string | null;
  detail: boolean;
}

function card({ name, thumbnail, detail }: Example, load: (name: string) => void): HTMLElement {
  const picture = thumbnail === null ? taken.get(name) : address(thumbnail);
  const rename = (): void =>
    askText('rename-pose', 'Rename pose', 'Name', name, (to) => {
      if (to !== name) void run({ rename_example: { name, to } });
    });
  return h(
    'div.card',
    { 'data-testid': `pose-${name}` },
    h(
      'button.card-picture',
      {
        type: 'button',
        'aria-label': `Load ${name}`,
        'data-tip': `Load ${name}`,
        'data-testid': `pose-load-${name}`,
        onclick: () => load(name),
      },
      picture === undefined ? icon('figure') : h('img', { src: picture, alt: '' }),
    ),
    h(
      'div.card-line',
      null,
      h('span.name', { ondblclick: rename, 'data-tip': 'Double click renames' }, name),
      detail && h('span.detail-mark', { 'data-tip': 'With sculpted detail', 'data-testid': `pose-detail-${name}` }, '◆'),
      iconButton(`pose-delete-${name}`, 'trash', 'Delete pose', () => void run({ remove_example: { name } })),
    ),
  );
}

export function buildPoses(capture: () => string): HTMLElement {
  const grid = h('div.cards');
  const load = async (name: string): Promise<void> => {
    if (store.doc?.display.what !== 'posed') store.setTool('drag');
    let drawn: () => void = () => {};
    const stop = store.on('frame', () => drawn());
    const loaded = await run({ load_example: { name } });
    const bare = store.doc?.examples.find((example) => example.name === name)?.thumbnail === null;
    if (loaded === undefined || !bare || taken.has(name)) return void stop();
    drawn = () => {
      stop();
      taken.set(name, capture());
      show(store.doc?.examples ?? []);
    };
    // The frame may have come before the answer.
    setTimeout(() => {
      if (!taken.has(name)) drawn();
    }, 300);
  };
  const moves = h('span.dim', { 'data-testid': 'n-moves' });
  const build = whenChanged(({ examples }: { examples: Example[]; pictures: string[] }) => {
    grid.replaceChildren(...examples.map((example) => card(example, (name) => void load(name))));
    if (examples.length === 0)
      grid.append(h('p.note', null, 'No poses kept yet. Pose the character, then save the pose here.'));
  });
  const show = (examples: Example[]): void => build({ examples, pictures: [...taken.keys()] });
  const reset = h(
    'button',
    {
      type: 'button',
      'data-testid': 'pose-reset',
      'data-tip': 'Back to rest',
      'data-keys': firstKeys(action('pose-reset')),
      onclick: () => perform('pose-reset'),
    },
    icon('reset'),
    'Reset',
  );
  store.on('opened', () => taken.clear());
  store.on('doc', (doc) => {
    show(doc.examples);
    moves.textContent = doc.n_moves === 0 ? 'at rest' : `${doc.n_moves} move${doc.n_moves === 1 ? '' : 's'}`;
    reset.disabled = doc.n_moves === 0;
  });
  return h(
    'div.poses',
    { 'data-testid': 'poses' },
    h(
      'div.actions',
      null,
      h(
        'button.primary',
        {
          type: 'button',
          'data-testid': 'pose-save',
          'data-tip': 'Keep the present pose',
          'data-keys': firstKeys(action('pose-save')),
          onclick: () => perform('pose-save'),
        },
        icon('plus'),
        'Save pose',
      ),
      reset,
      h('span.grow'),
      moves,
    ),
    grid,
  );
}
