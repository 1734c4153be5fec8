// The actor beside the character: a figure of 20 joints under the same camera, and the camera's picture.
import { Vector3 } from 'three';
import { store } from '../../app';
import type { Vec3 } from '../../net/protocol';
import { el } from '../../ui/dom';
import { tokenText } from '../../view/token';
import type { Viewport } from '../../view/viewport';
import { puppetStage } from './state';

/** The joint that each joint hangs from. */
const PARENT = [0, 0, 1, 2, 2, 4, 5, 6, 2, 8, 9, 10, 0, 12, 13, 14, 0, 16, 17, 18];
const HEAD = 3;
/** Metres that the view shows at least, up and across: arms may be stretched out. */
const SPAN = [2.1, 2.5];
/** Trunk of an adult, in metres: bodies of other sizes and units are shown as large. */
const TRUNK = 0.5;

const isThere = (p: Vec3 | [null, null, null]): p is Vec3 => p[0] !== null;

export function buildActorView(viewport: Viewport): HTMLElement {
  const canvas = el('canvas.actor', { 'aria-label': 'Actor', 'data-testid': 'actor' });
  const note = el('p.actor-note', { 'data-testid': 'actor-note' });
  const count = el('div.count-down', { 'aria-live': 'assertive', 'data-testid': 'count-down' });
  const picture = el('div.camera-picture', { 'data-testid': 'camera-picture' }, puppetStage.camera.video);
  const title = el('span.actor-title');
  const element = el(
    'section.actor-view',
    { hidden: true, 'data-testid': 'actor-view' },
    canvas,
    title,
    picture,
    note,
    count,
  );
  let queued = 0;
  const draw = (): void => {
    queued = 0;
    if (!element.hidden) paint(canvas, viewport);
  };
  const request = (): void => {
    if (queued === 0) queued = requestAnimationFrame(draw);
  };
  const show = (): void => {
    const { source, camera, countDown } = puppetStage;
    element.hidden = source === 'none';
    picture.hidden = source !== 'camera' || camera.state === 'asking' || camera.state === 'off';
    picture.classList.toggle('mirrored', store.doc?.puppet.settings.mirror ?? false);
    title.textContent = source === 'recording' ? (store.doc?.actor?.name ?? 'No recording') : 'Camera';
    count.hidden = countDown === null;
    count.textContent = String(countDown ?? '');
    showNote();
    request();
  };
  const showNote = (): void => {
    const text = noteOf();
    if (note.textContent !== text) note.textContent = text;
    note.hidden = text === '';
  };
  puppetStage.on('change', show);
  puppetStage.on('act', () => {
    showNote();
    request();
  });
  store.on('doc', show);
  store.on('camera', request);
  store.on('prefs', request);
  new ResizeObserver(request).observe(element);
  return element;
}

/** What the actor should know now. */
function noteOf(): string {
  const { source, camera } = puppetStage;
  const act = store.doc?.act;
  if (source === 'camera' && camera.state === 'asking')
    return 'The browser asks for permission to use the camera. Pictures stay on this computer.';
  if (source === 'camera' && camera.state === 'loading') return 'Loading the tracker…';
  if (source === 'recording' && !store.doc?.actor) return 'Open a recording of a person.';
  if (!act?.body) return '';
  if (!isThere(act.body[0])) return 'Nobody is visible.';
  if (act.missing) {
    const [limb, joint] = act.missing;
    const advice = limb.startsWith('leg') ? 'step back, or turn off the legs under “Limbs”' : 'move into the picture';
    return `${spoken(joint)} is not visible: ${advice}.`;
  }
  return act.held ? 'Holding the last pose: this frame is unreliable.' : '';
}

/** `FootLeft` as people say it. */
function spoken(joint: string): string {
  const words = joint
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function paint(canvas: HTMLCanvasElement, viewport: Viewport): void {
  const ratio = Math.min(devicePixelRatio, 2);
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return;
  [canvas.width, canvas.height] = [width * ratio, height * ratio];
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  const act = store.doc?.act;
  const turn = viewport.rig.quaternion.clone().invert();
  const scale = Math.min(width / SPAN[0], height / SPAN[1]);
  const place = (p: Vector3): [number, number] => {
    const q = p.clone().applyQuaternion(turn);
    return [width / 2 + q.x * scale, height * 0.52 - q.y * scale];
  };
  paintFloor(context, place);
  const best = bestPair();
  if (best) paintBody(context, normal(best), place, { colours: [tokenText('--text-3')], width: 2, alpha: 0.35 });
  const body = act?.body;
  if (!body?.every(isThere)) return;
  const colours = [tokenText('--text'), tokenText('--actor-left'), tokenText('--actor-right')];
  paintBody(context, normal(body), place, { colours, width: 4, alpha: 1 }, act?.seen ?? undefined);
}

/** About the middle of the hips, of usual size, so that the figure stays in view wherever the actor goes. */
function normal(body: Vec3[]): Vector3[] {
  const points = body.map((p) => new Vector3(...p));
  const hips = points[0].clone();
  const trunk = points[0].distanceTo(points[1]) + points[1].distanceTo(points[2]);
  const size = trunk > 0 ? TRUNK / trunk : 1;
  return points.map((p) => p.sub(hips).multiplyScalar(size));
}

/** The actor's pose of the pair that weighs most. */
function bestPair(): Vec3[] | null {
  const weights = store.doc?.act?.weights;
  const pairs = store.doc?.puppet.pairs ?? [];
  if (!weights || weights.length !== pairs.length) return null;
  const best = weights.indexOf(Math.max(...weights));
  return pairs[best]?.body ?? null;
}

interface Look {
  /** Of the middle, the left and the right; the first for all if it is alone. */
  colours: string[];
  width: number;
  alpha: number;
}

function paintBody(
  context: CanvasRenderingContext2D,
  joints: Vector3[],
  place: (p: Vector3) => [number, number],
  look: Look,
  seen?: boolean[],
): void {
  const paintOf = (joint: number): string => {
    const side = joint < 4 ? 0 : joint < 8 || (joint >= 12 && joint < 16) ? 1 : 2;
    return look.colours[side] ?? look.colours[0];
  };
  context.lineCap = 'round';
  const at = joints.map(place);
  for (let k = 1; k < at.length; k++) {
    const isSure = !seen || (seen[k] && seen[PARENT[k]]);
    context.globalAlpha = look.alpha * (isSure ? 1 : 0.25);
    context.setLineDash(isSure ? [] : [3, 5]);
    context.strokeStyle = paintOf(k);
    context.lineWidth = look.width;
    context.beginPath();
    context.moveTo(...at[PARENT[k]]);
    context.lineTo(...at[k]);
    context.stroke();
  }
  context.setLineDash([]);
  for (let k = 0; k < at.length; k++) {
    context.globalAlpha = look.alpha * (!seen || seen[k] ? 1 : 0.3);
    context.fillStyle = paintOf(k);
    context.beginPath();
    context.arc(...at[k], k === HEAD ? 2.4 * look.width : 0.8 * look.width, 0, 7);
    context.fill();
  }
  context.globalAlpha = 1;
}

/** A ring on the ground, so that one sees from where one looks. */
function paintFloor(context: CanvasRenderingContext2D, place: (p: Vector3) => [number, number]): void {
  context.strokeStyle = tokenText('--grid');
  context.lineWidth = 1;
  for (const radius of [0.4, 0.8]) {
    context.beginPath();
    for (let i = 0; i <= 48; i++) {
      const a = (i / 48) * 2 * Math.PI;
      const p = place(new Vector3(radius * Math.cos(a), -0.95, radius * Math.sin(a)));
      if (i === 0) context.moveTo(...p);
      else context.lineTo(...p);
    }
    context.stroke();
  }
}
