// Splits received bytes into lines, by the rules in vectors/README.md. Inside the core, text is a latin1 string with one
// character for each byte, which preserves any bytes that a client sends.

// The longest line without its ending, in bytes.
export const CONTENT_MAX = 510;

const NUL = 0;
const LF = 10;
const CR = 13;

// Splits the bytes of one connection into lines.
export class Framer {
  #partial = '';
  #discarding = false;
  #dead = false;

  // Yields the events in a chunk: { line }, { tooLong: true } or { nul: true }. A line that is too long is discarded up
  // to its end; all input after a NUL is ignored.
  *events(chunk) {
    for (let start = 0; start < chunk.length && !this.#dead; ) {
      const end = findSpecial(chunk, start);
      if (!this.#discarding && this.#partial.length + end - start > CONTENT_MAX) {
        this.#partial = '';
        this.#discarding = true;
        yield { tooLong: true };
      }
      if (!this.#discarding) {
        this.#partial += chunk.toString('latin1', start, end);
      }
      if (end === chunk.length) {
        return;
      }
      start = end + 1;
      if (chunk[end] === NUL) {
        this.#dead = true;
        yield { nul: true };
      } else if (this.#discarding) {
        this.#discarding = false;
      } else if (this.#partial !== '') {
        const line = this.#partial;
        this.#partial = '';
        yield { line };
      }
    }
  }
}

// Returns the index of the first NUL, CR or LF from start on, or the length of the bytes.
function findSpecial(bytes, start) {
  let at = start;
  while (at < bytes.length && bytes[at] !== LF && bytes[at] !== CR && bytes[at] !== NUL) {
    at += 1;
  }
  return at;
}
