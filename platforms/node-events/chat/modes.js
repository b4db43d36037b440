// MODE. Without operators, every channel stays +n and every user +i.

import { same } from './names.js';
import {
  END_OF_BANS,
  NO_CHANNEL_OPERATOR,
  NO_SUCH_NICK,
  NOT_YOUR_MODE,
  UNKNOWN_MODE,
  UNKNOWN_USER_MODE,
} from './numeric.js';

// The channel modes of RFC 1459; changing them would need an operator.
const CHANNEL_MODES = 'biklmnopstv';

export function mode(session, [name, change = '', argument = '']) {
  if (!name) {
    session.replyNeedMoreParams('MODE');
  } else if (name.startsWith('#')) {
    channelMode(session, name, change, argument);
  } else {
    userMode(session, name, change);
  }
}

function channelMode(session, name, change, argument) {
  const room = session.existingRoom(name);
  if (!room) {
    return;
  }
  const [letter] = change.replace(/[+-]/g, '');
  if (letter === undefined) {
    session.reply('324', room.name, '+n');
  } else if ((change === 'b' || change === '+b') && !argument) {
    session.replyNumeric(END_OF_BANS, room.name);
  } else if (session.joinedRoom(name)) {
    if (CHANNEL_MODES.includes(letter)) {
      session.replyNumeric(NO_CHANNEL_OPERATOR, room.name);
    } else {
      session.replyNumeric(UNKNOWN_MODE, letter);
    }
  }
}

function userMode(session, nick, change) {
  if (!same(nick, session.nick)) {
    const user = session.server.user(nick);
    session.replyNumeric(...(user ? [NOT_YOUR_MODE] : [NO_SUCH_NICK, nick]));
  } else if (change === '') {
    session.reply('221', '+i');
  } else if (!/^[+i]*$/.test(change)) {
    session.replyNumeric(UNKNOWN_USER_MODE); // clients set +i after registration; it is set already
  }
}
