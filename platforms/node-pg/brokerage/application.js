// Workload trade.

import { prepare } from '../shared/schema.js';
import { Accounts } from './accounts.js';
import { Market } from './market.js';
import { Orders } from './orders.js';
import { Population } from './population.js';
import { schemaOf } from './schema.js';
import { TradeTargets } from './targets.js';

// Opens the brokerage on a database. Resolves to the targets of its Site; rejects with StartupError.
export async function openBrokerage(database, { seed, users, quotes, loads }) {
  const population = new Population(seed, users, quotes);
  await prepare(database, schemaOf(population), loads);
  const parts = {
    accounts: new Accounts(database),
    market: new Market(database),
    orders: new Orders(database, population),
  };
  return new TradeTargets(parts, quotes);
}
