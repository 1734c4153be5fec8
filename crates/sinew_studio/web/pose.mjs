// The pose tracker of the page, out of npm packages: nothing is fetched from elsewhere, then or at run time.
// `@mediapipe/tasks-vision` wants one file, a zip of two networks with notes on how pictures are to be scaled for them.
// `@mediapipe/pose` has the two networks without the notes (TFLite, a FlatBuffer). So a new root is put before the old
// bytes, which all its offsets reach forward: the notes are added, and the rest stays as it was.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack } from './pack.mjs';

const SLOT = 4;

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** Node has its own only since version 20. */
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Writes a FlatBuffer forwards: tables of four-byte slots, vectors, strings. */
class Flat {
  bytes = Buffer.alloc(1 << 16);
  at = 0;

  align(to) {
    this.at = Math.ceil(this.at / to) * to;
    return this.at;
  }

  u32(value) {
    this.bytes.writeUInt32LE(value, this.at);
    this.at += SLOT;
  }

  /** A place for an offset, filled later. */
  hole() {
    const place = this.align(SLOT);
    this.at += SLOT;
    return place;
  }

  point(hole, to) {
    this.bytes.writeUInt32LE(to - hole, hole);
  }

  /** A table with these fields: numbers as they are, `null` for an offset. Gives its place and that of each field. */
  table(fields) {
    const present = [...fields.keys()].sort((a, b) => a - b);
    const size = 4 + 2 * (present.at(-1) + 1);
    const layout = this.align(SLOT);
    const start = layout + Math.ceil(size / SLOT) * SLOT;
    this.bytes.writeUInt16LE(size, layout);
    this.bytes.writeUInt16LE(SLOT * (present.length + 1), layout + 2);
    present.forEach((field, i) => this.bytes.writeUInt16LE(SLOT * (i + 1), layout + 4 + 2 * field));
    this.bytes.writeInt32LE(start - layout, start);
    this.at = start + SLOT;
    const slots = new Map();
    for (const field of present) {
      slots.set(field, this.at);
      this.u32(fields.get(field) ?? 0);
    }
    return { start, slots };
  }

  /** A vector of offsets to be filled. */
  offsets(count) {
    const start = this.align(SLOT);
    this.u32(count);
    const holes = Array.from({ length: count }, () => this.hole());
    return { start, holes };
  }

  floats(values) {
    const start = this.align(SLOT);
    this.u32(values.length);
    for (const value of values) this.at = this.bytes.writeFloatLE(value, this.at);
    return start;
  }

  text(value) {
    const start = this.align(SLOT);
    this.u32(value.length);
    this.at += this.bytes.write(value, this.at, 'latin1') + 1;
    return start;
  }

  done() {
    return Buffer.from(this.bytes.subarray(0, this.at));
  }
}

/** A table under an offset: `path` names the fields that lead there, each one table or a list of one. */
function child(flat, parent, field, fields) {
  const table = flat.table(fields);
  flat.point(parent.slots.get(field), table.start);
  return table;
}

function onlyChild(flat, parent, field, fields) {
  const list = flat.offsets(1);
  flat.point(parent.slots.get(field), list.start);
  const table = flat.table(fields);
  flat.point(list.holes[0], table.start);
  return table;
}

/** How pictures are scaled: (value − mean) / deviation (ModelMetadata of TFLite's metadata schema). */
function notes(mean, deviation) {
  const flat = new Flat();
  const root = flat.hole();
  flat.at += flat.bytes.write('M001', flat.at, 'latin1');
  const [NAME, DESCRIPTION, SUBGRAPHS, AUTHOR, LICENSE, VERSION] = [0, 1, 3, 4, 5, 7];
  // The Apache License asks for a word in files that were changed (section 4 b).
  const texts = [
    [NAME, 'pose'],
    [DESCRIPTION, 'Changed by the build of Sinew: these notes were added; the network is as Google published it.'],
    [AUTHOR, 'Google (MediaPipe)'],
    [LICENSE, 'Apache-2.0'],
    [VERSION, '1.0.0'],
  ];
  const model = flat.table(new Map([...texts.map(([field]) => [field, null]), [SUBGRAPHS, null]]));
  flat.point(root, model.start);
  for (const [field, text] of texts) flat.point(model.slots.get(field), flat.text(text));
  const INPUTS = 2;
  const subgraph = onlyChild(flat, model, SUBGRAPHS, new Map([[INPUTS, null]]));
  const [TENSOR_NAME, UNITS] = [0, 4];
  const tensor = onlyChild(
    flat,
    subgraph,
    INPUTS,
    new Map([
      [TENSOR_NAME, null],
      [UNITS, null],
    ]),
  );
  flat.point(tensor.slots.get(TENSOR_NAME), flat.text('image'));
  const [KIND, OPTIONS, NORMALIZATION] = [0, 1, 1];
  const unit = onlyChild(
    flat,
    tensor,
    UNITS,
    new Map([
      [KIND, NORMALIZATION],
      [OPTIONS, null],
    ]),
  );
  const scale = child(
    flat,
    unit,
    OPTIONS,
    new Map([
      [0, null],
      [1, null],
    ]),
  );
  flat.point(scale.slots.get(0), flat.floats([mean]));
  flat.point(scale.slots.get(1), flat.floats([deviation]));
  flat.align(16);
  return flat.done();
}

/** The same network with notes. */
function withNotes(model, metadata) {
  if (model.toString('latin1', 4, 8) !== 'TFL3') throw new Error('@mediapipe/pose: not a TFLite file');
  const follow = (place) => place + model.readUInt32LE(place);
  const root = follow(0);
  const layout = root - model.readInt32LE(root);
  const field = (i) => {
    if (4 + 2 * i >= model.readUInt16LE(layout)) return 0;
    const offset = model.readUInt16LE(layout + 4 + 2 * i);
    return offset === 0 ? 0 : root + offset;
  };
  const [VERSION, BUFFERS, METADATA] = [0, 4, 6];
  const kept = [1, 2, 3, 5, 7].filter((i) => field(i) !== 0);
  const old = [];
  const flat = new Flat();
  const start = flat.hole();
  flat.at += flat.bytes.write('TFL3', flat.at, 'latin1');
  const fields = new Map([
    [VERSION, model.readUInt32LE(field(VERSION))],
    [BUFFERS, null],
    [METADATA, null],
  ]);
  kept.forEach((i) => fields.set(i, null));
  const table = flat.table(fields);
  flat.point(start, table.start);
  kept.forEach((i) => old.push([table.slots.get(i), follow(field(i))]));
  const list = (place) => {
    if (place === 0) return [];
    const first = follow(place);
    return Array.from({ length: model.readUInt32LE(first) }, (_, i) => follow(first + SLOT * (i + 1)));
  };
  const [buffers, entries] = [list(field(BUFFERS)), list(field(METADATA))];
  const extend = (slot, targets) => {
    const vector = flat.offsets(targets.length + 1);
    flat.point(table.slots.get(slot), vector.start);
    targets.forEach((target, i) => old.push([vector.holes[i], target]));
    return vector.holes[targets.length];
  };
  const bufferHole = extend(BUFFERS, buffers);
  const entryHole = extend(METADATA, entries);
  const buffer = flat.table(new Map([[0, null]]));
  flat.point(bufferHole, buffer.start);
  const entry = flat.table(
    new Map([
      [0, null],
      [1, buffers.length],
    ]),
  );
  flat.point(entryHole, entry.start);
  flat.point(entry.slots.get(0), flat.text('TFLITE_METADATA'));
  // Contents of buffers begin at multiples of 16, after their length.
  flat.at = Math.ceil((flat.at + SLOT) / 16) * 16 - SLOT;
  flat.point(buffer.slots.get(0), flat.at);
  flat.u32(metadata.length);
  flat.at += metadata.copy(flat.bytes, flat.at);
  const shift = flat.align(64);
  for (const [hole, target] of old) flat.point(hole, target + shift);
  return Buffer.concat([flat.done(), model]);
}

/**
 * A zip whose files are stored as they are, each at a multiple of 16, so that they can be used in place. In pieces, one
 * for each file; the last has the directory as well.
 */
function zip(files) {
  const [parts, directory] = [[], []];
  let at = 0;
  for (const [name, content] of files) {
    const title = Buffer.from(name);
    const short = -(at + 30 + title.length) & 15;
    const padding = Buffer.alloc(short === 0 ? 0 : short < 4 ? short + 16 : short);
    if (padding.length > 0) {
      padding.writeUInt16LE(0xd935, 0);
      padding.writeUInt16LE(padding.length - 4, 2);
    }
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(10, 4);
    head.writeUInt32LE(crc32(content), 14);
    head.writeUInt32LE(content.length, 18);
    head.writeUInt32LE(content.length, 22);
    head.writeUInt16LE(title.length, 26);
    head.writeUInt16LE(padding.length, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(10, 4);
    head.copy(entry, 6, 4, 28);
    entry.writeUInt32LE(at, 42);
    parts.push(Buffer.concat([head, title, padding, content]));
    directory.push(entry, title);
    at += head.length + title.length + padding.length + content.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return [...parts.slice(0, -1), Buffer.concat([parts.at(-1), list, end])];
}

/** What Google publishes (mediapipe, third_party/external_files.bzl), by the beginning of its SHA-256. */
const KNOWN = {
  'pose_solution_packed_assets.data': 'a63c614b',
  'pose_landmark_lite.tflite': 'f17bfbec',
  'pose_landmark_full.tflite': 'e9a5c5cb',
};

/** Put the tracker into the folder of the page: its code, a quick network and a more exact one, all packed. */
export async function buildTracker(web, out) {
  const folder = (name) => join(web, 'node_modules', name);
  const model = async (file) => {
    const bytes = await readFile(join(folder('@mediapipe/pose'), file));
    const digest = createHash('sha256').update(bytes).digest('hex');
    if (!digest.startsWith(KNOWN[file])) throw new Error(`${file} is not what Google published: ${digest}`);
    return bytes;
  };
  const detector = withNotes(await model('pose_solution_packed_assets.data'), notes(127.5, 127.5));
  const wasm = join(folder('@mediapipe/tasks-vision'), 'wasm');
  const put = (name, bytes) => writeFile(join(out, `${name}.br`), pack(bytes));
  const names = ['pose_detector.tflite', 'pose_landmarks_detector.tflite'];
  for (const network of ['lite', 'full']) {
    const landmarks = withNotes(await model(`pose_landmark_${network}.tflite`), notes(0, 255));
    // Both begin with the same detector, which is kept once; the server puts the halves together.
    const [first, second] = zip([
      [names[0], detector],
      [names[1], landmarks],
    ]);
    if (network === 'lite') await put('pose-detector.begin', first);
    await put(`pose-${network}.end`, second);
  }
  await put('pose-wasm.js', await readFile(join(wasm, 'vision_wasm_internal.js')));
  await put('pose.wasm', await readFile(join(wasm, 'vision_wasm_internal.wasm')));
}
