// The lines of orders. A line is { assembly, quantity, price }, with the price of a piece in cents; a request has lines
// without prices.

import { int, number } from '../shared/form.js';
import { Refused } from '../shared/refused.js';

const LINES_MAX = 5;
const PIECES_MAX_OF_SMALL = 50;
const WHOLE = 10_000; // hundredths of a per cent

export const QUANTITY_MAX = 1_000;

// Parses the lines of a request: pairs of an assembly and a quantity, like 12:3,80:10.
export function parseLines(text) {
  const pairs = text.split(',').map((pair) => pair.split(':'));
  if (pairs.length > LINES_MAX) {
    throw new Refused(400, `at most ${LINES_MAX} lines`);
  }
  return pairs.map((pair) => {
    if (pair.length !== 2) {
      throw new Refused(400, 'a line is ASSEMBLY:QUANTITY');
    }
    return { assembly: int(pair[0]), quantity: number(pair[1], 1, QUANTITY_MAX) };
  });
}

// The total of an order with these lines, in cents. The discount is in hundredths of a per cent.
export function totalOf(lines, discount) {
  const value = lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0);
  return Math.floor((value * (WHOLE - discount) + WHOLE / 2) / WHOLE);
}

// Whether an order with these lines is large, so that each line has a work order.
export function areLarge(lines) {
  return lines.reduce((sum, { quantity }) => sum + quantity, 0) > PIECES_MAX_OF_SMALL;
}
