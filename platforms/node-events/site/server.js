// The HTTP server of workload web.

import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { refuseBytes } from './refusal.js';
import { Site } from './site.js';

const HEAD_BYTES_MAX = 8 * 1024;

// Most streams of a connection in HTTP/2, as Go and Jetty have about as many.
const STREAMS_MAX = 128;

// Time between two looks at incomplete requests.
const CHECK_INTERVAL_MS = 1000;

// Makes an http.Server that does not listen yet. A request has a time limit, and the time between two requests has none, because
// a line may be idle there. overTls: what Node takes for TLS; undefined without it.
export function siteServer({ contentSeed, directories, nodelay, registrationTimeoutMs }, overTls) {
  const { createServer } = overTls ? https : http;
  const server = createServer({
    ...overTls,
    noDelay: nodelay,
    maxHeaderSize: HEAD_BYTES_MAX,
    requireHostHeader: false, // checked with the other headers, as Node 18 does not check it
    keepAliveTimeout: 0,
    headersTimeout: registrationTimeoutMs,
    requestTimeout: registrationTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, registrationTimeoutMs),
  });
  const site = new Site(contentSeed, directories);
  server.on('request', (request, response) => {
    const { socket } = request;
    site.serve(request, response);
    // Most replies are with the kernel by now. For others, the client may take none of what waits for as long. Node's timer
    // starts anew whenever it takes some.
    if (!response.writableFinished && socket.timeout !== registrationTimeoutMs) {
      socket.setTimeout(registrationTimeoutMs);
    }
  });
  server.on('timeout', (socket) => {
    if (socket.writableLength > 0) {
      socket.destroy();
    } else {
      socket.setTimeout(0);
    }
  });
  server.on('clientError', refuseBytes);
  return server;
}

// The same in HTTP/2: over TLS for clients that choose it in ALPN, else for those that begin with it.
export function http2SiteServer({ contentSeed, directories, nodelay }, overTls) {
  const settings = { noDelay: nodelay, settings: { maxConcurrentStreams: STREAMS_MAX } };
  const server = overTls
    ? http2.createSecureServer({ ...overTls, ...settings, ALPNProtocols: ['h2'] })
    : http2.createServer(settings);
  const site = new Site(contentSeed, directories);
  server.on('request', (request, response) => site.serve(request, response));
  // The client has ended the connection, and with it its streams.
  server.on('sessionError', () => {});
  return server;
}
