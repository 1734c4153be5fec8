// The timeline: what is shown (rest, pose, clip), playing, scrubbing, frame rate, and the tracks of capabilities.
import { perform } from '../actions';
import { run, store } from '../app';
import { CAPABILITIES } from '../capabilities';
import { hasRules } from '../capabilities/rules/state';
import { showShape } from '../display';
import type { Player } from '../player';
import { askText } from '../ui/dialog';
import { el } from '../ui/dom';
import { fpsField, iconButton, segments, selectField, slider } from '../ui/fields';
import { openMenu } from '../ui/menu';
import { h, mounted, part, useTopics, type View } from '../ui/view';

export function buildTimeline(player: Player): HTMLElement {
  const bar = el('footer.timeline', { 'aria-label': 'Timeline', 'data-testid': 'timeline' });
  return mounted(bar, () => Timeline(player));
}

function Timeline(player: Player): View[] {
  useTopics(player, 'change');
  useTopics(store, 'doc');
  const { clip, fps, loop, playing } = player;
  const disabled = clip === undefined;
  const last = clip ? Math.round(clip.duration * fps) : 0;
  const at = Math.round(player.time * fps);
  const scrub = (frame: number): void => {
    player.pause();
    player.seek(frame / fps);
  };
  const tracks = CAPABILITIES.flatMap(({ id, track }) => (track ? [part(track, { key: id })] : []));
  const step = (id: string, icon: 'prev' | 'next', tip: string, command: string, keys: string): View =>
    iconButton(id, icon, tip, () => perform(command), { keys, disabled });
  return [
    shownChoice(player),
    clipChoice(player),
    step('step-back', 'prev', 'Previous frame', 'frame-previous', '←'),
    iconButton('play', playing ? 'pause' : 'play', 'Play or pause', () => player.toggle(), { keys: 'Space', disabled }),
    step('step-forward', 'next', 'Next frame', 'frame-next', '→'),
    iconButton('loop', 'loop', 'Repeat', () => player.setLoop(!loop), { pressed: loop, disabled }),
    h(
      'div.track',
      { key: 'track' },
      ...tracks,
      slider({
        id: 'scrub',
        label: 'Frame',
        class: 'scrub',
        value: at,
        min: 0,
        max: last,
        step: 1,
        disabled,
        set: scrub,
      }),
    ),
    h('output.frame-number', { key: 'frame', 'data-testid': 'frame-number' }, clip ? `${at} / ${last}` : '–'),
    h(
      'label.inline',
      { key: 'fps', 'data-tip': 'Frames per second' },
      fpsField({ id: 'fps', class: 'fps', value: fps, disabled, set: (to) => player.setFps(to) }),
      h('span', null, 'fps'),
    ),
  ];
}

function shownChoice(player: Player): View {
  return h(
    'div.shown',
    { key: 'shown' },
    segments(
      'display',
      'Shown',
      store.doc?.display.what ?? 'rest',
      [
        { value: 'rest', label: 'Rest' },
        { value: 'posed', label: 'Pose' },
        ...(hasRules() ? [{ value: 'ruled' as const, label: 'Rules', tip: 'The pose in which the rules hold' }] : []),
        ...(player.clip ? [{ value: 'clip' as const, label: 'Clip' }] : []),
      ],
      (choice) => {
        if (choice === 'clip') player.seek(player.time);
        else void showShape(choice);
      },
    ),
  );
}

function clipChoice(player: Player): View {
  const clips = store.doc?.clips ?? [];
  const names = clips.map(({ name }) => ({ value: name, label: name }));
  if (names.length === 0) return h('div.clip-choice', { key: 'clips' }, h('span.dim', null, 'No clips'));
  return h(
    'div.clip-choice',
    { key: 'clips' },
    selectField('clip', 'Clip', player.clip?.name ?? '', names, (name) => player.choose(name)),
    iconButton('clip-menu', 'chevron', 'Rename or delete the clip', ({ currentTarget }) =>
      openClipMenu(currentTarget as HTMLElement, player.clip?.name),
    ),
  );
}

function openClipMenu(anchor: HTMLElement, name: string | undefined): void {
  if (name === undefined) return;
  const rename = (): void =>
    askText('rename-clip', 'Rename clip', 'Name', name, (to) => void run({ rename_clip: { clip: name, to } }));
  openMenu(anchor, [
    { id: 'clip-rename', label: 'Rename clip…', run: rename },
    { id: 'clip-delete', label: 'Delete clip', run: () => void run({ remove_clip: { clip: name } }) },
  ]);
}
