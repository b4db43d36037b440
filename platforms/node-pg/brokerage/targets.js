// The requests of workload trade, whose sessions are the cookie user.

import { bigint, int, number, parseForm, text } from '../shared/form.js';
import { Refused } from '../shared/refused.js';
import { cost } from './population.js';
import { noQuote } from './refused.js';

const ORDERS_SHOWN = 5;
const QUOTES_MAX = 10;

export class TradeTargets {
  root = '/trade/';
  gets = new Map([
    ['home', (_, request) => this.#home(userOf(request))],
    ['quotes', (query, request) => this.#showQuotes(userOf(request), query)],
    ['account', (_, request) => this.#account(userOf(request))],
    ['portfolio', (_, request) => this.#portfolio(userOf(request))],
  ]);
  posts = new Map([
    ['login', (form) => this.#login(form)],
    ['logout', async (_, request) => ({ body: await this.#accounts.logout(userOf(request)), cookie: 'user=' })],
    ['register', (form) => this.#register(form)],
    ['update', (form, request) => this.#update(userOf(request), form)],
    ['buy', (form, request) => this.#buy(userOf(request), form)],
    ['sell', (form, request) => this.#sell(userOf(request), form)],
  ]);
  #accounts;
  #market;
  #orders;
  #quotes;

  // There are quotes 0 to quotes - 1.
  constructor({ accounts, market, orders }, quotes) {
    this.#accounts = accounts;
    this.#market = market;
    this.#orders = orders;
    this.#quotes = quotes;
  }

  #existing(digits) {
    const symbol = int(digits);
    if (symbol >= this.#quotes) {
      throw noQuote(symbol);
    }
    return symbol;
  }

  async #home(user) {
    const holdings = await this.#accounts.holdings(user);
    const market = await this.#market.top();
    const account = await this.#accounts.account(user);
    const total = holdings.reduce((sum, holding) => sum + cost(holding), 0);
    return { body: { account, holdings: holdings.length, cost: total, market } };
  }

  async #showQuotes(_user, query) {
    const digits = parseForm(query, 'symbols')[0].split(',');
    if (digits.length > QUOTES_MAX) {
      throw new Refused(400, `at most ${QUOTES_MAX} symbols`);
    }
    return { body: { quotes: await this.#market.quotes(digits.map((symbol) => this.#existing(symbol))) } };
  }

  async #account(user) {
    const account = await this.#accounts.account(user);
    const profile = await this.#accounts.profile(user);
    return { body: { account, profile, orders: await this.#accounts.lastOrders(user, ORDERS_SHOWN) } };
  }

  async #portfolio(user) {
    const holdings = await this.#accounts.holdings(user);
    const quotes = await this.#market.quotes([...new Set(holdings.map(({ symbol }) => symbol))]);
    const now = new Map(quotes.map((quote) => [quote.symbol, quote]));
    const shown = holdings.map((holding) => {
      const { price, changes } = now.get(holding.symbol);
      return { ...holding, price, changes };
    });
    return { body: { holdings: shown } };
  }

  async #login(form) {
    const [user, password] = parseForm(form, 'user', 'password');
    const body = await this.#accounts.login(bigint(user), text(password));
    return { body, cookie: `user=${body.user}` };
  }

  async #register(form) {
    const [user, password, balance] = parseForm(form, 'user', 'password', 'balance');
    const amount = bigint(balance);
    const body = await this.#accounts.register(bigint(user), text(password), amount);
    return { body, cookie: `user=${body.user}` };
  }

  async #update(user, form) {
    const fields = parseForm(form, 'address', 'email', 'card').map(text);
    return { body: await this.#accounts.update(user, ...fields) };
  }

  async #buy(user, form) {
    const [symbol, quantity] = parseForm(form, 'symbol', 'quantity');
    return { body: await this.#orders.buy(user, this.#existing(symbol), number(quantity, 1, 200)) };
  }

  async #sell(user, form) {
    const [holding] = parseForm(form, 'holding');
    return { body: await this.#orders.sell(user, bigint(holding)) };
  }
}

// The user of the cookie.
function userOf({ headers: { cookie = '' } }) {
  const value = cookie.split('; ').find((one) => one.startsWith('user='))?.slice('user='.length);
  if (!value) {
    throw new Refused(400, 'the cookie user is missing: log in first');
  }
  return bigint(value);
}
