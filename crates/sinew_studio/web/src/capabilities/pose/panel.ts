// The pose library: examples with their thumbnails, and moving by numbers.
import { action, firstKeys, perform } from '../../actions';
import { run, store } from '../../app';
import type { Context } from '../../capability';
import { address } from '../../net/address';
import type { Doc } from '../../net/protocol';
import { askText } from '../../ui/dialog';
import { button, iconButton, note } from '../../ui/fields';
import { counted } from '../../ui/format';
import { iconView } from '../../ui/icons';
import { h, useRedraw, useTopics, type View } from '../../ui/view';
import { capturePose } from './commands';
import { moveSection } from './move';

type Example = Doc['examples'][number];

/** Thumbnails of poses that came without one, captured when they were first loaded. */
const captured = new Map<string, string>();

export function PosePanel({ context }: { context: Context }): View {
  useTopics(store, 'doc', 'prefs');
  const redraw = useRedraw();
  const examples = store.doc?.examples ?? [];
  const n = store.doc?.n_moves ?? 0;
  const load = (name: string): void => void loadPose(context, name).then(redraw);
  return h(
    'div.properties',
    null,
    h(
      'div.poses',
      { 'data-testid': 'poses' },
      h(
        'div.actions',
        null,
        button('pose-save', 'Save pose', () => perform('pose-save'), {
          class: 'primary',
          icon: 'plus',
          tip: 'Save the current pose',
          keys: firstKeys(action('pose-save')),
        }),
        button('pose-reset', 'Reset', () => perform('pose-reset'), {
          icon: 'reset',
          tip: 'Back to rest',
          keys: firstKeys(action('pose-reset')),
          disabled: n === 0,
        }),
        h('span.grow'),
        h('span.dim', { 'data-testid': 'n-moves' }, n === 0 ? 'at rest' : counted(n, 'move')),
      ),
      h(
        'div.cards',
        null,
        ...examples.map((example) => card(example, load)),
        examples.length === 0 && note('No saved poses yet. Pose the character, then save the pose here.'),
      ),
    ),
    moveSection(),
  );
}

/** Load a pose; one without a thumbnail is captured as soon as it is drawn. */
async function loadPose(context: Context, name: string): Promise<void> {
  if (store.doc?.display.what !== 'posed') store.setTool('drag');
  const drawn = new Promise<void>((done) => {
    const stop = store.on('frame', () => {
      stop();
      done();
    });
  });
  const loaded = await run({ load_example: { name } });
  const bare = store.doc?.examples.find((example) => example.name === name)?.thumbnail === null;
  if (loaded === undefined || !bare || captured.has(name)) return;
  // The frame may have come before the answer.
  await Promise.race([drawn, new Promise((done) => setTimeout(done, 300))]);
  captured.set(name, capturePose(context));
}

export const forgetCaptured = (): void => captured.clear();

function card({ name, thumbnail, detail }: Example, load: (name: string) => void): View {
  const picture = thumbnail === null ? captured.get(name) : address(thumbnail);
  const rename = (): void =>
    askText('rename-pose', 'Rename pose', 'Name', name, (to) => {
      if (to !== name) void run({ rename_example: { name, to } });
    });
  return h(
    'div.card',
    { key: name, 'data-testid': `pose-${name}` },
    h(
      'button.card-picture',
      {
        type: 'button',
        'aria-label': `Load ${name}`,
        'data-tip': `Load ${name}`,
        'data-testid': `pose-load-${name}`,
        onclick: () => load(name),
      },
      picture === undefined ? iconView('figure') : h('img', { src: picture, alt: '' }),
    ),
    h(
      'div.card-line',
      null,
      h('span.name', { ondblclick: rename, 'data-tip': 'Double-click to rename' }, name),
      detail &&
        h('span.detail-mark', { 'data-tip': 'With sculpted detail', 'data-testid': `pose-detail-${name}` }, '◆'),
      iconButton(`pose-delete-${name}`, 'trash', 'Delete pose', () => void run({ remove_example: { name } })),
    ),
  );
}
