// A line → prefix, command and parameters.

const PARAMS_MAX = 15;

// Takes a line without its ending apart. The prefix is without its colon, null if there is none; the command is in the
// spelling of the sender. null: the line has no command.
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

// The parts of a list with commas; empty ones do not count.
export function items(list = '') {
  return list.split(',').filter((item) => item !== '');
}

// Changes ASCII letters only: no other letter may become a part of a command.
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
