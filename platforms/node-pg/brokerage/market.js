// Quotes, and those that moved most.

import { noQuote } from './refused.js';

const AGE_MAX_MS = 20_000;
const MOST_MOVED = 5;
const QUOTE = 'SELECT symbol, price, opened AS open, changes, volume FROM quotes';

export class Market {
  #database;
  #top; // undefined before the first
  #readMs = 0;
  #isRead = false;

  constructor(database) {
    this.#database = database;
  }

  // Quotes in the order of these symbols.
  quotes(symbols) {
    return this.#database.onConnection(async (query) => {
      const quotes = [];
      for (const symbol of symbols) {
        const [row] = await query(`${QUOTE} WHERE symbol = $1`, symbol);
        if (!row) {
          throw noQuote(symbol);
        }
        quotes.push(row);
      }
      return quotes;
    });
  }

  // { gainers, losers }, at most 20 s old. One request reads them again, and the others use the old ones meanwhile.
  async top() {
    if (this.#top && (this.#isRead || performance.now() - this.#readMs < AGE_MAX_MS)) {
      return this.#top;
    }
    this.#isRead = true;
    try {
      const readMs = performance.now();
      const moved = (direction) => `${QUOTE} ORDER BY price - opened ${direction} LIMIT ${MOST_MOVED}`;
      this.#top = await this.#database.onConnection(async (query) => ({
        gainers: await query(moved('DESC')),
        losers: await query(moved('ASC')),
      }));
      this.#readMs = readMs;
    } finally {
      this.#isRead = false;
    }
    return this.#top;
  }
}
