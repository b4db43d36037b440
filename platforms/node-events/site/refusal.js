// Requests that are not served.

import { STATUS_CODES } from 'node:http';

const HEADERS_MAX = 32;
const BODY_BYTES_MAX = 4 * 1024;

const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]\r?$/;

// Sockets that close after a refusal, however the bytes after the refused head are parsed.
const closing = new WeakSet();

function refusalText(status) {
  return `${status} ${STATUS_CODES[status]}\n`;
}

// Replies with the status as a short text.
export function refuse(response, status, headers = {}) {
  const text = refusalText(status);
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain', 'Content-Length': text.length });
  response.end(text);
}

// Refuses a request after which the next one cannot be found.
export function refuseAndClose(request, response, status) {
  closing.add(request.socket);
  refuse(response, status, { Connection: 'close' });
}

// The status for a request that Node's parser refuses.
function statusOf({ code, rawPacket, bytesParsed }) {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return 501;
    case 'HPE_INVALID_METHOD': {
      // The parser refuses an unknown method and nonsense alike, within the first line.
      const start = bytesParsed > 0 ? rawPacket.lastIndexOf('\n', bytesParsed - 1) + 1 : 0;
      const [line] = rawPacket.toString('latin1', start).split('\n', 1);
      return REQUEST_LINE.test(line) ? 501 : 400;
    }
    default:
      return 400;
  }
}

// Replies to bytes that are no request, and closes the connection. It is a handler of the event clientError.
export function refuseBytes(error, socket) {
  const isClosing = !socket.writable || closing.has(socket);
  if (isClosing || error.code === 'ECONNRESET') {
    return;
  }
  const status = statusOf(error);
  const text = refusalText(status);
  const headers = `Content-Type: text/plain\r\nContent-Length: ${text.length}\r\nConnection: close`;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${text}`, () => socket.destroy());
}

// Checks what Node's parser does not. Returns the status of the refusal after which the connection must close, because
// the next request cannot be found; undefined if there is none.
export function checkHead({ headers, httpVersion, rawHeaders }) {
  if (rawHeaders.length > 2 * HEADERS_MAX) {
    return 431;
  }
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    hosts += rawHeaders[at].toLowerCase() === 'host' ? 1 : 0;
  }
  if (hosts !== 1 && httpVersion === '1.1') {
    return 400;
  }
  if (headers['transfer-encoding'] !== undefined) {
    return 501;
  }
  return Number(headers['content-length'] ?? 0) > BODY_BYTES_MAX ? 413 : undefined;
}
