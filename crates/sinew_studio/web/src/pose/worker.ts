// The tracker, in a thread of its own: pictures in, landmarks out. It loads its engine from this server alone.
import { PoseLandmarker, type Landmark } from '@mediapipe/tasks-vision';
import type { FromTracker, ToTracker } from './messages';

const say = (message: FromTracker): void => self.postMessage(message);
const why = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Pictures are scaled by the graphics card or its stand-in; the networks run on the processor, which is everywhere. */
const ready = PoseLandmarker.createFromOptions(
  { wasmLoaderPath: 'pose-wasm.js', wasmBinaryPath: 'pose.wasm' },
  {
    baseOptions: { modelAssetPath: 'pose.task', delegate: 'CPU' },
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

self.onmessage = async ({ data }: MessageEvent<ToTracker>) => {
  const { image, time } = data;
  try {
    const tracker = await ready;
    const start = performance.now();
    const found = tracker.detectForVideo(image, time);
    const world = found.worldLandmarks[0]?.map(inSpace) ?? null;
    const places = found.landmarks[0]?.map(inPicture) ?? null;
    say({ kind: 'seen', time, ms: performance.now() - start, world, image: places });
  } catch (error) {
    say({ kind: 'failed', why: why(error) });
  } finally {
    image.close();
  }
};
