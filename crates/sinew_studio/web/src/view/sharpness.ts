// How many pixels a picture has. Without a graphics card each pixel costs the processor, which then moves the character
// late: pictures that move are drawn with fewer, and sharpen when they stand still.

/**
 * Milliseconds without a change until a picture is at rest. A body in front of a camera changes a few times per second: if
 * the time between counted as rest, drawing every picture whole would delay the next one further.
 */
const STILL = 1000;
/** Share of the pixels, each way, of a picture that moves. */
const COARSE = 0.6;

export class Sharpness {
  private readonly slow: boolean;
  private last = -Infinity;
  private timer = 0;

  constructor(
    gl: WebGLRenderingContext | WebGL2RenderingContext,
    private readonly sharpen: () => void,
  ) {
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const name = info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
    this.slow = /swiftshader|llvmpipe|software|basic render/i.test(name);
  }

  /** Pixels each way for each of the page's, of a picture that is drawn now; `whole` asks for all of them. */
  ratio(whole: boolean): number {
    const full = Math.min(devicePixelRatio, 2);
    const now = performance.now();
    const moves = now - this.last < STILL;
    this.last = now;
    clearTimeout(this.timer);
    if (!this.slow || whole || !moves) return full;
    this.timer = window.setTimeout(() => {
      this.last = -Infinity;
      this.sharpen();
    }, STILL);
    return COARSE * full;
  }
}
