// Everything of the page is kept as gzip, which every browser takes.
import { constants, deflateRawSync, gzipSync } from 'node:zlib';

const LEVEL = 9;
/** Of a gzip stream without a name, a date or a system. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** Node has its own only since version 20. */
export function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

export const pack = (bytes) => gzipSync(bytes, { level: LEVEL });

/** The first part of a gzip stream that several files share: it ends at a whole byte and leaves the stream open. */
export function packBeginning(bytes) {
  return Buffer.concat([HEAD, deflateRawSync(bytes, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH })]);
}

/** The rest of it: put behind the packed `beginning`, both are one stream. */
export function packEnd(beginning, bytes) {
  const whole = Buffer.concat([beginning, bytes]);
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(whole), 0);
  tail.writeUInt32LE(whole.length, 4);
  return Buffer.concat([deflateRawSync(bytes, { level: LEVEL }), tail]);
}
