import { test } from 'node:test';
import { OrdersTargets } from '../company/targets.js';
import { areRefused } from './refusals.js';

const SIX_LINES = '0:1,0:1,0:1,0:1,0:1,0:1';

// There is no database, so a request that reached it would fail with status 500.
const REFUSALS = [
  ['GET', '/orders/newer', '', 404, 'there is no /orders/newer'],
  ['GET', '/orders', '', 404, 'there is no /orders'],
  ['GET', '/trade/home', '', 404, 'there is no /trade/home'],
  ['GET', '/orders/new', '', 405, 'new has another method'],
  ['PUT', '/orders/new', '', 405, 'new has another method'],
  ['POST', '/orders/order', '', 405, 'order has another method'],
  ['POST', '/orders/statistics', '', 405, 'statistics has another method'],
  ['GET', '/orders/order', '', 400, 'the request must have the fields customer, order'],
  ['GET', '/orders/order?customer=0', '', 400, 'the request must have the fields customer, order'],
  ['GET', '/orders/customer?customer=x', '', 400, 'a number from 0 to 2147483647 is needed'],
  ['GET', '/orders/customer?customer=2147483648', '', 400, 'a number from 0 to 2147483647 is needed'],
  ['GET', '/orders/purchases?supplier=1&of=1', '', 400, 'supplier must be below of'],
  ['GET', '/orders/purchases?supplier=0&of=0', '', 400, 'supplier must be below of'],
  ['POST', '/orders/new', 'lines=0:1&customer=0', 400, 'the request must have the fields customer, lines'],
  ['POST', '/orders/new', 'customer=0&lines=', 400, 'a line is ASSEMBLY:QUANTITY'],
  ['POST', '/orders/new', 'customer=0&lines=0', 400, 'a line is ASSEMBLY:QUANTITY'],
  ['POST', '/orders/new', 'customer=0&lines=0:1:1', 400, 'a line is ASSEMBLY:QUANTITY'],
  ['POST', '/orders/new', 'customer=0&lines=0:1,', 400, 'a line is ASSEMBLY:QUANTITY'],
  ['POST', '/orders/new', 'customer=0&lines=:1', 400, 'a number from 0 to 2147483647 is needed'],
  ['POST', '/orders/new', 'customer=0&lines=0:0', 400, 'a number from 1 to 1000 is needed'],
  ['POST', '/orders/new', 'customer=0&lines=0:1001', 400, 'a number from 1 to 1000 is needed'],
  ['POST', '/orders/new', `customer=0&lines=${SIX_LINES}`, 400, 'at most 5 lines'],
  ['POST', '/orders/change', 'customer=0&lines=0:1', 400, 'the request must have the fields customer, order, lines'],
  ['POST', '/orders/cancel', 'customer=0&order=-1', 400, 'a number from 0 to 9007199254740991 is needed'],
  ['POST', '/orders/plan', 'assembly=0&quantity=0', 400, 'a number from 1 to 1000 is needed'],
  ['POST', '/orders/schedule', '', 400, 'the request must have the fields work_order'],
  ['POST', '/orders/advance', 'work_order=1&state=1', 400, 'a number from 2 to 4 is needed'],
  ['POST', '/orders/advance', 'work_order=1&state=5', 400, 'a number from 2 to 4 is needed'],
  ['POST', '/orders/deliver', 'purchase=1e3', 400, 'a number from 0 to 9007199254740991 is needed'],
];

test('requests that cannot be carried out are refused', async () => {
  const requests = REFUSALS.map(([method, path, ...others]) => [method, path, '', ...others]);
  await areRefused(new OrdersTargets({ dealers: {}, factory: {}, stock: {} }), requests);
});
