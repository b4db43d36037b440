// PRIVMSG and NOTICE (the hot path), and AWAY.

import { compose, cut } from './line.js';
import { items } from './message.js';
import {
  CANNOT_SEND,
  NO_RECIPIENT,
  NO_SUCH_CHANNEL,
  NO_SUCH_NICK,
  NO_TEXT,
  NOT_AWAY,
  NOW_AWAY,
  TOO_MANY_TARGETS,
} from './numeric.js';

const TARGETS_MAX = 4;
const AWAY_MAX = 200;

export function privmsg(session, params) {
  talk(session, 'PRIVMSG', params, (...error) => session.say(...error));
}

// A notice is never answered.
export function notice(session, params) {
  talk(session, 'NOTICE', params, () => {});
}

function talk(session, verb, [list, text], complain) {
  const targets = items(list);
  if (targets.length === 0) {
    complain(NO_RECIPIENT);
  } else if (!text) {
    complain(NO_TEXT);
  } else if (targets.length > TARGETS_MAX) {
    complain(TOO_MANY_TARGETS, targets[TARGETS_MAX]);
  } else {
    for (const target of targets) {
      const room = session.ownRoom(target);
      if (room) {
        room.tell(compose(`${session.prefix} ${verb} ${room.name} :${text}`), session);
      } else {
        tellUser(session, verb, target, text, complain);
      }
    }
  }
}

function tellUser(session, verb, target, text, complain) {
  const { hall } = session;
  const user = hall.user(target);
  if (user) {
    user.send(compose(`${session.prefix} ${verb} ${user.nick} :${text}`));
    if (verb === 'PRIVMSG' && user.away) {
      session.reply('301', user.nick, `:${user.away}`);
    }
  } else if (!target.startsWith('#')) {
    complain(NO_SUCH_NICK, target);
  } else if (hall.room(target)) {
    complain(CANNOT_SEND, hall.room(target).name);
  } else {
    complain(NO_SUCH_CHANNEL, target);
  }
}

export function away(session, [reason = '']) {
  session.away = cut(reason, AWAY_MAX);
  session.say(session.away ? NOW_AWAY : NOT_AWAY);
}
