// What a request asks for.

import { fit, USERS_MAX } from './ads.js';
import { parsePath } from './file.js';

export const DYNAMIC = '/dynamic';
export const CGI = '/cgi';
export const URL_ROOT = '/file_set/';
const FETCH = 'command/Fetch';
const RESET =
  /^command\/Reset&maxload=(\d+)&pttime=(-?\d+)&maxthread=(\d+)&exp=(-?\d+),(-?\d+)&urlroot=\/file_set\/$/;
// The largest time or distance in a Reset.
const SECONDS_MAX = 9_999_999_999;

// Parses a target, also if it has the absolute form of requests to a proxy. Returns undefined, or { kind, query } with
// kind 'file', 'page', 'cgi', 'form', 'reset' or 'fetch'. The first three have the index of their file, and reset has
// the options of the tables.
export function parseTarget(url) {
  const target = url.startsWith('http://') ? url.replace(/^http:\/\/[^/]*/, '') : url;
  const mark = target.indexOf('?');
  if (mark < 0) {
    return target === DYNAMIC ? { kind: 'form', query: '' } : withFile('file', target, '');
  }
  const path = target.slice(0, mark);
  const query = target.slice(mark + 1);
  if (path === CGI) {
    return withFile('cgi', query, query);
  }
  if (path !== DYNAMIC) {
    return undefined;
  }
  if (query === FETCH) {
    return { kind: 'fetch', query };
  }
  return query.startsWith('command/') ? parseReset(query) : withFile('page', query, query);
}

function withFile(kind, path, query) {
  const index = parsePath(path);
  return index < 0 ? undefined : { kind, query, index };
}

function parseReset(query) {
  const [maxload, nowS, threads, early, late] = (RESET.exec(query) ?? []).slice(1).map(Number);
  const options = { users: maxload * threads, nowS, expiryS: [early, late] };
  const inRange = [nowS, early, late].every((seconds) => Math.abs(seconds) <= SECONDS_MAX);
  return inRange && threads <= USERS_MAX && maxload <= USERS_MAX && fit(options)
    ? { kind: 'reset', query, options }
    : undefined;
}

// Parses digits, and nothing else, to a number of at most max; NaN otherwise.
export function decimal(text, max) {
  const value = /^\d+$/.test(text) ? Number(text) : NaN;
  return value <= max ? value : NaN;
}
