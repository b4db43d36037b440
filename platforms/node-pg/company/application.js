// Workload orders.

import { Ids } from '../shared/ids.js';
import { prepare } from '../shared/schema.js';
import { Dealers } from './dealers.js';
import { Factory } from './factory.js';
import { Population } from './population.js';
import { schemaOf } from './schema.js';
import { Stock } from './stock.js';
import { OrdersTargets } from './targets.js';

// Opens the company on a database. Resolves to the targets of its Site; rejects with StartupError.
export async function openCompany(database, { seed, rate, loads }) {
  await prepare(database, schemaOf(new Population(seed, rate)), loads);
  const workOrderIds = new Ids('work_order_ids'); // dealers and factory share them
  const stock = new Stock(database);
  return new OrdersTargets({
    dealers: new Dealers(database, workOrderIds),
    factory: new Factory(database, workOrderIds, stock),
    stock,
  });
}
