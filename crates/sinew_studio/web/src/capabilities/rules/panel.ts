// The rules panel: the text, its faults, how well each line holds, and the markers and planes around the skeleton.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { run, store } from '../../app';
import type { Context } from '../../capability';
import type { Player } from '../../player';
import { button, iconButton, note, selectField } from '../../ui/fields';
import { section } from '../../ui/section';
import { addSkeletonRow, hasSkeleton } from '../../ui/skeleton';
import { h, part, useTopics, type View } from '../../ui/view';
import { reportView } from './report';
import { change, RULE_TEMPLATES, rules, ruleWriter } from './state';
import { ruleText } from './text';
import { thingsSection } from './things';

/** Values of the start list that are no names. */
const [STORED, NOW] = [' stored', ' now'];

export function RulesPanel({ context: { player } }: { context: Context }): View {
  useTopics(store, 'doc', 'prefs', 'welcome');
  useTopics(ruleWriter, 'change');
  useTopics(player, 'change');
  if (!hasSkeleton())
    return h(
      'div.properties.rules',
      { 'data-testid': 'rules' },
      note('Rules need a skeleton, and this character has none.', 'rules-empty'),
      addSkeletonRow('rules-add-skeleton'),
    );
  ruleText.show();
  return h(
    'div.properties.rules',
    { 'data-testid': 'rules' },
    h(
      'div.rules-body',
      null,
      head(player),
      part(EditorSlot, { key: 'editor' }),
      h('div.rules-report', { 'data-testid': 'rules-report', role: 'status' }, ...reportView(ruleText.editor)),
      writingSection(),
      thingsSection(),
      saveSection(player),
    ),
  );
}

/** Where the editor is while the panel is open; it lives on while it is closed. */
function EditorSlot(): View {
  const slot = useRef<HTMLElement>(null);
  useLayoutEffect(() => slot.current?.append(ruleText.editor.element), []);
  return h('div.code-slot', { ref: slot });
}

function head(player: Player): View {
  const { start } = rules();
  const clip = player.clip?.name;
  const choices = [{ value: '', label: 'rest' }];
  if (start) choices.push({ value: STORED, label: `${start.clip} at ${start.time.toFixed(2)} s` });
  if (clip !== undefined) choices.push({ value: NOW, label: `${clip}, this frame` });
  const choose = (value: string): unknown => {
    if (value === STORED) return undefined;
    return change({ start: { start: value === '' || clip === undefined ? null : { clip, time: player.time } } });
  };
  return h(
    'div.rules-head',
    null,
    h(
      'label.inline',
      { 'data-tip': 'The pose that solving starts from and stays close to' },
      h('span', null, 'Start'),
      selectField('rules-start', 'Start', start ? STORED : '', choices, choose),
    ),
    h('span.grow'),
    button('rules-format', 'Format', () => void ruleText.format(), { tip: 'Format the text' }),
  );
}

function writingSection(): View {
  const { template } = ruleWriter;
  const choices = [
    { value: '', label: 'Choose a verb…' },
    ...RULE_TEMPLATES.map(({ id, label }) => ({ value: id, label })),
  ];
  return section(
    'Write by clicking',
    h(
      'div.write-row',
      null,
      selectField('write-verb', 'Verb', template?.id ?? '', choices, (id) => ruleWriter.begin(id || null)),
      template && iconButton('write-stop', 'close', 'Stop writing (Esc)', () => ruleWriter.begin(null)),
    ),
    template &&
      h(
        'p.note',
        { 'data-testid': 'write-prompt' },
        ...ruleWriter.names.map((name) => h('span.chip', null, name)),
        ` ${ruleWriter.prompt()}`,
      ),
  );
}

/** Name of the clip that the pose is saved as. */
let clipName = 'pose';

function saveSection(player: Player): View {
  const save = async (): Promise<void> => {
    const clip = clipName.trim() || 'pose';
    if ((await run({ keep_pose: { clip } })) !== undefined) player.choose(clip, false);
  };
  return section(
    'Save the pose',
    h(
      'div.write-row',
      null,
      h('input', {
        type: 'text',
        defaultValue: clipName,
        'aria-label': 'Name of the pose',
        'data-testid': 'keep-name',
        oninput: ({ currentTarget }: Event) => {
          clipName = (currentTarget as HTMLInputElement).value;
        },
      }),
      button('keep-pose', 'Save as clip', () => void save(), {
        class: 'primary',
        tip: 'As a clip of one frame, which is exported with the character',
      }),
    ),
  );
}
