import { Refused } from './refused.js';

const TEXT_MAX = 100;

// Parses a form that has exactly these fields, in this order and without escapes. Returns their values.
export function parseForm(body, ...names) {
  const fields = body.split('&');
  const matches = fields.length === names.length && fields.every((field, i) => field.startsWith(`${names[i]}=`));
  if (!matches) {
    throw new Refused(400, `the request must have the fields ${names.join(', ')}`);
  }
  return fields.map((field, i) => field.slice(names[i].length + 1));
}

// Returns a text that has no character that JSON would escape.
export function text(value) {
  if (value.length > TEXT_MAX || !/^[ !#-[\]-~]*$/.test(value)) {
    throw new Refused(400, 'a field has more than plain text');
  }
  return value;
}

// Parses a number from least to most, which must be a safe integer.
export function number(digits, least, most) {
  const value = /^\d+$/.test(digits) ? Number(digits) : NaN;
  if (!(value >= least && value <= most)) {
    throw new Refused(400, `a number from ${least} to ${most} is needed`);
  }
  return value;
}

// Parses a number from 0 that a column of type INT has room for.
export function int(digits) {
  return number(digits, 0, 2 ** 31 - 1);
}

// Parses a number from 0 of a column of type BIGINT, such as an id.
export function bigint(digits) {
  return number(digits, 0, Number.MAX_SAFE_INTEGER);
}
