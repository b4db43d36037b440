// WHO, WHOIS, WHOWAS, USERHOST, ISON: queries about users.

import { END_OF_WHO, END_OF_WHOIS, END_OF_WHOWAS, NO_NICK, NO_SUCH_NICK, WAS_NO_SUCH_NICK } from './numeric.js';
import { sorted } from './room.js';

const USERHOST_MAX = 5;

// Accepts a channel or a nick. All users are invisible (+i), so a mask matches none.
export function who(session, [name]) {
  const mask = name || '*';
  const room = session.server.room(mask);
  const user = session.server.user(mask);
  if (room) {
    for (const member of room.members) {
      if (!session.isWanted()) {
        return;
      }
      replyWho(session, room.name, member);
    }
  } else if (user) {
    replyWho(session, '*', user);
  }
  session.replyNumeric(END_OF_WHO, mask);
}

function replyWho(session, room, user) {
  const status = user.away ? 'G' : 'H';
  const { name } = session.server.identity;
  session.reply('352', room, user.userName, user.host, name, user.nick, status, `:0 ${user.realName}`);
}

// Of two parameters the first names a server and is ignored.
export function whois(session, [first, second]) {
  const nick = second || first;
  if (!nick) {
    session.replyNumeric(NO_NICK);
    return;
  }
  const user = session.server.user(nick);
  if (!user) {
    session.replyNumeric(NO_SUCH_NICK, nick);
    session.replyNumeric(END_OF_WHOIS, nick);
    return;
  }
  const { identity } = session.server;
  session.reply('311', user.nick, user.userName, user.host, '*', `:${user.realName}`);
  if (user.rooms.length > 0) {
    const names = sorted(user.rooms).map((room) => room.name);
    session.replyList('319', [user.nick], names);
  }
  session.reply('312', user.nick, identity.name, `:${identity.network}`);
  if (user.away) {
    session.reply('301', user.nick, `:${user.away}`);
  }
  session.replyNumeric(END_OF_WHOIS, user.nick);
}

// Replies that the nick was not in use: there is no history. Clients send WHOWAS after a failed WHOIS.
export function whowas(session, [nick]) {
  if (!nick) {
    session.replyNumeric(NO_NICK);
    return;
  }
  session.replyNumeric(WAS_NO_SUCH_NICK, nick);
  session.replyNumeric(END_OF_WHOWAS, nick);
}

export function userhost(session, nicks) {
  if (nicks.length === 0) {
    session.replyNeedMoreParams('USERHOST');
    return;
  }
  const present = users(session, nicks.slice(0, USERHOST_MAX));
  const texts = present.map((user) => `${user.nick}${user.away ? '=-' : '=+'}${user.userName}@${user.host}`);
  session.replyList('302', [], texts);
}

export function ison(session, params) {
  if (params.length === 0) {
    session.replyNeedMoreParams('ISON');
    return;
  }
  const present = users(session, params.join(' ').split(' '));
  const nicks = present.map((user) => user.nick);
  session.replyList('303', [], nicks);
}

function users(session, nicks) {
  return nicks.map((nick) => session.server.user(nick)).filter((user) => user);
}
