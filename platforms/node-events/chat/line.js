// Lines that the server sends, and what makes them fit.

import { CONTENT_MAX } from './frame.js';

// The bytes of a line, cut if it is too long.
export function compose(text) {
  return Buffer.from(cut(text, CONTENT_MAX) + '\r\n', 'latin1');
}

// The line that a connection gets before it is closed.
export function closingLine(reason) {
  return compose(`ERROR :Closing link: (${reason})`);
}

// At most max bytes from the front, not ending inside a UTF-8 character.
export function cut(text, max) {
  if (text.length <= max) {
    return text;
  }
  // A character has at most 3 bytes after its first; more of that kind are not UTF-8, and any place is as good.
  for (let at = max; at >= 0 && at >= max - 3; at -= 1) {
    if ((text.charCodeAt(at) & 0xc0) !== 0x80) {
      return text.slice(0, at);
    }
  }
  return text.slice(0, max);
}
