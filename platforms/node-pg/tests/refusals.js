// Helpers of the tests of requests that are refused.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { Site } from '../shared/site.js';

// Sends the requests [method, path, cookie, body, status, reason] to the targets, each on a connection of its own.
export async function areRefused(targets, requests) {
  const site = new Site(targets, () => ({ transactions: 0 }));
  const server = http.createServer((request, response) => site.serve(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  try {
    for (const [method, path, cookie, body, status, reason] of requests) {
      const headers = { 'Content-Length': Buffer.byteLength(body), ...(cookie && { cookie }) };
      const request = http.request({ port, host: '127.0.0.1', method, path, headers, agent: false });
      request.end(body);
      const [response] = await once(request, 'response');
      let text = '';
      for await (const part of response) {
        text += part;
      }
      assert.deepEqual([response.statusCode, text], [status, JSON.stringify({ error: reason })], `${method} ${path}`);
    }
  } finally {
    server.close();
  }
}
