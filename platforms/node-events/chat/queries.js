// WHO, WHOIS, WHOWAS, USERHOST, ISON: questions about users.

import { END_OF_WHO, END_OF_WHOIS, END_OF_WHOWAS, NO_NICK, NO_SUCH_NICK, WAS_NO_SUCH_NICK } from './numeric.js';
import { sorted } from './room.js';

const USERHOST_MAX = 5;

// A channel or a nick. Everybody is invisible (+i), so a mask finds nobody.
export function who(session, [name]) {
  const mask = name || '*';
  const room = session.hall.room(mask);
  const user = session.hall.user(mask);
  if (room) {
    room.members.forEach((member) => whoIsThere(session, room.name, member));
  } else if (user) {
    whoIsThere(session, '*', user);
  }
  session.say(END_OF_WHO, mask);
}

function whoIsThere(session, room, user) {
  const here = user.away ? 'G' : 'H';
  const { name } = session.hall.identity;
  session.reply('352', room, user.userName, user.host, name, user.nick, here, `:0 ${user.realName}`);
}

// With two parameters the first one is a server, and there is but one.
export function whois(session, [first, second]) {
  const nick = second || first;
  if (!nick) {
    session.say(NO_NICK);
    return;
  }
  const user = session.hall.user(nick);
  if (!user) {
    session.say(NO_SUCH_NICK, nick);
    session.say(END_OF_WHOIS, nick);
    return;
  }
  const { identity } = session.hall;
  session.reply('311', user.nick, user.userName, user.host, '*', `:${user.realName}`);
  if (user.rooms.length > 0) {
    const names = sorted(user.rooms).map((room) => room.name);
    session.replyList('319', [user.nick], names);
  }
  session.reply('312', user.nick, identity.name, `:${identity.network}`);
  if (user.away) {
    session.reply('301', user.nick, `:${user.away}`);
  }
  session.say(END_OF_WHOIS, user.nick);
}

// Nobody is remembered. Clients ask by themselves when WHOIS finds nobody.
export function whowas(session, [nick]) {
  if (!nick) {
    session.say(NO_NICK);
    return;
  }
  session.say(WAS_NO_SUCH_NICK, nick);
  session.say(END_OF_WHOWAS, nick);
}

export function userhost(session, nicks) {
  if (nicks.length === 0) {
    session.needMore('USERHOST');
    return;
  }
  const found = users(session, nicks.slice(0, USERHOST_MAX));
  const texts = found.map((user) => `${user.nick}${user.away ? '=-' : '=+'}${user.userName}@${user.host}`);
  session.replyList('302', [], texts);
}

export function ison(session, params) {
  if (params.length === 0) {
    session.needMore('ISON');
    return;
  }
  const found = users(session, params.join(' ').split(' '));
  const nicks = found.map((user) => user.nick);
  session.replyList('303', [], nicks);
}

function users(session, nicks) {
  return nicks.map((nick) => session.hall.user(nick)).filter((user) => user);
}
