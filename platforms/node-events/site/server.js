// The HTTP server of workload web.

import http from 'node:http';
import { refuseBytes } from './refusal.js';
import { Site } from './site.js';

const HEAD_BYTES_MAX = 8 * 1024;

// Makes an http.Server that does not listen yet. It has no time limits, because a line may be idle before and between its
// requests.
export function siteServer({ contentSeed, directories, nodelay }) {
  const server = http.createServer({
    noDelay: nodelay,
    maxHeaderSize: HEAD_BYTES_MAX,
    requireHostHeader: false, // checked with the other headers, as Node 18 does not check it
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
  });
  const site = new Site(contentSeed, directories);
  server.on('request', (request, response) => site.serve(request, response));
  server.on('clientError', refuseBytes);
  return server;
}
