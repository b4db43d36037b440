// The first state of every customer, assembly and component, as functions of a seed. Amounts are in cents.

import { Draws } from '../shared/random.js';
import { totalOf } from './lines.js';

const PART_CUSTOMERS = 13;
const PART_ASSEMBLIES = 14;
const PART_COMPONENTS = 15;
const PART_FIRST_ORDERS = 16;
const COMPONENTS_OF_BILL = 5;
const LIMIT_OF_MOST = 1_000_000_000;

export class Population {
  #prices = [];

  // The seed is a BigInt, the rate the injection rate, 1 to 10,000.
  constructor(seed, rate) {
    this.seed = seed;
    this.rate = rate;
    this.customers = 75 * rate;
    this.assemblies = 100 * Math.ceil(rate / 100);
    this.components = 5 * this.assemblies;
  }

  // The assembly with this number: { price, bill }, whose bill is the [{ component, quantity }] of one piece.
  assembly(assembly) {
    const draws = new Draws(this.seed, PART_ASSEMBLIES, assembly);
    const price = priceOf(draws);
    const first = draws.below(this.components);
    const step = 1 + draws.below(this.components / COMPONENTS_OF_BILL - 1);
    const bill = Array.from({ length: COMPONENTS_OF_BILL }, (_, i) => {
      const component = (first + i * step) % this.components;
      return { component, quantity: 1 + draws.below(3) };
    });
    return { price, bill };
  }

  // The pieces of a component that are on hand.
  onHand(component) {
    return 1_000 + new Draws(this.seed, PART_COMPONENTS, component).below(200);
  }

  // The customer with this number: { discount, limit, total, lines }, with the total and the lines of its first order.
  // The discount is in hundredths of a per cent.
  customer(customer) {
    const lines = this.#firstLines(customer);
    const draws = new Draws(this.seed, PART_CUSTOMERS, customer);
    const discount = draws.below(2_001);
    const kind = draws.below(10);
    const total = totalOf(lines, discount);
    const limit = kind === 0 ? total + draws.below(200_001) : LIMIT_OF_MOST;
    return { discount, limit, total, lines };
  }

  #firstLines(customer) {
    const draws = new Draws(this.seed, PART_FIRST_ORDERS, customer);
    return Array.from({ length: 1 + draws.below(5) }, () => {
      const assembly = draws.below(this.assemblies);
      return { assembly, quantity: 1 + draws.below(10), price: this.#price(assembly) };
    });
  }

  #price(assembly) {
    this.#prices[assembly] ??= priceOf(new Draws(this.seed, PART_ASSEMBLIES, assembly));
    return this.#prices[assembly];
  }
}

// The price of an assembly is the first draw of its sequence.
function priceOf(draws) {
  return 1_000 + draws.below(9_001);
}
