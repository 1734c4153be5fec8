// Puppetry in the page: where the actor comes from, what is sent of it, pairing by countdown, and takes.
import { ask, run, socket, store } from '../../app';
import { Clock } from '../../clock';
import { showShape } from '../../display';
import { Emitter } from '../../emitter';
import { freeName } from '../../names';
import type { Cue, PairTarget, PuppetSettings } from '../../net/protocol';
import { Camera, type Sight } from '../../pose/camera';
import type { Network } from '../../pose/messages';
import { PoseGesture } from '../../tools/gesture';
import { toast } from '../../ui/toast';

export type Source = 'none' | 'camera' | 'recording';
/** As in Sun (2017), §3.2: poses are registered first, then performed with. */
export type Phase = 'pair' | 'perform';

const COUNT_DOWN = 3;

class PuppetStage extends Emitter<{ change: null; act: null; take: string }> {
  readonly camera = new Camera();
  source: Source = 'none';
  phase: Phase = 'perform';
  /** Which pose of the character is paired next. */
  target: PairTarget = 'rest';
  /** Frame of the recording. */
  frame = 0;
  /** Seconds until the pair is made; null if none is coming. */
  countDown: number | null = null;
  /** Whether to count down first: one cannot pose for the camera with a hand on the mouse. */
  patient = true;
  private gesture: PoseGesture | null = null;
  private readonly clock = new Clock((seconds) => this.tick(seconds));
  private timer = 0;

  constructor() {
    super();
    this.camera.on('state', () => this.emit('change', null));
    this.camera.on('seen', (sight) => this.see(sight));
    this.camera.on('lost', (why) => this.lost(why));
    store.on('act', () => this.emit('act', null));
    store.on('opened', () => this.leave());
    store.on('link', (link) => {
      if (link !== 'open') this.pause();
    });
  }

  async choose(source: Source): Promise<void> {
    if (source === this.source) return;
    await this.saveTake();
    this.pause();
    this.camera.stop();
    this.endGesture();
    if (this.source !== 'none') await ask({ type: 'act_end' });
    this.source = source;
    if (source === 'camera') this.startCamera();
    if (source === 'recording') this.seek(0);
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

  set(change: Partial<PuppetSettings>, gesture?: number): Promise<unknown> | undefined {
    const settings = store.doc?.puppet.settings;
    return settings && run({ set_puppet: { settings: { ...settings, ...change } } }, gesture);
  }

  // The recording.

  seek(frame: number): void {
    const last = (store.doc?.actor?.frames ?? 1) - 1;
    this.frame = Math.max(0, Math.min(last, Math.round(frame)));
    this.clock.set(this.frame / this.fps);
    this.send({ frame: this.frame }, performance.now());
    this.emit('act', null);
  }

  get playing(): boolean {
    return this.clock.running;
  }

  toggle(): void {
    if (this.playing) return this.pause();
    const last = (store.doc?.actor?.frames ?? 1) - 1;
    if (this.frame >= last) this.frame = 0;
    this.clock.start(this.frame / this.fps);
    this.emit('change', null);
  }

  pause(): void {
    if (!this.playing) return;
    this.clock.stop();
    this.emit('change', null);
  }

  private get fps(): number {
    return store.doc?.actor?.fps ?? 30;
  }

  private tick(seconds: number): void {
    const { actor } = store.doc ?? {};
    if (!actor || this.source !== 'recording') return this.pause();
    let frame = Math.floor(seconds * actor.fps);
    if (frame >= actor.frames) {
      frame = 0;
      this.clock.set(0);
      // A take of a recording ends with it.
      if (store.doc?.act?.take != null) {
        this.pause();
        void this.saveTake();
        return;
      }
    }
    if (frame !== this.frame) {
      this.frame = frame;
      this.send({ frame }, performance.now());
      this.emit('act', null);
    }
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
    void this.saveTake().then((saved) => {
      if (saved) toast('info', 'What was recorded so far is saved as a take.');
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
      await this.saveTake();
      return;
    }
    if (this.source === 'recording') this.seek(0);
    await ask({ type: 'take_begin' });
    if (this.source === 'recording' && !this.playing) this.toggle();
  }

  /** End the take in progress, if there is one, and save it as a clip. */
  async saveTake(): Promise<boolean> {
    if (store.doc?.act?.take == null) return false;
    const clip = this.takeName();
    const isSaved = (await ask({ type: 'take_end', clip })) !== undefined;
    if (isSaved) this.emit('take', clip);
    return isSaved;
  }

  /** The whole recording at once. */
  async performAll(): Promise<void> {
    const clip = this.takeName();
    if ((await ask({ type: 'perform_all', clip })) !== undefined) this.emit('take', clip);
  }

  private takeName(): string {
    return freeName(store.doc?.clips ?? [], (n) => `take ${n}`);
  }

  pairName(): string {
    return freeName(store.doc?.puppet.pairs ?? [], (n) => `pair ${n}`);
  }
}

export const puppetStage = new PuppetStage();
