// The replies of a site to a real client.

import assert from 'node:assert/strict';
import test from 'node:test';
import { AdTables, adCookie, DEFAULT_TABLES } from '../site/ads.js';
import { Content, rotate } from '../site/content.js';
import { fileIndex, pathOf } from '../site/file.js';
import { FRAME_END } from '../site/page.js';
import { DIRECTORIES, form, get, post, POST_COOKIE, SEED, siteTest } from './site-client.js';

const content = new Content(SEED);
const fileText = (index) => content.file(index).bytes.toString('latin1');

// A page with the text of docs/reference/web.md.
function pageText(script, query, text) {
  return (
    '<html>\n<head><title>Klatch web</title></head>\n<body>\n<p>SERVER_SOFTWARE = klatch\n<p>REMOTE_ADDR = 127.0.0.1\n' +
    `<p>SCRIPT_NAME = ${script}\n<p>QUERY_STRING = ${query}\n<pre>\n${text}\n</pre>\n</body></html>\n`
  );
}

function assertSame(actual, expected, what) {
  assert.ok(actual === expected, `${what}: ${actual.length} bytes, expected ${expected.length}: ${actual.slice(0, 300)}`);
}

siteTest('every class is served as file and page', async (connect) => {
  const client = await connect();
  for (const fileClass of [0, 1, 2, 3]) {
    const index = fileIndex(DIRECTORIES - 1, fileClass, 8);
    const file = await client.ask(get(pathOf(index)));
    assertSame(file.body, fileText(index), pathOf(index));
    assert.equal(file.headers.get('set-cookie'), undefined);
    for (const script of ['/dynamic', '/cgi']) {
      const page = await client.ask(get(`${script}?${pathOf(index)}`, 'Cookie: other=1\r\n'));
      assertSame(page.body, pageText(script, pathOf(index), fileText(index)), script);
      assert.equal(page.headers.get('set-cookie'), undefined);
    }
  }
});

siteTest('all tags of a page with ads name the chosen ad', async (connect) => {
  const client = await connect();
  const tables = new AdTables(SEED, DEFAULT_TABLES);
  for (let user = 0; user < 1000; user += 111) {
    const choice = tables.choose(user, 17);
    for (const fileClass of [0, 1, 2, 3]) {
      const index = fileIndex(3, fileClass, 4);
      const cookie = `Cookie: my_cookie=user_id=${10_000 + user}&last_ad=17\r\n`;
      const reply = await client.ask(get(`/dynamic?${pathOf(index)}`, cookie));
      const { bytes, tagOffsets } = content.file(index);
      rotate(bytes, 0, tagOffsets, choice.ad);
      assertSame(reply.body, pageText('/dynamic', pathOf(index), bytes.toString('latin1')), cookie);
      assert.equal(reply.headers.get('set-cookie'), adCookie(choice));
    }
  }
});

siteTest('a user without a record gets the stored file', async (connect) => {
  const client = await connect();
  const index = fileIndex(3, 1, 4);
  for (const [user, cookie] of [
    [10_000, /^found_cookie=Ad_id=\d+&Ad_weight=\d+&Expired=[01]$/],
    [11_000, /^found_cookie=Ad_id=-1&Ad_weight=0&Expired=1$/],
  ]) {
    const request = get(`/dynamic?${pathOf(index)}`, `Cookie: my_cookie=user_id=${user}&last_ad=0\r\n`);
    const reply = await client.ask(request);
    assert.match(reply.headers.get('set-cookie'), cookie);
    const isStored = reply.body === pageText('/dynamic', pathOf(index), fileText(index));
    assert.equal(isStored, user === 11_000);
  }
});

siteTest('a POST is logged and answered with its file', async (connect) => {
  const client = await connect();
  const index = fileIndex(11, 2, 5);
  for (const line of [1, 2]) {
    const reply = await client.ask(post(POST_COOKIE, form(11, 2, 5, line)));
    assertSame(reply.body, pageText('/dynamic', '', fileText(index)), 'POST');
    assert.equal(reply.headers.get('set-cookie'), 'my_cookie=10003');
  }
  const record = (number) =>
    `         ${number} 1000000000          0    11  2  5          ${number} /file_set/dir00011/class2_5` +
    `${' '.repeat(33)}          0      10003\n`;
  const { body } = await client.ask(get('/dynamic?command/Fetch'));
  assertSame(body, pageText('/dynamic', 'command/Fetch', `         2\n${record(1)}${record(2)}`), body);
});

siteTest('each of many POSTs has one record', async (connect) => {
  const lines = 8;
  const posts = 1000; // so many that Fetch sends the log in parts
  await Promise.all(
    Array.from({ length: lines }, async (_, line) => {
      const client = await connect();
      client.send(post(POST_COOKIE, form(1, 0, 0, line)).repeat(posts));
      for (let number = 0; number < posts; number += 1) {
        assert.equal((await client.reply()).status, 200);
      }
    }),
  );
  const { body } = await (await connect()).ask(get('/dynamic?command/Fetch'));
  const log = body.slice(body.indexOf('<pre>\n') + '<pre>\n'.length, -FRAME_END.length);
  const [count, ...records] = log.split('\n');
  assert.equal(Number(count), lines * posts);
  assert.equal(records.pop(), '');
  assert.ok(records.every((record, at) => record.length === 138 && Number(record.slice(0, 10)) === at + 1));
  const of = (line) => records.filter((record) => Number(record.slice(45, 55)) === line).length;
  assert.deepEqual([...Array(lines).keys()].map(of), Array(lines).fill(posts));
});

siteTest('a Reset makes new tables and empties the log', async (connect) => {
  const client = await connect();
  await client.ask(post(POST_COOKIE, form(0, 0, 0, 1)));
  const reset = 'command/Reset&maxload=3&pttime=1800000000&maxthread=1&exp=-1,-1&urlroot=/file_set/';
  const reply = await client.ask(get(`/dynamic?${reset}`));
  assert.equal(reply.body, pageText('/dynamic', reset, ''));
  const empty = await client.ask(get('/dynamic?command/Fetch'));
  assert.equal(empty.body, pageText('/dynamic', 'command/Fetch', '         0\n'));
  const tables = new AdTables(SEED, { users: 3, nowS: 1_800_000_000, expiryS: [-1, -1] });
  assert.ok(tables.choose(2, 5).ad >= 0 && tables.choose(2, 5).expired && tables.choose(3, 5).ad === -1);
  for (const user of [2, 3]) {
    const cookie = `Cookie: my_cookie=user_id=${10_000 + user}&last_ad=5\r\n`;
    const page = await client.ask(get('/dynamic?/file_set/dir00000/class1_0', cookie));
    assert.equal(page.headers.get('set-cookie'), adCookie(tables.choose(user, 5)));
  }
  await client.ask(post(POST_COOKIE, form(0, 0, 0, 1)));
  const log = await client.ask(get('/dynamic?command/Fetch'));
  assert.ok(log.body.includes('\n         1 1800000000          0 '), log.body);
});

test('a directory has the published size', () => {
  const sizes = Array.from({ length: 36 }, (_, index) => content.file(index).bytes.length);
  assert.equal(sizes.reduce((sum, size) => sum + size), 5_119_484);
});
