// The parsers and the search for an ad, without a connection.

import assert from 'node:assert/strict';
import test from 'node:test';
import { AdTables, weigh } from '../site/ads.js';
import { fileIndex, parsePath, pathOf } from '../site/file.js';
import { parseCookie, parseForm } from '../site/form.js';
import { parseTarget } from '../site/target.js';

const INDEX = fileIndex(12, 1, 3);
const PATH = '/file_set/dir00012/class1_3';
const RESET = 'command/Reset&maxload=5000&pttime=1700000000&maxthread=2&exp=-86400,86400&urlroot=/file_set/';

test('another byte in a path makes another file or none', () => {
  for (let at = 0; at < PATH.length; at += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const path = PATH.slice(0, at) + String.fromCharCode(byte) + PATH.slice(at + 1);
      const index = parsePath(path);
      assert.equal(index === INDEX, path === PATH, path);
      assert.ok(index < 0 || pathOf(index) === path);
    }
  }
  assert.equal(parsePath(`${PATH}\n`), -1);
});

test('targets are parsed', () => {
  const options = { users: 10_000, nowS: 1_700_000_000, expiryS: [-86_400, 86_400] };
  for (const [url, expected] of [
    [PATH, { kind: 'file', query: '', index: INDEX }],
    [`http://h:80${PATH}`, { kind: 'file', query: '', index: INDEX }],
    [`/dynamic?${PATH}`, { kind: 'page', query: PATH, index: INDEX }],
    [`/cgi?${PATH}`, { kind: 'cgi', query: PATH, index: INDEX }],
    ['/dynamic', { kind: 'form', query: '' }],
    ['/dynamic?command/Fetch', { kind: 'fetch', query: 'command/Fetch' }],
    [`/dynamic?${RESET}`, { kind: 'reset', query: RESET, options }],
  ]) {
    assert.deepEqual(parseTarget(url), expected, url);
  }
});

test('other targets are none', () => {
  const wrong = [
    ...['', '*', '/', 'http://h', '/dynamic?', '/dynamic?/file_set/dir00012/class1_9', '/dynamic?command/', '/cgi'],
    ...['/dynamic?command/Fetch&', '/cgi?command/Fetch', `${PATH}?`, '/file_set/dir00012/', '/dynamic?command/Reset'],
  ];
  for (const [right, changed] of [
    ['maxload=5000', 'maxload=0'],
    ['maxload=5000', 'maxload=50001'],
    ['maxload=5000', 'maxload=+5'],
    ['maxthread=2', 'maxthread=21'],
    ['maxthread=2', 'maxthread='],
    ['urlroot=/file_set/', 'urlroot=/'],
    ['urlroot=/file_set/', 'urlroot=/file_set/&'],
    ['pttime=1700000000', 'pttime=86399'],
    ['pttime=1700000000', 'pttime=99999999999'],
    ['exp=-86400', 'exp=--86400'],
    ['exp=-86400,', 'exp=-86400'],
    ['&pttime', '&x=1&pttime'],
  ]) {
    assert.ok(RESET.includes(right));
    wrong.push(`/dynamic?${RESET.replace(right, changed)}`);
  }
  wrong.forEach((url) => assert.equal(parseTarget(url), undefined, url));
});

test('cookies are found between others', () => {
  for (const [header, expected] of [
    ['my_cookie=user_id=10007&last_ad=359', { user: 7, lastAd: 359 }],
    ['a=b; my_cookie=user_id=10000&last_ad=0 ; c=d', { user: 0, lastAd: 0 }],
    ['my_cookie=user_id=4294967295&last_ad=1', { user: 4_294_957_295, lastAd: 1 }],
    ['my_cookie=user_id=10001&last_ad=1; my_cookie=wrong', { user: 1, lastAd: 1 }],
    [undefined, undefined],
    ['a=b; not_my_cookie=1', undefined],
    ['my_cookies=1', undefined],
    ['my_cookie=', null],
    ['my_cookie=user_id=9999&last_ad=1', null],
    ['my_cookie=user_id=10000&last_ad=360', null],
    ['my_cookie=user_id=10000', null],
    ['my_cookie=user_id=1x&last_ad=1', null],
    ['my_cookie=user_id=4294967296&last_ad=1', null],
  ]) {
    assert.deepEqual(parseCookie(header), expected, header);
  }
});

test('forms are parsed in any order', () => {
  const right = 'urlroot=/file_set/&dir=12&class=1&num=3&client=42';
  for (const body of [right, 'client=42&num=3&class=1&dir=00012&urlroot=/file_set/']) {
    assert.deepEqual(parseForm(body), { index: INDEX, client: 42 });
  }
  for (const [part, changed] of [
    [right, ''],
    ['&client=42', ''],
    ['client=42', 'client=42&'],
    ['client=42', 'client=42&client=42'],
    ['client=42', 'client=42&x=y'],
    ['client=42', 'x=y'],
    ['client=42', 'client=4294967296'],
    ['dir=12', 'dir=100000'],
    ['dir=12', 'dir='],
    ['class=1', 'class=257'],
    ['class=1', 'class=4'],
    ['num=3', 'num=9'],
    ['num=3', 'num=-3'],
    ['/file_set/', '/'],
  ]) {
    const wrong = right.replace(part, changed);
    assert.equal(parseForm(wrong), null, wrong);
  }
});

// Tables with one user who has all characteristics.
function handMade(change) {
  const tables = new AdTables(1n, { users: 1, nowS: 50, expiryS: [0, 0] });
  tables.users[0] = 0x3fffffff;
  tables.ads = tables.ads.map((_, number) => ({
    ...{ demographics: 0, weights: [1, 2, 3, 4, 5], minimum: 1, expiresS: 50 },
    ...change(number),
  }));
  return tables;
}

test('the search begins after the last ad and leaves it out', () => {
  for (const only of [0, 1, 7, 358, 359]) {
    const tables = handMade((number) => ({ demographics: number === only ? 0x3fffffff : 0 }));
    for (let lastAd = 0; lastAd < 360; lastAd += 1) {
      assert.equal(tables.choose(0, lastAd).ad, lastAd === only ? -1 : only);
    }
  }
});

test('the weights of shared groups must reach the minimum', () => {
  const tables = handMade((number) => ({ demographics: 0x11000000, minimum: number === 9 ? 3 : 4 }));
  assert.deepEqual(tables.choose(0, 0), { ad: 9, weight: 3, expired: false });
  for (const none of [tables.choose(0, 9), tables.choose(1, 0)]) {
    assert.deepEqual(none, { ad: -1, weight: 0, expired: true });
  }
  assert.equal(weigh(0x3fffffff, [15, 15, 15, 15, 15]), 75);
});

test('an ad expires after its time', () => {
  const tables = handMade((number) => ({ demographics: 1, expiresS: 48 + number }));
  assert.deepEqual([0, 1, 2].map((lastAd) => tables.choose(0, lastAd).expired), [true, false, false]);
});
