// What is used of @mediapipe/tasks-vision, whose own types its package does not lead to.
declare module '@mediapipe/tasks-vision' {
  export interface Landmark {
    x: number;
    y: number;
    z: number;
    visibility: number;
  }
  export interface PoseResult {
    landmarks: Landmark[][];
    worldLandmarks: Landmark[][];
    close(): void;
  }
  export class PoseLandmarker {
    static createFromOptions(
      files: { wasmLoaderPath: string; wasmBinaryPath: string },
      options: {
        baseOptions: { modelAssetPath: string; delegate: 'CPU' | 'GPU' };
        runningMode: 'VIDEO';
        numPoses: number;
        canvas: OffscreenCanvas;
      },
    ): Promise<PoseLandmarker>;
    detectForVideo(image: ImageBitmap | VideoFrame, timeMs: number): PoseResult;
  }
}
