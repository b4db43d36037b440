// What a user sends: a cookie, and the form of a POST.

import { FIRST_USER } from './ads.js';
import { ADS_COUNT } from './content.js';
import { CLASSES, DIRECTORIES_MAX, fileIndex, FILES_PER_CLASS } from './file.js';
import { decimal, URL_ROOT } from './target.js';

const U32_MAX = 2 ** 32 - 1;
const COOKIE = /^user_id=(\d+)&last_ad=(\d+)$/;
const FIELDS = ['urlroot', 'dir', 'class', 'num', 'client'];

// Parses the value of the header Cookie, in which other cookies may precede or follow. Returns { user, lastAd }, with
// users from 0; undefined if there is no such cookie, and null if it is malformed.
export function parseCookie(header = '') {
  const cookie = header
    .split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith('my_cookie='));
  return cookie && parseCookieValue(cookie.slice('my_cookie='.length));
}

function parseCookieValue(value) {
  const [, user, lastAd] = COOKIE.exec(value) ?? [];
  const cookie = { user: decimal(user, U32_MAX) - FIRST_USER, lastAd: decimal(lastAd, ADS_COUNT - 1) };
  return cookie.user >= 0 && cookie.lastAd >= 0 ? cookie : null;
}

// Parses a form whose fields are in any order, each of them once. Returns { index, client }, or null.
export function parseForm(body) {
  const values = new Map();
  for (const field of body.split('&')) {
    const equals = field.indexOf('=');
    const name = field.slice(0, Math.max(equals, 0));
    if (!FIELDS.includes(name) || values.has(name)) {
      return null;
    }
    values.set(name, field.slice(equals + 1));
  }
  const index = fileIndex(
    decimal(values.get('dir'), DIRECTORIES_MAX),
    decimal(values.get('class'), CLASSES),
    decimal(values.get('num'), FILES_PER_CLASS),
  );
  const client = decimal(values.get('client'), U32_MAX);
  return index >= 0 && client >= 0 && values.get('urlroot') === URL_ROOT ? { index, client } : null;
}
