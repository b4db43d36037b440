import { test } from 'node:test';
import { TradeTargets } from '../brokerage/targets.js';
import { areRefused } from './refusals.js';

// A database that can do nothing, so a request that reaches it fails with status 500.
const REFUSALS = [
  ['GET', '/trade/hom', '', '', 404, 'there is no /trade/hom'],
  ['GET', '/home', '', '', 404, 'there is no /home'],
  ['POST', '/trade/home', '', '', 405, 'home has another method'],
  ['GET', '/trade/buy', 'user=1', '', 405, 'buy has another method'],
  ['DELETE', '/trade/buy', 'user=1', '', 405, 'buy has another method'],
  ['GET', '/trade/home', '', '', 400, 'the cookie user is missing: log in first'],
  ['GET', '/trade/home', 'user=', '', 400, 'the cookie user is missing: log in first'],
  ['POST', '/trade/sell', 'user=+1', 'holding=3', 400, 'a number from 0 to 9007199254740991 is needed'],
  ['POST', '/trade/buy', 'user=1', 'symbol=3', 400, 'the request must have the fields symbol, quantity'],
  ['POST', '/trade/buy', 'user=1', 'symbol=40&quantity=1', 404, 'there is no quote 40'],
  ['POST', '/trade/buy', 'user=1', 'symbol=3&quantity=0', 400, 'a number from 1 to 200 is needed'],
  ['POST', '/trade/buy', 'user=1', 'symbol=3&quantity=201', 400, 'a number from 1 to 200 is needed'],
  ['POST', '/trade/login', '', 'user=1&password="', 400, 'a field has more than plain text'],
  ['POST', '/trade/update', 'user=1', 'email=x&address=y&card=z', 400, 'the request must have the fields address, email, card'],
  ['POST', '/trade/login', '', 'x'.repeat(70_000), 400, 'the body is too long'],
  ['GET', '/trade/quotes?symbols=1,2,3,4,5,6,7,8,9,10,11', 'user=1', '', 400, 'at most 10 symbols'],
  ['GET', '/trade/quotes?symbols=1,,2', 'user=1', '', 400, 'a number from 0 to 2147483647 is needed'],
];

test('requests that cannot be carried out are refused', async () => {
  await areRefused(new TradeTargets({ accounts: {}, orders: {}, market: {} }, 40), REFUSALS);
});
