// The camera: its permission, its picture, and the tracker that looks at it. Nothing of it leaves this computer.
import { Emitter } from '../emitter';
import { address } from '../net/address';
import { el } from '../ui/dom';
import { clock, type FromTracker, type Network, type ToTracker } from './messages';

export interface Sight {
  /** Seconds since the camera began. */
  time: number;
  world: number[][] | null;
  image: number[][] | null;
  aspect: number;
  /** When it had been found, by `clock`. */
  done: number;
}

export type CameraState = 'off' | 'asking' | 'loading' | 'on';

interface Events {
  state: CameraState;
  seen: Sight;
  /** It ended without being asked to; why. */
  lost: string;
}

declare global {
  interface Window {
    /** Not in the types of every browser yet. */
    MediaStreamTrackProcessor?: new (options: {
      track: MediaStreamTrack;
      maxBufferSize?: number;
    }) => { readable: ReadableStream<VideoFrame> };
  }
}

const PICTURE = { width: 640, height: 480 };
/** Frames over which the rate is measured. */
const RATE_OVER = 10;

export class Camera extends Emitter<Events> {
  readonly video = el('video', { muted: true, playsinline: true, 'aria-label': 'Camera' });
  state: CameraState = 'off';
  /** Frames tracked per second, and milliseconds that each takes. */
  rate = 0;
  ms = 0;
  private network: Network = 'full';
  private stream: MediaStream | null = null;
  private worker: Worker | null = null;
  /** Whether the tracker takes the pictures itself, which Chromium lets it. */
  private handsOver = false;
  private busy = false;
  private shown = -1;
  private began = 0;
  private recent: number[] = [];

  async start(): Promise<void> {
    if (this.state !== 'off') return;
    this.set('asking');
    try {
      if (!navigator.mediaDevices) throw new DOMException('', 'SecurityError');
      this.stream = await navigator.mediaDevices.getUserMedia({ video: PICTURE });
    } catch (error) {
      return this.lose(refusal(error));
    }
    // It may have been stopped while the user was asked.
    if ((this.state as CameraState) === 'off') return this.release();
    for (const track of this.stream.getTracks())
      track.addEventListener('ended', () => this.lose('The camera was disconnected, or its permission was revoked.'));
    this.video.srcObject = this.stream;
    this.video.muted = true;
    await this.video.play().catch(() => {});
    this.startTracker(this.stream);
  }

  /** Look with another network, from now on. */
  use(network: Network): void {
    if (network === this.network) return;
    this.network = network;
    if (this.stream && this.worker) this.startTracker(this.stream);
  }

  private startTracker(stream: MediaStream): void {
    this.worker?.terminate();
    [this.busy, this.shown, this.recent] = [false, -1, []];
    this.set('loading');
    this.worker = new Worker(address('/pose.js'), { name: this.network });
    this.worker.onmessage = ({ data }: MessageEvent<FromTracker>) => this.hear(data);
    this.worker.onerror = (event) => this.lose(`The tracker could not be started: ${event.message}`);
    this.handsOver = this.handOver(this.worker, stream);
  }

  /** Let the tracker take the pictures itself: this thread, which draws, then has nothing to do with them. */
  private handOver(worker: Worker, stream: MediaStream): boolean {
    const Pictures = window.MediaStreamTrackProcessor;
    if (!Pictures) return false;
    const { readable } = new Pictures({ track: stream.getVideoTracks()[0], maxBufferSize: 1 });
    worker.postMessage({ pictures: readable } satisfies ToTracker, [readable]);
    return true;
  }

  stop(): void {
    this.release();
    this.set('off');
  }

  private hear(message: FromTracker): void {
    if (message.kind === 'failed') return this.lose(`The tracker failed: ${message.why}`);
    this.busy = false;
    if (message.kind === 'ready') {
      this.began ||= clock();
      this.set('on');
    } else if (this.state === 'on') {
      const { time, done, world, image, ms } = message;
      this.measure(ms);
      const aspect = this.video.videoWidth / Math.max(1, this.video.videoHeight);
      this.emit('seen', { time: (time - this.began) / 1000, world, image, aspect, done });
    }
    this.look();
  }

  /** Send the newest picture, once the tracker is free and there is a new one. */
  private look(): void {
    if (this.state !== 'on' || this.handsOver || this.busy || !this.worker) return;
    if (this.video.currentTime === this.shown) {
      setTimeout(() => this.look(), 4);
      return;
    }
    this.shown = this.video.currentTime;
    this.busy = true;
    const [time, worker] = [clock(), this.worker];
    createImageBitmap(this.video)
      .then((image) => worker.postMessage({ image, time } satisfies ToTracker, [image]))
      .catch(() => {
        this.busy = false;
        setTimeout(() => this.look(), 50);
      });
  }

  private measure(ms: number): void {
    this.recent.push(performance.now());
    if (this.recent.length > RATE_OVER) this.recent.shift();
    const span = this.recent[this.recent.length - 1] - this.recent[0];
    this.rate = span > 0 ? ((this.recent.length - 1) * 1000) / span : 0;
    this.ms = ms;
  }

  private lose(why: string): void {
    if (this.state === 'off') return;
    this.stop();
    this.emit('lost', why);
  }

  private release(): void {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
    this.worker?.terminate();
    this.video.srcObject = null;
    [this.stream, this.worker, this.began] = [null, null, 0];
  }

  private set(state: CameraState): void {
    this.state = state;
    this.emit('state', state);
  }
}

/** Why there is no camera, and what to do. */
function refusal(error: unknown): string {
  switch (error instanceof DOMException ? error.name : '') {
    case 'NotAllowedError':
      return 'Camera access was denied. Allow it in the address bar, then start the camera again.';
    case 'NotFoundError':
      return 'There is no camera. Plug one in, or open a recording.';
    case 'NotReadableError':
      return 'Another program is using the camera. Close it, then start the camera again.';
    case 'SecurityError':
      return 'Browsers allow the camera only for pages on this computer. Open the studio at 127.0.0.1.';
    default:
      return `The camera could not be started: ${error instanceof Error ? error.message : String(error)}`;
  }
}
