// The vectors that all implementations of the protocol have in common. Text is one character for each byte.

import { readdirSync, readFileSync } from 'node:fs';

const VECTORS = new URL('../../../vectors/', import.meta.url);

// The characters of a string as its bytes in UTF-8.
export function bytes(text) {
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function readJson(file) {
  return JSON.parse(readFileSync(new URL(file, VECTORS), 'utf8'));
}

// Gives [name, script] pairs.
export function readDialogues() {
  const folder = new URL('dialogues/', VECTORS);
  return readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'latin1')]);
}

const ESCAPES = { r: '\r', n: '\n', 0: '\0', '\\': '\\' };

// What a text with escapes stands for.
export function unescape(text) {
  return text.replace(/\\(x[0-9a-fA-F]{2}|[^]?)/g, (all, escape) => {
    const meant = escape.length === 3 ? String.fromCharCode(parseInt(escape.slice(1), 16)) : ESCAPES[escape];
    if (meant === undefined) {
      throw new Error(`an escape that vectors/README.md does not know: ${all}`);
    }
    return meant;
  });
}
