// Which command is whose. Each takes a session and the parameters.

import { lusers, motd, oper, ping, version } from './about.js';
import { cap, nick, pass, user } from './login.js';
import { mode } from './modes.js';
import { NO_IRC_OPERATOR } from './numeric.js';
import { ison, userhost, who, whois, whowas } from './queries.js';
import { invite, join, kick, list, names, part, topic } from './rooms.js';
import { away, notice, privmsg } from './talk.js';

// What is allowed before registration too.
const early = {
  CAP: cap,
  PASS: pass,
  NICK: nick,
  USER: user,
  PING: ping,
  PONG: () => {},
  QUIT: (session, [reason]) => session.close(reason ? `Quit: ${reason}` : 'Quit'),
};

// There is no operator.
const refuse = (session) => session.say(NO_IRC_OPERATOR);

const late = {
  PRIVMSG: privmsg,
  NOTICE: notice,
  JOIN: join,
  PART: part,
  TOPIC: topic,
  INVITE: invite,
  KICK: kick,
  NAMES: names,
  LIST: list,
  MODE: mode,
  WHO: who,
  WHOIS: whois,
  WHOWAS: whowas,
  USERHOST: userhost,
  ISON: ison,
  AWAY: away,
  MOTD: motd,
  LUSERS: lusers,
  VERSION: version,
  OPER: oper,
  KILL: refuse,
  REHASH: refuse,
  DIE: refuse,
  RESTART: refuse,
  SQUIT: refuse,
  CONNECT: refuse,
  WALLOPS: refuse,
};

// Name → { run, early }.
export const commands = new Map([
  ...Object.entries(early).map(([name, run]) => [name, { run, early: true }]),
  ...Object.entries(late).map(([name, run]) => [name, { run, early: false }]),
]);
