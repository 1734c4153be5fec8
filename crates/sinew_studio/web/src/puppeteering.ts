// Puppetry in the page: where the actor comes from, what is sent of it, pairing by count-down, and takes.
import { ask, socket, store } from './app';
import { showShape } from './display';
import { Emitter } from './emitter';
import type { Cue, PairTarget, PuppetSettings } from './net/protocol';
import { Camera, type Sight } from './pose/camera';
import type { Network } from './pose/messages';
import { PoseGesture } from './tools/gesture';
import { toast } from './ui/toast';

export type Source = 'none' | 'camera' | 'recording';
/** As in Sun (2017), §3.2: poses are registered first, then performed with. */
export type Phase = 'pair' | 'perform';

const COUNT_DOWN = 3;

class Puppeteering extends Emitter<{ change: null; act: null }> {
  readonly camera = new Camera();
  source: Source = 'none';
  phase: Phase = 'perform';
  /** Which pose of the character is paired next. */
  target: PairTarget = 'rest';
  playing = false;
  /** Frame of the recording. */
  frame = 0;
  /** Seconds until the pair is made; null if none is coming. */
  countDown: number | null = null;
  /** Whether the count-down is wanted: a hand on the mouse cannot pose before a camera. */
  patient = true;
  private gesture: PoseGesture | null = null;
  private startedAt = 0;
  /** Whether the recording that was chosen is still to come. */
  private isAwaited = false;
  private timer = 0;

  constructor() {
    super();
    this.camera.on('state', () => this.emit('change', null));
    this.camera.on('seen', (sight) => this.see(sight));
    this.camera.on('lost', (why) => this.lost(why));
    store.on('act', () => this.emit('act', null));
    store.on('opened', () => this.leave());
    store.on('doc', () => {
      if (!this.isAwaited || !store.doc?.actor) return;
      this.isAwaited = false;
      this.seek(0);
    });
    store.on('link', (link) => {
      if (link !== 'open') this.pause();
    });
  }

  async choose(source: Source): Promise<void> {
    if (source === this.source) return;
    await this.keepTake();
    this.pause();
    this.camera.stop();
    this.endGesture();
    if (this.source !== 'none') await ask({ type: 'act_end' });
    this.source = source;
    if (source === 'camera') this.startCamera();
    // The reply to what was opened may come before the state that tells of it.
    this.isAwaited = source === 'recording' && !store.doc?.actor;
    if (source === 'recording' && !this.isAwaited) this.seek(0);
    this.emit('change', null);
  }

  /** Nothing is performed any more. */
  leave(): void {
    this.cancelPair();
    void this.choose('none');
    if (this.phase === 'pair') this.setPhase('perform');
  }

  setPhase(phase: Phase): void {
    this.phase = phase;
    void ask({ type: 'pairing', on: phase === 'pair' });
    if (phase === 'pair') this.showTarget();
    else this.cancelPair();
    this.emit('change', null);
  }

  setTarget(target: PairTarget): void {
    this.target = target;
    this.showTarget();
    this.emit('change', null);
  }

  /** The viewport shows the pose that is to be paired. */
  private showTarget(): void {
    const { target } = this;
    if (target === 'rest') void showShape('rest');
    else if (target === 'posed') void showShape('posed');
    else if ('clip' in target) void showShape('clip', { clip: target.clip[0], time: target.clip[1] });
    else void ask({ type: 'do', command: { load_example: { name: target.example } } }).then(() => showShape('posed'));
  }

  /** Make a pair now, or when the actor is in place. */
  pair(name: string): void {
    const wait = this.source === 'camera' && this.patient;
    if (!wait) {
      void ask({ type: 'pair', name, target: this.target });
      return;
    }
    this.countDown = COUNT_DOWN;
    this.emit('change', null);
    this.timer = window.setInterval(() => {
      this.countDown = (this.countDown ?? 1) - 1;
      if (this.countDown === 0) {
        this.cancelPair();
        void ask({ type: 'pair', name, target: this.target });
      }
      this.emit('change', null);
    }, 1000);
  }

  cancelPair(): void {
    clearInterval(this.timer);
    this.countDown = null;
    this.emit('change', null);
  }

  set(change: Partial<PuppetSettings>): void {
    const settings = store.doc?.puppet.settings;
    if (settings) void ask({ type: 'do', command: { set_puppet: { settings: { ...settings, ...change } } } });
  }

  // The recording.

  seek(frame: number): void {
    const last = (store.doc?.actor?.frames ?? 1) - 1;
    this.frame = Math.max(0, Math.min(last, Math.round(frame)));
    this.startedAt = performance.now() - (this.frame * 1000) / this.fps;
    this.send({ frame: this.frame }, performance.now());
    this.emit('act', null);
  }

  toggle(): void {
    if (this.playing) return this.pause();
    const last = (store.doc?.actor?.frames ?? 1) - 1;
    if (this.frame >= last) this.frame = 0;
    this.playing = true;
    this.startedAt = performance.now() - (this.frame * 1000) / this.fps;
    requestAnimationFrame(() => this.tick());
    this.emit('change', null);
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.emit('change', null);
  }

  private get fps(): number {
    return store.doc?.actor?.fps ?? 30;
  }

  private tick(): void {
    const { actor } = store.doc ?? {};
    if (!this.playing || !actor || this.source !== 'recording') return this.pause();
    let frame = Math.floor(((performance.now() - this.startedAt) / 1000) * actor.fps);
    if (frame >= actor.frames) {
      frame = 0;
      this.startedAt = performance.now();
      // A take of a recording ends with it.
      if (store.doc?.act?.take != null) {
        this.pause();
        void this.keepTake();
        return;
      }
    }
    if (frame !== this.frame) {
      this.frame = frame;
      this.send({ frame }, performance.now());
      this.emit('act', null);
    }
    requestAnimationFrame(() => this.tick());
  }

  // The camera.

  startCamera(): void {
    this.camera.use(store.prefs.tracker);
    void this.camera.start();
  }

  useTracker(network: Network): void {
    store.setPrefs({ tracker: network });
    this.camera.use(network);
    this.emit('change', null);
  }

  private see({ done, ...sight }: Sight): void {
    this.send({ camera: sight }, done - performance.timeOrigin);
    this.emit('act', null);
  }

  private lost(why: string): void {
    toast('error', why);
    this.source = 'none';
    this.endGesture();
    this.cancelPair();
    // First what there is of the take, then the end of the performance it belongs to.
    void this.keepTake().then((kept) => {
      if (kept) toast('info', 'What was recorded until then is kept.');
      return ask({ type: 'act_end' });
    });
    this.emit('change', null);
  }

  private send(cue: Cue, time: number): void {
    if (!socket.isOpen) return;
    this.gesture ??= new PoseGesture('', []);
    this.gesture.update({ puppet: cue }, time);
  }

  private endGesture(): void {
    this.gesture?.forget();
    this.gesture = null;
  }

  // Takes.

  async record(): Promise<void> {
    if (store.doc?.act?.take != null) {
      await this.keepTake();
      return;
    }
    if (this.source === 'recording') this.seek(0);
    await ask({ type: 'take_begin' });
    if (this.source === 'recording' && !this.playing) this.toggle();
  }

  /** End the take in progress, if there is one, and keep it as a clip. */
  async keepTake(): Promise<boolean> {
    if (store.doc?.act?.take == null) return false;
    return (await ask({ type: 'take_end', clip: this.freeName() })) !== undefined;
  }

  /** The whole recording at once. */
  performAll(): void {
    void ask({ type: 'perform_all', clip: this.freeName() });
  }

  freeName(): string {
    const taken = new Set(store.doc?.clips.map(({ name }) => name));
    for (let i = 1; ; i++) if (!taken.has(`take ${i}`)) return `take ${i}`;
  }

  freePairName(): string {
    const taken = new Set(store.doc?.puppet.pairs.map(({ name }) => name));
    for (let i = 1; ; i++) if (!taken.has(`pair ${i}`)) return `pair ${i}`;
  }
}

export const puppeteering = new Puppeteering();
