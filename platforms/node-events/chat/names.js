// Rules for nicks and channels: validity and case folding.

// 1 to 30 letters, digits and []\`_^{|}-, not starting with a digit or -.
export function validNick(name) {
  return /^[A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,29}$/.test(name);
}

// A # and 1 to 49 bytes more, none of them a space, comma, colon or control byte.
export function validChannel(name) {
  return /^#[^\0- \x7f,:]{1,49}$/.test(name);
}

// Folds the case of a name as in RFC 1459 (casemapping rfc1459).
export function fold(name) {
  return name.replace(/[A-Z[\]\\~]/g, (char) => {
    return char === '~' ? '^' : String.fromCharCode(char.charCodeAt(0) + 32);
  });
}

// Whether two names are equal after folding.
export function same(a, b) {
  return a === b || (a.length === b.length && fold(a) === fold(b));
}
