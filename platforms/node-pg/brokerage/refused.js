import { Refused } from '../shared/refused.js';

export const unknownUser = (user) => new Refused(401, `user ${user} is unknown`);
export const noQuote = (symbol) => new Refused(404, `there is no quote ${symbol}`);
