// Ids that a server takes at once from a sequence.
const BLOCK = 1_000;

// The statement that creates a sequence of ids.
export function createSequence(name, first) {
  return `CREATE SEQUENCE ${name} START WITH ${first} INCREMENT BY ${BLOCK} MINVALUE 0`;
}

// Ids from a sequence of the database, taken in blocks.
export class Ids {
  #sequence;
  #next = 0;
  #end = 0;

  constructor(sequence) {
    this.#sequence = sequence;
  }

  // The next id. A block is lost if the transaction fails, which does no harm.
  async next(query) {
    if (this.#next === this.#end) {
      const [{ first }] = await query('SELECT nextval($1::text::regclass) AS first', this.#sequence);
      // Another transaction may have taken a block meanwhile; the rest of that one is lost.
      this.#next = first;
      this.#end = first + BLOCK;
    }
    this.#next += 1;
    return this.#next - 1;
  }
}
