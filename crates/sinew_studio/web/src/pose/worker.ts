// The tracker, in a thread of its own: pictures in, landmarks out. It loads its engine from this server alone.
import { type Landmark, PoseLandmarker } from '@mediapipe/tasks-vision';
import { clock, type FromTracker, type ToTracker } from './messages';

const say = (message: FromTracker): void => self.postMessage(message);
const why = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The name of this thread is the network that it uses. */
const modelAssetPath = `pose-${self.name}.task`;

/** Pictures are scaled by the graphics card or its stand-in; the networks run on the processor, which is everywhere. */
const ready = PoseLandmarker.createFromOptions(
  { wasmLoaderPath: 'pose-wasm.js', wasmBinaryPath: 'pose.wasm' },
  {
    baseOptions: { modelAssetPath, delegate: 'CPU' },
    runningMode: 'VIDEO',
    numPoses: 1,
    canvas: new OffscreenCanvas(1, 1),
  },
);
ready.then(
  () => say({ kind: 'ready' }),
  (error: unknown) => say({ kind: 'failed', why: why(error) }),
);

const round = (x: number): number => Math.round(x * 1e5) / 1e5;
const inSpace = ({ x, y, z, visibility }: Landmark): number[] => [x, y, z, visibility].map(round);
const inPicture = ({ x, y }: Landmark): number[] => [x, y].map(round);

/** Time of the first picture: the tracker counts milliseconds in 32 bits, so they begin there. */
let first: number | null = null;

async function look(image: ImageBitmap | VideoFrame, time: number): Promise<void> {
  try {
    const tracker = await ready;
    const start = clock();
    const found = tracker.detectForVideo(image, time - (first ??= time));
    const world = found.worldLandmarks[0]?.map(inSpace) ?? null;
    const places = found.landmarks[0]?.map(inPicture) ?? null;
    const done = clock();
    say({ kind: 'seen', time, done, ms: done - start, world, image: places });
  } catch (error) {
    say({ kind: 'failed', why: why(error) });
  } finally {
    image.close();
  }
}

/** The newest picture, again and again, until there are no more; those that came meanwhile are not looked at. */
async function watch(pictures: ReadableStream<VideoFrame>): Promise<void> {
  await ready.catch(() => {});
  const reader = pictures.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    await look(value, clock());
  }
}

self.onmessage = ({ data }: MessageEvent<ToTracker>) => {
  if ('pictures' in data) void watch(data.pictures);
  else void look(data.image, data.time);
};
