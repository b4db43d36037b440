// The first state of every account and quote, and all prices, as functions of a seed. Amounts are in cents.

export const FEE = 2_495;
export const HOLDINGS_MAX = 10;

const USER_ZERO_BALANCE = 100_000_000;
const PART_USERS = 9;
const PART_QUOTES = 10;
const PART_CHANGES = 11;
const STEP = 0x9e3779b97f4a7c15n;

const u64 = (number) => BigInt.asUintN(64, number);

// Output number index, from 0, of SplitMix64 with this seed.
function output(seed, index) {
  let z = u64(seed + (BigInt(index) + 1n) * STEP);
  z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

// Scales the upper half of 64 bits to a number below limit.
const below = (bits, limit) => Number(((bits >> 32n) * BigInt(limit)) >> 32n);

export class Population {
  #changeSeeds = new Map();

  // The seed is a BigInt.
  constructor(seed, users, quotes) {
    this.seed = seed;
    this.users = users;
    this.quotes = quotes;
  }

  // The first price of a quote.
  open(symbol) {
    return 100 + below(output(output(output(this.seed, PART_QUOTES), symbol), 0), 19_901);
  }

  // The user with this number: { openBalance, balance, holdings }.
  user(user) {
    const seed = output(output(this.seed, PART_USERS), user);
    let draws = 0;
    const draw = (limit) => below(output(seed, draws++), limit);
    const drawn = 20_000_000 + draw(10_000_001);
    const openBalance = user === 0 ? USER_ZERO_BALANCE : drawn;
    let balance = openBalance;
    const count = draw(HOLDINGS_MAX + 1);
    const holdings = [];
    for (let i = 0; i < count; i++) {
      const symbol = draw(this.quotes);
      const holding = { holding: user * HOLDINGS_MAX + i, symbol, quantity: 1 + draw(200), paid: this.open(symbol) };
      balance -= cost(holding) + FEE;
      holdings.push(holding);
    }
    return { openBalance, balance, holdings };
  }

  // The price of a quote after its change number changes, from 0, of this price.
  next(symbol, changes, price) {
    let seed = this.#changeSeeds.get(symbol);
    if (seed === undefined) {
      seed = output(output(this.seed, PART_CHANGES), symbol);
      this.#changeSeeds.set(symbol, seed);
    }
    return nextPrice(price, below(output(seed, changes), 21));
  }
}

// What was paid for a holding.
export function cost({ quantity, paid }) {
  return quantity * paid;
}

export function nextPrice(price, draw) {
  if (price === 1) {
    return 600;
  }
  return price > 40_000 ? Math.ceil(price / 2) : Math.floor((price * (90 + draw) + 50) / 100);
}

// What is stored about a person without updates.
export function firstProfile(user) {
  return { name: `User ${user}`, address: `0 Street ${user}`, email: `${user}.0@klatch`, card: `card-${user}-0` };
}
