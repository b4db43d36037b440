// The rules of HTTP at a site.

import assert from 'node:assert/strict';
import { Content } from '../site/content.js';
import { FILES_PER_DIRECTORY, pathOf } from '../site/file.js';
import { form, get, post, POST_COOKIE, SEED, siteTest } from './site-client.js';

const SMALL_FILE = '/file_set/dir00000/class0_0';

siteTest('connections stay open as the requests ask', async (connect) => {
  for (const [request, connection] of [
    [`GET ${SMALL_FILE} HTTP/1.0\r\n\r\n`, 'close'],
    [`GET /dynamic?${SMALL_FILE} HTTP/1.0\r\nHost: h\r\n\r\n`, 'close'],
    [`GET ${SMALL_FILE} HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n`, 'keep-alive'],
    [`GET /cgi?${SMALL_FILE} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`, 'keep-alive'],
    [get(SMALL_FILE, 'Connection: close\r\n'), 'close'],
    [post(`${POST_COOKIE}Connection: close\r\n`, form(0, 0, 0, 1)), 'close'],
    [get(SMALL_FILE), 'keep-alive'],
    [get('/nothing'), 'keep-alive'],
  ]) {
    const client = await connect();
    client.send(request);
    const reply = await client.reply();
    assert.equal(reply.headers.get('connection'), connection, request);
    assert.equal(reply.headers.get('keep-alive'), undefined, 'a time limit is announced');
    if (connection === 'close') {
      await client.expectEnd();
    } else {
      await client.ask(get(SMALL_FILE));
    }
  }
});

siteTest('the requests of a pipeline are answered in their order', async (connect) => {
  const client = await connect();
  const content = new Content(SEED);
  const files = Array.from({ length: FILES_PER_DIRECTORY }, (_, index) => index);
  client.send(files.map((index) => get(pathOf(index))).join(''));
  client.send(post(POST_COOKIE, form(0, 0, 0, 1)) + get('/end'));
  for (const index of files) {
    const { body } = await client.reply();
    assert.ok(body === content.file(index).bytes.toString('latin1'), pathOf(index));
  }
  assert.equal((await client.reply()).status, 200);
  assert.equal((await client.reply()).status, 404);
});

siteTest('a request in pieces is served', async (connect) => {
  const client = await connect();
  const request = post(POST_COOKIE, form(0, 0, 0, 1));
  for (const character of request) {
    await new Promise((written) => client.socket.write(character, written));
  }
  assert.equal((await client.reply()).status, 200);
});

siteTest('refused requests keep the connection if the next one can be found', async (connect) => {
  const right = form(0, 1, 2, 1);
  for (const [request, status, closes] of [
    [get('/'), 404, false],
    [get('/file_set/../etc/passwd'), 404, false],
    [get('/file_set/dir00012/class0_0'), 404, false],
    [get('/dynamic?/file_set/dir00012/class0_0'), 404, false],
    [get('/cgi?/file_set/dir00012/class3_0'), 404, false],
    [get('/dynamic?command/Other'), 404, false],
    [post(POST_COOKIE, form(12, 1, 2, 1)), 404, false],
    [get('/dynamic'), 405, false],
    [post(POST_COOKIE, right).replace('/dynamic', SMALL_FILE), 405, false],
    [post(POST_COOKIE, right).replace('/dynamic', '/dynamic?command/Fetch'), 405, false],
    [get(SMALL_FILE).replace('GET', 'PUT'), 405, false],
    [get(`/dynamic?${SMALL_FILE}`, 'Cookie: my_cookie=user_id=1\r\n'), 400, false],
    [post('', right), 400, false],
    [post('Cookie: my_cookie=1\r\n', right), 400, false],
    [post(POST_COOKIE, ''), 400, false],
    [post(POST_COOKIE, `${right}&`), 400, false],
    ['nonsense\r\n\r\n', 400, true],
    ['x y\r\n\r\nGET / HTTP/1.1\r\n\r\n', 400, true],
    [get(SMALL_FILE).replace('HTTP/1.1', 'HTTP/1:1'), 400, true],
    [`GET ${SMALL_FILE} HTTP/1.1\r\n\r\n`, 400, true],
    [get(SMALL_FILE, 'Host: other\r\n'), 400, true],
    [post('Content-Length: 1\r\n', right), 400, true],
    [post(POST_COOKIE, 'x'.repeat(4097)), 413, true],
    [get(SMALL_FILE, `A: ${'b'.repeat(8192)}\r\n`), 431, true],
    [get(SMALL_FILE, 'A: b\r\n'.repeat(32)), 431, true],
    [get(SMALL_FILE).replace('GET', 'BREW'), 501, true],
    [get(SMALL_FILE).replace('GET', 'GETS'), 501, true],
    ['POST /dynamic HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 501, true],
    ['POST /dynamic HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n', 501, true],
  ]) {
    const client = await connect();
    client.send(request);
    const reply = await client.reply();
    const name = request.slice(0, 80);
    assert.equal(reply.status, status, name);
    assert.ok(reply.body.startsWith(`${status} `) && reply.body.length < 100, reply.body);
    assert.equal(reply.headers.get('connection'), closes ? 'close' : 'keep-alive', name);
    if (closes) {
      await client.expectEnd();
    } else {
      await client.ask(get(SMALL_FILE));
    }
  }
});

siteTest('an unknown method after a request is refused too', async (connect) => {
  const client = await connect();
  await client.ask(get(SMALL_FILE));
  client.send(`\r\n${get(SMALL_FILE).replace('GET', 'BREW')}`);
  assert.equal((await client.reply()).status, 501);
  await client.expectEnd();
});

siteTest('heads and bodies of the largest size are read', async (connect) => {
  const client = await connect();
  await client.ask(get(SMALL_FILE, `A: ${'b'.repeat(8000)}\r\n`));
  await client.ask(get(SMALL_FILE, 'A: b\r\n'.repeat(31)));
  client.send(post(POST_COOKIE, 'x'.repeat(4096)));
  assert.equal((await client.reply()).status, 400, 'such a body is no form');
  await client.ask(get(SMALL_FILE));
});

siteTest('a refused method is answered with the allowed one', async (connect) => {
  const client = await connect();
  for (const [target, allowed] of [
    ['/dynamic', 'POST'],
    [SMALL_FILE, 'GET'],
  ]) {
    client.send(get(target).replace('GET', 'DELETE'));
    const { status, headers } = await client.reply();
    assert.deepEqual([status, headers.get('allow')], [405, allowed]);
  }
});

siteTest('a reset in the middle of a POST ends one connection only', async (connect) => {
  const stays = await connect();
  await stays.ask(get(SMALL_FILE));
  for (let i = 0; i < 3; i += 1) {
    const leaves = await connect();
    leaves.send(get(SMALL_FILE) + post(POST_COOKIE, form(0, 0, 0, 1)).slice(0, -5));
    await leaves.reply(); // so the server has the beginning of the POST too
    leaves.socket.resetAndDestroy();
    await stays.ask(get(SMALL_FILE));
  }
  const { body } = await stays.ask(get('/dynamic?command/Fetch'));
  assert.ok(body.includes('\n         0\n\n</pre>'), body);
});
