// Parses lines into prefix, command and parameters.

const PARAMS_MAX = 15;

// Parses a line without its ending. The prefix is without its colon, null if there is none; the command has the case in
// which it was sent. Returns null if the line has no command.
export function parse(line) {
  let prefix = null;
  let at = skipSpaces(line, 0);
  if (line[at] === ':') {
    const end = wordEnd(line, at);
    prefix = line.slice(at + 1, end);
    at = skipSpaces(line, end);
  }
  const end = wordEnd(line, at);
  const command = line.slice(at, end);
  if (command === '') {
    return null;
  }
  const params = [];
  for (at = skipSpaces(line, end); at < line.length; ) {
    const trailing = line[at] === ':';
    if (trailing || params.length === PARAMS_MAX - 1) {
      params.push(line.slice(trailing ? at + 1 : at));
      break;
    }
    const end = wordEnd(line, at);
    params.push(line.slice(at, end));
    at = skipSpaces(line, end);
  }
  return { prefix, command, params };
}

// Splits a list at commas and drops empty parts.
export function items(list = '') {
  return list.split(',').filter((item) => item !== '');
}

// Converts ASCII letters only, so that no other letter can become part of a command.
export function upper(text) {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

function skipSpaces(line, at) {
  while (line[at] === ' ') {
    at += 1;
  }
  return at;
}

function wordEnd(line, at) {
  const end = line.indexOf(' ', at);
  return end < 0 ? line.length : end;
}
