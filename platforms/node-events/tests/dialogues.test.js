import assert from 'node:assert/strict';
import test from 'node:test';
import { ServerState } from '../chat/state.js';
import { parse } from '../chat/message.js';
import { readDialogues, unescape } from './vectors.js';

// One client of a dialogue.
class Speaker {
  lines = [];
  closeExpected = false;

  constructor(state, host = '127.0.0.1') {
    this.session = state.openSession(host, (line) => {
      assert.ok(line.length <= 512, `a line of ${line.length} bytes`);
      const text = line.toString('latin1');
      assert.ok(text.endsWith('\r\n'), text);
      this.lines.push(text.slice(0, -2));
    });
  }

  get closed() {
    return !this.session.open && !this.broken;
  }

  feed(text) {
    assert.ok(this.session.open, 'the connection is closed');
    this.session.feed(Buffer.from(text, 'latin1'));
  }

  // Performs one step of a dialogue; the marks are in vectors/README.md.
  act(mark, text) {
    switch (mark) {
      case '>':
        return this.feed(`${text}\r\n`);
      case '>>':
        return this.feed(text);
      case '<':
        return assert.equal(this.lines.shift(), text);
      case '<<':
        for (let line = this.lines.shift(); ; line = this.lines.shift()) {
          assert.notEqual(line, undefined, `no ${text} received`);
          if (parse(line).command === text) {
            return undefined;
          }
        }
      case '<x':
        assert.ok(this.closed, 'the connection is open');
        assert.deepEqual(this.lines, []);
        this.closeExpected = true;
        return undefined;
      case '>x':
        this.broken = true;
        return this.session.hangUp('Connection closed');
      default:
        return assert.fail(`${mark} is not in vectors/README.md`);
    }
  }
}

function play(script) {
  const state = new ServerState({
    name: 'klatch.test',
    version: 'klatch-test',
    created: '2000-01-01',
    network: 'Klatch',
    motd: ['Come in and talk.'],
  });
  const speakers = new Map();
  for (const [index, step] of script.split('\n').entries()) {
    if (step === '' || step.startsWith('#')) {
      continue;
    }
    const [, name, mark, text] = /^([^<>]+)([<>x]+)(?: (.*))?$/.exec(step);
    const speaker = speakers.get(name) ?? new Speaker(state);
    speakers.set(name, speaker);
    try {
      speaker.act(mark, unescape(text ?? ''));
    } catch (error) {
      error.message = `line ${index + 1}: ${step}\n${error.message}`;
      throw error;
    }
  }
  for (const [name, { lines, closed, closeExpected }] of speakers) {
    assert.deepEqual(lines, [], `${name} has unread lines`);
    assert.equal(closed, closeExpected, `${name} is closed`);
  }
}

const dialogues = readDialogues();

test('the dialogues exist', () => {
  assert.ok(dialogues.length >= 10);
});

for (const [name, script] of dialogues) {
  test(name, () => play(script));
}

test('an IPv6 host is not parsed as a trailing parameter, and the message of the day is optional', () => {
  const ann = new Speaker(new ServerState({ name: 'a.b', version: 'v', created: 'now', network: 'N', motd: [] }), '::1');
  ann.feed('NICK ann\r\nUSER ann 0 * :Ann\r\n');
  ann.act('<', ':a.b 001 ann :Welcome to N, ann!ann@0::1');
  ann.act('<<', '422');
  assert.deepEqual(ann.lines, []);
});
