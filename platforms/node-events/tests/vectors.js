// The test vectors of all implementations of the protocol. Text has one character for each byte.

import { readdirSync, readFileSync } from 'node:fs';

const VECTORS = new URL('../../../vectors/', import.meta.url);

// Encodes a string in UTF-8, with one character for each byte.
export function bytes(text) {
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function readJson(file) {
  return JSON.parse(readFileSync(new URL(file, VECTORS), 'utf8'));
}

// Returns [name, script] pairs.
export function readDialogues() {
  const folder = new URL('dialogues/', VECTORS);
  return readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'latin1')]);
}

const ESCAPES = { r: '\r', n: '\n', 0: '\0', '\\': '\\' };

// Replaces the escapes in a text.
export function unescape(text) {
  return text.replace(/\\(x[0-9a-fA-F]{2}|[^]?)/g, (all, escape) => {
    const character = escape.length === 3 ? String.fromCharCode(parseInt(escape.slice(1), 16)) : ESCAPES[escape];
    if (character === undefined) {
      throw new Error(`escape is not in vectors/README.md: ${all}`);
    }
    return character;
  });
}
