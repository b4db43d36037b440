// Encodes the lines that the server sends.

import { CONTENT_MAX } from './frame.js';

// Encodes a line with CR LF, truncated if it is too long.
export function compose(text) {
  return Buffer.from(cut(text, CONTENT_MAX) + '\r\n', 'latin1');
}

// Encodes the last line that the server sends on a connection.
export function closingLine(reason) {
  return compose(`ERROR :Closing link: (${reason})`);
}

// Truncates text to at most max bytes, not inside a UTF-8 character.
export function cut(text, max) {
  if (text.length <= max) {
    return text;
  }
  // A character has at most 3 continuation bytes. More are not UTF-8, and any cut will do.
  for (let at = max; at >= 0 && at >= max - 3; at -= 1) {
    if ((text.charCodeAt(at) & 0xc0) !== 0x80) {
      return text.slice(0, at);
    }
  }
  return text.slice(0, max);
}
