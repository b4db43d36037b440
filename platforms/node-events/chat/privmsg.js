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
  sendMessage(session, 'PRIVMSG', params, (...error) => session.replyNumeric(...error));
}

// A NOTICE gets no reply.
export function notice(session, params) {
  sendMessage(session, 'NOTICE', params, () => {});
}

function sendMessage(session, verb, [list, text], replyError) {
  const targets = items(list);
  if (targets.length === 0) {
    replyError(NO_RECIPIENT);
  } else if (!text) {
    replyError(NO_TEXT);
  } else if (targets.length > TARGETS_MAX) {
    replyError(TOO_MANY_TARGETS, targets[TARGETS_MAX]);
  } else {
    for (const target of targets) {
      const room = session.ownRoom(target);
      if (room) {
        room.deliver(compose(`${session.prefix} ${verb} ${room.name} :${text}`), session);
      } else {
        sendToUser(session, verb, target, text, replyError);
      }
    }
  }
}

function sendToUser(session, verb, target, text, replyError) {
  const { server } = session;
  const user = server.user(target);
  if (user) {
    user.send(compose(`${session.prefix} ${verb} ${user.nick} :${text}`));
    if (verb === 'PRIVMSG' && user.away) {
      session.reply('301', user.nick, `:${user.away}`);
    }
  } else if (!target.startsWith('#')) {
    replyError(NO_SUCH_NICK, target);
  } else if (server.room(target)) {
    replyError(CANNOT_SEND, server.room(target).name);
  } else {
    replyError(NO_SUCH_CHANNEL, target);
  }
}

export function away(session, [reason = '']) {
  session.away = cut(reason, AWAY_MAX);
  session.replyNumeric(session.away ? NOW_AWAY : NOT_AWAY);
}
