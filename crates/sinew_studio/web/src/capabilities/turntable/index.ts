// A clip that turns the character once, to see it from all sides.
import { run, store } from '../../app';
import type { Capability, Context } from '../../capability';
import { freeCopy } from '../../names';
import type { TurntableSettings } from '../../net/protocol';
import { playNew } from '../../player';
import { button, note, numberField, row } from '../../ui/fields';
import { section } from '../../ui/section';
import { useTopics, type View } from '../../ui/view';

/** What the user chose; everything else is as the server has it. */
const chosen: Partial<TurntableSettings> = {};

function TurntablePanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc', 'panel');
  const { doc, welcome } = store;
  if (!doc || !welcome) return section('Turntable');
  const { clip, seconds } = { ...welcome.turntable_defaults, ...chosen };
  const set = (value: number): void => {
    chosen.seconds = value;
    store.emit('panel', 'turntable');
  };
  const add = async (): Promise<void> => {
    const name = freeCopy(doc.clips, clip);
    if ((await run({ turntable: { settings: { clip: name, seconds } } })) !== undefined) playNew(player, name);
  };
  return section(
    'Turntable',
    note('Adds a clip that turns the character once about its vertical axis.'),
    row(
      'Seconds',
      numberField({
        id: 'turntable-seconds',
        label: 'Seconds per turn',
        value: seconds,
        min: 0.1,
        max: 3600,
        step: 0.5,
        set,
      }),
    ),
    button('turntable-add', 'Add and play', () => void add(), { class: 'primary' }),
  );
}

export const turntable: Capability = {
  id: 'turntable',
  panels: [{ id: 'turntable', title: 'Turntable', icon: 'reset', workspace: 'deliver', view: TurntablePanel }],
};
