// The bytes of the files for one seed.

import { FILE_BYTES_MAX, partsOf, pathOf, sizeBytes } from './file.js';
import { FILES, output, partSeed, scale, TEXT, upper } from './random.js';

const BLOCK_BYTES = 1 << 20;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .';
const LF = 10;
// Number of ads in Custom.Ads.
export const ADS_COUNT = 360;
const TAG_BYTES = 62;
// Least number of bytes before a tag in its section, so it is after the line with the path.
const TAG_OFFSET_MIN = 64;
// Size of the sections of a file by class, each of which has a tag; 0 if there are none.
const TAG_STEP_BYTES = [0, 1024, 10 * 1024, 0];

export class Content {
  #filesSeed;
  #text; // the block, followed by as much of its beginning as the largest file has: every file is one slice of it

  // The seed is a BigInt.
  constructor(seed) {
    this.#filesSeed = partSeed(seed, FILES);
    const block = textBlock(partSeed(seed, TEXT));
    this.#text = Buffer.concat([block, block.subarray(0, FILE_BYTES_MAX)]);
  }

  // Computes a file as it is stored: { bytes, tagOffsets }.
  file(index) {
    const { directory, fileClass, number } = partsOf(index);
    const hash = output(this.#filesSeed, (BigInt(directory) << 16n) | BigInt((fileClass << 8) | number));
    const start = Number(hash % BigInt(BLOCK_BYTES));
    const bytes = Buffer.from(this.#text.subarray(start, start + sizeBytes(index)));
    bytes.write(`${pathOf(index)} ${hash.toString(16).padStart(16, '0')}\n`, 'latin1');
    const tagOffsets = offsetsOfTags(hash, TAG_STEP_BYTES[fileClass], bytes.length);
    rotate(bytes, 0, tagOffsets, scale(upper(hash), ADS_COUNT));
    return { bytes, tagOffsets };
  }
}

function textBlock(seed) {
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < BLOCK_BYTES; at += 8) {
    block.writeBigUInt64LE(output(seed, at / 8), at);
  }
  for (let at = 0; at < BLOCK_BYTES; at += 1) {
    block[at] = at % 64 === 63 ? LF : ALPHABET.charCodeAt(block[at] & 63);
  }
  return block;
}

function offsetsOfTags(hash, step, size) {
  const offsets = [];
  for (let section = 0; step > 0 && section < size; section += step) {
    const room = step - TAG_OFFSET_MIN - TAG_BYTES;
    offsets.push(section + TAG_OFFSET_MIN + scale(upper(output(hash, section / step)), room));
  }
  return offsets;
}

// Makes every tag name an ad, in a file that begins at an offset in bytes.
export function rotate(bytes, offset, tagOffsets, ad) {
  const tag = `<!WEB99CAD><IMG SRC="${pathOf(ad)}"><!/WEB99CAD>`;
  for (const tagOffset of tagOffsets) {
    bytes.write(tag, offset + tagOffset, 'latin1');
  }
}
