import assert from 'node:assert/strict';
import test from 'node:test';
import { Framer } from '../chat/frame.js';
import { parse, upper } from '../chat/message.js';
import { fold, same, validChannel, validNick } from '../chat/names.js';
import { bytes, readJson, unescape } from './vectors.js';

test('parses the vectors', () => {
  const { lines } = readJson('parse.json');
  assert.ok(lines.length > 0);
  for (const { line, error, prefix, command, params } of lines) {
    const expected = error ? null : { prefix, command, params: params.map(bytes) };
    assert.deepEqual(parse(bytes(line)), expected, line);
  }
});

function frame(chunks) {
  const framer = new Framer();
  return chunks.flatMap((chunk) => [...framer.events(chunk)]);
}

test('chunk size does not change the events of the vectors', () => {
  const { cases } = readJson('framing.json');
  assert.ok(cases.length > 0);
  for (const { name, chunks, events } of cases) {
    const expected = events.map((event) => {
      if (event.line !== undefined) {
        return { line: unescape(event.line) };
      }
      return event.too_long ? { tooLong: true } : { nul: true };
    });
    const given = chunks.map((chunk) => Buffer.from(unescape(chunk), 'latin1'));
    const whole = Buffer.concat(given);
    const single = [...whole].map((byte) => Buffer.of(byte));
    assert.deepEqual(frame(given), expected, name);
    assert.deepEqual(frame([whole]), expected, `${name}, all at once`);
    assert.deepEqual(frame(single), expected, `${name}, byte by byte`);
  }
});

test('nicks, channels and case folding', () => {
  const { nicks, channels, folds } = readJson('names.json');
  assert.ok(nicks.length > 0 && channels.length > 0 && folds.length > 0);
  for (const { name, valid, why } of nicks) {
    assert.equal(validNick(bytes(name)), valid, why);
  }
  for (const { name, valid, why } of channels) {
    assert.equal(validChannel(bytes(name)), valid, why);
  }
  for (const pair of folds) {
    const [a, b] = [bytes(pair.a), bytes(pair.b)];
    assert.equal(same(a, b), pair.same, `${a} and ${b}`);
    assert.equal(fold(a) === fold(b), pair.same, `${a} and ${b}, folded`);
  }
});

test('only ASCII letters become capitals in a command', () => {
  assert.equal(upper('Join'), 'JOIN');
  assert.equal(upper('pa\xdf'), 'PA\xdf');
});
