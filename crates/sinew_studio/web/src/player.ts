// Playing a clip: the page keeps the clock, the server answers with frames, the newest time wins.
import { socket, store } from './app';
import { Clock } from './clock';
import { Emitter } from './emitter';
import type { Clip } from './net/protocol';

export class Player extends Emitter<{ change: null }> {
  loop = true;
  time = 0;
  fps = 30;
  private clipName: string | null = null;
  private wanted: number | null = null;
  private asking = false;
  private readonly clock = new Clock((seconds) => this.tick(seconds));
  /** Whether the clip has been seen since it plays. */
  private shown = false;

  constructor() {
    super();
    store.on('doc', (doc) => {
      if (this.clip === undefined) this.choose(doc.clips[0]?.name ?? null, false);
      // Another tab may have scrubbed.
      if (!this.playing && !this.asking && doc.display.what === 'clip') {
        this.clipName = doc.display.clip ?? this.clipName;
        this.time = doc.display.time;
      }
      // Something else is shown instead. A state from before the clip was asked for is no such thing.
      if (doc.display.what === 'clip') this.shown = true;
      else if (this.shown && !this.asking) {
        this.shown = false;
        this.clock.stop();
      }
      this.emit('change', null);
    });
    // At once: what is shown next must not be followed by one more moment of the clip.
    store.on('show', () => {
      this.wanted = null;
      this.pause();
    });
    store.on('link', (link) => {
      if (link !== 'open') this.pause();
    });
  }

  get playing(): boolean {
    return this.clock.running;
  }

  get clip(): Clip | undefined {
    return store.doc?.clips.find((clip) => clip.name === this.clipName);
  }

  choose(name: string | null, show = true): void {
    this.clipName = name;
    this.time = 0;
    this.fps = Math.round(this.clip?.fps ?? 30) || 30;
    if (show) this.seek(0);
    this.emit('change', null);
  }

  setLoop(loop: boolean): void {
    this.loop = loop;
    this.emit('change', null);
  }

  setFps(fps: number): void {
    this.fps = fps;
    this.emit('change', null);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    const clip = this.clip;
    if (!clip) return;
    if (this.time >= clip.duration) this.time = 0;
    this.shown = store.doc?.display.what === 'clip';
    this.clock.start(this.time);
    this.emit('change', null);
  }

  pause(): void {
    if (!this.playing) return;
    this.clock.stop();
    this.emit('change', null);
  }

  /** Whole frames forwards or back. */
  step(frames: number): void {
    this.pause();
    this.seek((Math.round(this.time * this.fps) + frames) / this.fps);
  }

  seek(time: number): void {
    const clip = this.clip;
    if (!clip) return;
    this.time = Math.min(clip.duration, Math.max(0, time));
    this.clock.set(this.time);
    this.show();
  }

  private tick(seconds: number): void {
    const clip = this.clip;
    if (!clip) return this.pause();
    let time = seconds;
    if (time >= clip.duration) {
      if (this.loop) {
        time %= Math.max(clip.duration, 1e-3);
        this.clock.set(time);
      } else {
        time = clip.duration;
        this.pause();
      }
    }
    // Only times on the grid of the frame rate are shown.
    const shown = Math.floor(time * this.fps + 1e-6) / this.fps;
    if (shown !== this.time || !this.playing) {
      this.time = shown;
      this.show();
    }
  }

  private show(): void {
    this.wanted = this.time;
    this.emit('change', null);
    this.pump();
  }

  private pump(): void {
    const clip = this.clip;
    if (this.asking || this.wanted === null || !clip) return;
    const time = this.wanted;
    this.wanted = null;
    this.asking = true;
    socket
      .ask({ type: 'display', what: 'clip', clip: clip.name, time })
      .catch(() => this.pause())
      .finally(() => {
        this.asking = false;
        this.pump();
      });
  }
}

/** Play a clip that was just made. */
export function playNew(player: Player, clip: string, fps?: number): void {
  player.choose(clip);
  if (fps !== undefined) player.setFps(fps);
  player.play();
}
