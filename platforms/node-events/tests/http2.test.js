// The site in HTTP/2.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { parseOptions } from '../options.js';
import { serve } from '../server.js';
import { form } from './site-client.js';

async function ask(session, headers, body) {
  const stream = session.request(headers);
  if (body !== undefined) {
    stream.end(body, 'latin1');
  }
  const [reply] = await once(stream, 'response');
  return { status: reply[':status'], length: reply['content-length'], body: await buffer(stream) };
}

test('requests on streams of one connection have the replies of HTTP/1.1', { timeout: 120_000 }, async () => {
  const options = ['--workload', 'web', '--http2', '--directories', '1', '--listen', '127.0.0.1:0'];
  const server = await serve(parseOptions(options), assert.fail);
  const session = http2.connect(`http://127.0.0.1:${server.address().port}`);
  const paths = ['/file_set/dir00000/class0_1', '/file_set/dir00000/class3_8', '/nothing', '/file_set/dir00001/class0_1'];
  const replies = await Promise.all(paths.map((path) => ask(session, { ':path': path })));
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 404, 404],
  );
  for (const { length, body } of replies) {
    assert.equal(String(body.length), length);
  }
  assert.equal(replies[0].body.length, 204);
  const cookie = 'my_cookie=user_id=10001&last_ad=1';
  const post = await ask(session, { ':method': 'POST', ':path': '/dynamic', cookie }, form(0, 0, 0, 1));
  assert.equal(post.status, 200);
  assert.ok(post.body.length > 102);
  session.close();
  server.close();
  await once(server, 'close');
});
