// The requests of workload trade.

import { number, parseForm, text } from './form.js';
import { cost } from './population.js';
import { Refused, noQuote } from './refused.js';

const ROOT = '/trade/';
const BODY_MAX = 64 * 1024;
const ORDERS_SHOWN = 5;
const QUOTES_MAX = 10;
const SYMBOL_MAX = 2 ** 31 - 1;
const NUMBER_MAX = Number.MAX_SAFE_INTEGER;

export class Site {
  #accounts;
  #orders;
  #market;
  #quotes;
  #gets;
  #posts;

  constructor(database, quotes) {
    this.#accounts = database.accounts;
    this.#orders = database.orders;
    this.#market = database.market;
    this.#quotes = quotes;
    this.#gets = new Map([
      ['home', ({ headers }) => this.#home(userOf(headers))],
      ['quotes', ({ headers }, query) => this.#showQuotes(userOf(headers), query)],
      ['account', ({ headers }) => this.#account(userOf(headers))],
      ['portfolio', ({ headers }) => this.#portfolio(userOf(headers))],
      ['statistics', () => ({ body: database.statistics() })],
    ]);
    this.#posts = new Map([
      ['login', (_, body) => this.#login(body)],
      ['logout', async ({ headers }) => ({ body: await this.#accounts.logout(userOf(headers)), cookie: 'user=' })],
      ['register', (_, body) => this.#register(body)],
      ['update', ({ headers }, body) => this.#update(userOf(headers), body)],
      ['buy', ({ headers }, body) => this.#buy(userOf(headers), body)],
      ['sell', ({ headers }, body) => this.#sell(userOf(headers), body)],
    ]);
  }

  // Replies to a request. Never rejects.
  async serve(request, response) {
    let status = 200;
    let reply;
    try {
      reply = await this.reply(request, await readBody(request));
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused(500, `the database failed: ${plain(error.message)}`);
      status = refused.status;
      reply = { body: { error: refused.message } };
    }
    const body = JSON.stringify(reply.body);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    if (reply.cookie !== undefined) {
      headers['Set-Cookie'] = reply.cookie;
    }
    response.writeHead(status, headers).end(body);
  }

  // Resolves to { body, cookie }, or rejects.
  async reply(request, body) {
    const [path, query = ''] = request.url.split('?', 2);
    const name = path.startsWith(ROOT) ? path.slice(ROOT.length) : '';
    const get = this.#gets.get(name);
    const post = this.#posts.get(name);
    if (!get && !post) {
      throw new Refused(404, `there is no ${plain(path)}`);
    }
    if (get && request.method === 'GET') {
      return get(request, query);
    }
    if (post && request.method === 'POST') {
      return post(request, body);
    }
    throw new Refused(405, `${name} has another method`);
  }

  #existing(digits) {
    const symbol = number(digits, 0, SYMBOL_MAX);
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
    const body = await this.#accounts.login(number(user, 0, NUMBER_MAX), text(password));
    return { body, cookie: `user=${body.user}` };
  }

  async #register(form) {
    const [user, password, balance] = parseForm(form, 'user', 'password', 'balance');
    const amount = number(balance, 0, NUMBER_MAX);
    const body = await this.#accounts.register(number(user, 0, NUMBER_MAX), text(password), amount);
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
    return { body: await this.#orders.sell(user, number(holding, 0, NUMBER_MAX)) };
  }
}

async function readBody(request) {
  if (request.method !== 'POST') {
    return '';
  }
  let body = '';
  request.setEncoding('latin1');
  for await (const part of request) {
    body += part;
    if (body.length > BODY_MAX) {
      throw new Refused(400, 'the body is too long');
    }
  }
  return body;
}

// The user of the cookie.
function userOf({ cookie = '' }) {
  const value = cookie.split('; ').find((one) => one.startsWith('user='))?.slice('user='.length);
  if (!value) {
    throw new Refused(400, 'the cookie user is missing: log in first');
  }
  return number(value, 0, NUMBER_MAX);
}

// A text without what JSON would escape.
function plain(message) {
  return String(message).replace(/[^ -~]|["\\]/g, '?');
}
