// Nicks and channels: which are valid, and which are the same.

// 1 to 30 letters, digits and []\`_^{|}-, beginning with none of digit and -.
export function validNick(name) {
  return /^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,29}$/.test(name);
}

// A # and 1 to 49 bytes more, none of them a space, comma, colon or control byte.
export function validChannel(name) {
  return /^#[^\0- \x7f,:]{1,49}$/.test(name);
}

// The form of a name that all its spellings share (casemapping rfc1459).
export function fold(name) {
  return name.replace(/[A-Z[\]\\~]/g, (char) => {
    return char === '~' ? '^' : String.fromCharCode(char.charCodeAt(0) + 32);
  });
}

// Whether two names are spellings of the same.
export function same(a, b) {
  return a === b || (a.length === b.length && fold(a) === fold(b));
}
