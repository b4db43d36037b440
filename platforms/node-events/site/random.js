// Numbers that are a function of a seed: SplitMix64. Seeds and outputs are BigInts. These are slow, so nothing that a
// request needs again is computed twice.

const STEP = 0x9e3779b97f4a7c15n;

const u64 = (number) => BigInt.asUintN(64, number);

// The parts of the workload that draw from a seed. Each has a sequence of its own.
export const TEXT = 1;
export const FILES = 2;
export const USERS = 3;
export const ADS = 4;

// Output number index, from 0, of a SplitMix64 generator with this seed.
export function output(seed, index) {
  let z = u64(seed + (BigInt(index) + 1n) * STEP);
  z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

export function partSeed(seed, part) {
  return output(seed, part);
}

// The upper 32 bits of an output as a number.
export function upper(bits) {
  return Number(bits >> 32n);
}

// Scales 32 random bits to a number below limit, which has at most 21 bits: then the product is exact.
export function scale(bits, limit) {
  return Math.floor((bits * limit) / 2 ** 32);
}
