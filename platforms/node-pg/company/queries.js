// What customers and their orders are. Each is one statement, so it reads one state of the database.

import { Refused } from '../shared/refused.js';

const ORDERS_SHOWN = 10;

const ORDER = `SELECT o.is_cancelled, o.is_large, o.total, l.assembly, l.quantity, l.price
  FROM orders o JOIN order_lines l ON l.order_id = o.id WHERE o.id = $1 AND o.customer_id = $2 ORDER BY l.line`;
const CUSTOMER = `SELECT c.discount, c.credit_limit, c.owed, o.id, o.is_cancelled, o.total
  FROM customers c JOIN orders o ON o.customer_id = c.customer_id
  WHERE c.customer_id = $1 ORDER BY o.id DESC FETCH FIRST $2 ROWS ONLY`;

export const unknownCustomer = (customer) => new Refused(404, `there is no customer ${customer}`);
export const unknownAssembly = (assembly) => new Refused(404, `there is no assembly ${assembly}`);

const statusOf = ({ is_cancelled: isCancelled }) => (isCancelled ? 'cancelled' : 'open');

// An order of a customer, as replies show it.
export async function queryOrder(query, customer, order) {
  const rows = await query(ORDER, order, customer);
  if (rows.length === 0) {
    throw new Refused(404, `customer ${customer} has no order ${order}`);
  }
  const [{ is_large: large, total }] = rows;
  const lines = rows.map(({ assembly, quantity, price }) => ({ assembly, quantity, price }));
  return { order, customer, status: statusOf(rows[0]), large, total, lines };
}

// A customer and its orders with the highest ids, highest first, as replies show them.
export async function queryCustomer(query, customer) {
  const rows = await query(CUSTOMER, customer, ORDERS_SHOWN);
  if (rows.length === 0) {
    throw unknownCustomer(customer);
  }
  const [{ discount, credit_limit: limit, owed }] = rows;
  const orders = rows.map((row) => ({ order: row.id, status: statusOf(row), total: row.total }));
  return { customer, discount, limit, owed, orders };
}
