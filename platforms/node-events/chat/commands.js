// The commands and their handlers. A handler takes a session and the parameters.

import { lusers, motd, oper, ping, version } from './server-info.js';
import { cap, nick, pass, user } from './login.js';
import { mode } from './modes.js';
import { NO_IRC_OPERATOR } from './numeric.js';
import { ison, userhost, who, whois, whowas } from './queries.js';
import { invite, join, kick, list, names, part, topic } from './rooms.js';
import { away, notice, privmsg } from './privmsg.js';

// The commands that are allowed before registration.
const beforeRegistration = {
  CAP: cap,
  PASS: pass,
  NICK: nick,
  USER: user,
  PING: ping,
  PONG: () => {},
  QUIT: (session, [reason]) => session.close(reason ? `Quit: ${reason}` : 'Quit'),
};

// There are no operators.
const rejectOperatorCommand = (session) => session.replyNumeric(NO_IRC_OPERATOR);

const afterRegistration = {
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
  KILL: rejectOperatorCommand,
  REHASH: rejectOperatorCommand,
  DIE: rejectOperatorCommand,
  RESTART: rejectOperatorCommand,
  SQUIT: rejectOperatorCommand,
  CONNECT: rejectOperatorCommand,
  WALLOPS: rejectOperatorCommand,
};

// Name → { run, beforeRegistration, relays }. The hot commands relay text to others, and are not looked at before.
export const commands = new Map([
  ...Object.entries(beforeRegistration).map(([name, run]) => [name, { run, beforeRegistration: true }]),
  ...Object.entries(afterRegistration).map(([name, run]) => [name, { run, beforeRegistration: false, relays: run === privmsg || run === notice }]),
]);
