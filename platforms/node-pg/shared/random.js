// Numbers from a seed, which is a BigInt of 64 bits.

const STEP = 0x9e3779b97f4a7c15n;

const u64 = (number) => BigInt.asUintN(64, number);

// Output number index, from 0, of SplitMix64 with this seed.
export function output(seed, index) {
  let z = u64(seed + (BigInt(index) + 1n) * STEP);
  z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

// Scales the upper half of 64 bits to a number below limit.
export const below = (bits, limit) => Number(((bits >> 32n) * BigInt(limit)) >> 32n);

// A sequence with a seed of its own.
export class Draws {
  #seed;
  #index = 0;

  // The sequence of the thing with this number. A part is a kind of things.
  constructor(seed, part, number) {
    this.#seed = output(output(seed, part), number);
  }

  // The next number, from 0 and below limit.
  below(limit) {
    this.#index += 1;
    return below(output(this.#seed, this.#index - 1), limit);
  }
}
