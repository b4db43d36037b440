// MODE. There are no operators: every channel is +n, every user +i, and that is how it stays.

import { same } from './names.js';
import {
  END_OF_BANS,
  NO_CHANNEL_OPERATOR,
  NO_SUCH_NICK,
  NOT_YOUR_MODE,
  UNKNOWN_MODE,
  UNKNOWN_USER_MODE,
} from './numeric.js';

// The channel modes of RFC 1459, which an operator might set elsewhere.
const CHANNEL_MODES = 'biklmnopstv';

export function mode(session, [name, change = '', argument = '']) {
  if (!name) {
    session.needMore('MODE');
  } else if (name.startsWith('#')) {
    channelMode(session, name, change, argument);
  } else {
    userMode(session, name, change);
  }
}

function channelMode(session, name, change, argument) {
  const room = session.existing(name);
  if (!room) {
    return;
  }
  const [letter] = change.replace(/[+-]/g, '');
  if (letter === undefined) {
    session.reply('324', room.name, '+n');
  } else if ((change === 'b' || change === '+b') && !argument) {
    session.say(END_OF_BANS, room.name);
  } else if (session.memberOf(name)) {
    if (CHANNEL_MODES.includes(letter)) {
      session.say(NO_CHANNEL_OPERATOR, room.name);
    } else {
      session.say(UNKNOWN_MODE, letter);
    }
  }
}

function userMode(session, nick, change) {
  if (!same(nick, session.nick)) {
    const known = session.hall.user(nick);
    session.say(...(known ? [NOT_YOUR_MODE] : [NO_SUCH_NICK, nick]));
  } else if (change === '') {
    session.reply('221', '+i');
  } else if (!/^[+i]*$/.test(change)) {
    session.say(UNKNOWN_USER_MODE); // +i is what clients set as they come in, and is so already
  }
}
