// Everything of the page is kept packed with Brotli, which makes it a fifth smaller than gzip does.
import { brotliCompressSync, constants } from 'node:zlib';

/** Packing well takes a minute; builds for testing do not wait for it. */
const QUALITY = process.env.SINEW_PACK === 'quick' ? 4 : constants.BROTLI_MAX_QUALITY;

export const pack = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
