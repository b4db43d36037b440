// The tables of docs/reference/orders.md, which the audit reads, and their first contents.

import { populationTable } from '../shared/schema.js';
import { Table } from '../shared/table.js';

// Customers whose rows are inserted at once, which limits the memory of a load.
const BATCH = 1_000;

const POPULATION = populationTable('order_population', ['rate']);
const CUSTOMERS = new Table('customers', ['customer_id INT', 'discount INT', 'credit_limit BIGINT', 'owed BIGINT']);
const ORDERS = new Table('orders', [
  'id BIGINT', 'customer_id INT', 'is_cancelled BOOLEAN', 'is_large BOOLEAN', 'total BIGINT',
]);
export const ORDER_LINES = new Table(
  'order_lines',
  ['order_id BIGINT', 'line INT', 'assembly INT', 'quantity INT', 'price INT'],
  2,
);
const ASSEMBLIES = new Table('assemblies', ['assembly INT', 'price INT', 'ordered BIGINT', 'made BIGINT']);
const BILLS = new Table('bills', ['assembly INT', 'line INT', 'component INT', 'quantity INT'], 2);
const COMPONENTS = new Table('components', [
  'component INT', 'on_hand BIGINT', 'received BIGINT', 'consumed BIGINT', 'on_order BIGINT',
]);
const WORK_ORDERS = new Table('work_orders', [
  'id BIGINT', 'order_id BIGINT NULL', 'line INT NULL', 'assembly INT', 'quantity INT', 'state INT',
]);
const PURCHASES = new Table('purchases', ['id BIGINT', 'component INT', 'quantity INT', 'is_delivered BOOLEAN']);

// The schema with a population.
export function schemaOf(population) {
  const { seed, rate, customers } = population;
  return {
    seed,
    sizes: { rate },
    population: POPULATION,
    tables: [CUSTOMERS, ORDERS, ORDER_LINES, ASSEMBLIES, BILLS, COMPONENTS, WORK_ORDERS, PURCHASES],
    sequences: { order_ids: customers, work_order_ids: 0, purchase_ids: 0 },
    contents: () => contents(population),
    indexes: [
      'CREATE INDEX orders_of_customer ON orders (customer_id, id)',
      'CREATE INDEX open_purchases ON purchases (component) WHERE NOT is_delivered',
    ],
  };
}

// The rows of customers and their first orders, whose ids are those of the customers; then those of all else.
function* contents(population) {
  const ordered = new Array(population.assemblies).fill(0);
  for (let begin = 0; begin < population.customers; begin += BATCH) {
    const customers = [];
    const orders = [];
    const lines = [];
    for (let customer = begin; customer < Math.min(begin + BATCH, population.customers); customer++) {
      const first = population.customer(customer);
      customers.push([customer, first.discount, first.limit, first.total]);
      orders.push([customer, customer, false, false, first.total]);
      first.lines.forEach(({ assembly, quantity, price }, line) => {
        lines.push([customer, line, assembly, quantity, price]);
        ordered[assembly] += quantity;
      });
    }
    yield [CUSTOMERS, customers];
    yield [ORDERS, orders];
    yield [ORDER_LINES, lines];
  }
  const assemblies = ordered.map((quantity, assembly) => ({ quantity, ...population.assembly(assembly) }));
  yield [ASSEMBLIES, assemblies.map(({ price, quantity }, assembly) => [assembly, price, quantity, 0])];
  const bills = assemblies.map(({ bill }) => bill);
  const partsOf = (bill, assembly) => bill.map(({ component, quantity }, line) => [assembly, line, component, quantity]);
  yield [BILLS, bills.flatMap(partsOf)];
  const components = Array.from({ length: population.components }, (_, component) => component);
  yield [COMPONENTS, components.map((component) => [component, population.onHand(component), 0, 0, 0])];
}
