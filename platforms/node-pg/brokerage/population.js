// The first state of every account and quote, and all prices, as functions of a seed. Amounts are in cents.

import { below, Draws, output } from '../shared/random.js';

export const FEE = 2_495;
export const HOLDINGS_MAX = 10;

const USER_ZERO_BALANCE = 100_000_000;
const PART_USERS = 9;
const PART_QUOTES = 10;
const PART_CHANGES = 11;

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
    return 100 + new Draws(this.seed, PART_QUOTES, symbol).below(19_901);
  }

  // The user with this number: { openBalance, balance, holdings }.
  user(user) {
    const draws = new Draws(this.seed, PART_USERS, user);
    const drawn = 20_000_000 + draws.below(10_000_001);
    const openBalance = user === 0 ? USER_ZERO_BALANCE : drawn;
    let balance = openBalance;
    const count = draws.below(HOLDINGS_MAX + 1);
    const holdings = [];
    for (let i = 0; i < count; i++) {
      const symbol = draws.below(this.quotes);
      const holding = { holding: user * HOLDINGS_MAX + i, symbol, quantity: 1 + draws.below(200), paid: this.open(symbol) };
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
