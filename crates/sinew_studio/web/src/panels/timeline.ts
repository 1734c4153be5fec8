// The timeline: what is shown (rest, pose, clip), playing, scrubbing, frame rate.
import { perform } from '../actions';
import { run, store } from '../app';
import { showShape } from '../display';
import type { Player } from '../player';
import { askText } from '../ui/dialog';
import { h, whenChanged } from '../ui/dom';
import { iconButton, segments, selectField } from '../ui/fields';
import { icon } from '../ui/icons';
import { openMenu } from '../ui/menu';
import { buildContacts } from './contacts';
import { hasRules } from '../ruling';

export function buildTimeline(player: Player): HTMLElement {
  const shown = h('div.shown');
  const clipSlot = h('div.clip-choice');
  const scrub = h('input.scrub', {
    type: 'range',
    min: 0,
    max: 0,
    step: 1,
    value: 0,
    'aria-label': 'Frame',
    'data-testid': 'scrub',
  });
  scrub.addEventListener('input', () => {
    player.pause();
    player.seek(scrub.valueAsNumber / player.fps);
  });
  const play = iconButton('play', 'play', 'Play or pause', () => player.toggle(), 'Space');
  const loop = iconButton('loop', 'loop', 'Repeat', () => {
    player.loop = !player.loop;
    loop.setAttribute('aria-pressed', String(player.loop));
  });
  loop.setAttribute('aria-pressed', 'true');
  const fps = h('input.fps', {
    type: 'number',
    min: 1,
    max: 240,
    step: 1,
    value: 30,
    'aria-label': 'Frames per second',
    'data-testid': 'fps',
    'data-tip': 'Frames per second',
  });
  fps.addEventListener('change', () => {
    if (fps.valueAsNumber >= 1) player.setFps(Math.min(240, fps.valueAsNumber));
  });
  const frame = h('output.frame-number', { 'data-testid': 'frame-number' });
  const previous = iconButton('step-back', 'prev', 'Previous frame', () => perform('frame-previous'), '←');
  const next = iconButton('step-forward', 'next', 'Next frame', () => perform('frame-next'), '→');

  const showShown = whenChanged(() => {
    const what = store.doc?.display.what ?? 'rest';
    shown.replaceChildren(
      segments(
        'display',
        'Shown',
        what,
        [
          { value: 'rest', label: 'Rest' },
          { value: 'posed', label: 'Pose' },
          ...(hasRules() ? [{ value: 'ruled' as const, label: 'Rules', tip: 'The pose at which the rules hold' }] : []),
          ...(player.clip ? [{ value: 'clip' as const, label: 'Clip' }] : []),
        ],
        (choice) => {
          if (choice === 'clip') player.seek(player.time);
          else void showShape(choice);
        },
      ),
    );
  });
  const showClips = whenChanged(() => {
    const clips = store.doc?.clips ?? [];
    const more = iconButton('clip-menu', 'chevron', 'Rename or delete the clip', () => {
      const name = player.clip?.name;
      if (name === undefined) return;
      openMenu(more, [
        {
          id: 'clip-rename',
          label: 'Rename clip…',
          run: () =>
            askText('rename-clip', 'Rename clip', 'Name', name, (to) => void run({ rename_clip: { clip: name, to } })),
        },
        { id: 'clip-delete', label: 'Delete clip', run: () => void run({ remove_clip: { clip: name } }) },
      ]);
    });
    clipSlot.replaceChildren(
      ...(clips.length === 0
        ? [h('span.dim', null, 'No clips')]
        : [
            selectField(
              'clip',
              'Clip',
              player.clip?.name ?? '',
              clips.map(({ name }) => ({ value: name, label: name })),
              (name) => player.choose(name),
            ),
            more,
          ]),
    );
  });
  // An icon that is exchanged while the button is pressed would swallow the click.
  const showPlaying = whenChanged((playing: boolean) => play.replaceChildren(icon(playing ? 'pause' : 'play')));
  const show = (): void => {
    const { clip } = player;
    showShown([store.doc?.display.what, clip !== undefined, hasRules()]);
    showClips([store.doc?.clips, clip?.name]);
    const last = clip ? Math.round(clip.duration * player.fps) : 0;
    const at = Math.round(player.time * player.fps);
    scrub.max = String(last);
    scrub.value = String(at);
    scrub.style.setProperty('--share', String(last > 0 ? at / last : 0));
    for (const control of [scrub, play, previous, next, loop, fps]) control.disabled = clip === undefined;
    showPlaying(player.playing);
    if (document.activeElement !== fps) fps.value = String(player.fps);
    frame.textContent = clip ? `${at} / ${last}` : '–';
  };
  player.on('change', show);
  show();
  return h(
    'footer.timeline',
    { 'aria-label': 'Timeline', 'data-testid': 'timeline' },
    shown,
    clipSlot,
    previous,
    play,
    next,
    loop,
    h('div.track', null, buildContacts(player), scrub),
    frame,
    h('label.inline', null, fps, h('span', null, 'fps')),
  );
}
