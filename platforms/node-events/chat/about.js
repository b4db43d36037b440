// What the server says about itself: the welcome, MOTD, LUSERS, VERSION, PING; and OPER, which it refuses.

import { compose } from './line.js';
import { same } from './names.js';
import { END_OF_MOTD, NO_MOTD, NO_OPER_HOST, NO_ORIGIN, NO_SUCH_SERVER } from './numeric.js';

export function welcome(session) {
  const { name, version, created, network } = session.hall.identity;
  session.reply('001', `:Welcome to ${network}, ${session.prefix.slice(1)}`);
  session.reply('002', `:Your host is ${name}, running ${version}`);
  session.reply('003', `:This server was created ${created}`);
  session.reply('004', name, version, 'i', 'bn');
  session.reply(
    '005',
    'AWAYLEN=200',
    'CASEMAPPING=rfc1459',
    'CHANLIMIT=#:50',
    'CHANMODES=b,,,n',
    'CHANNELLEN=50',
    'CHANTYPES=#',
    `NETWORK=${network}`,
    'NICKLEN=30',
    'PREFIX=',
    'TARGMAX=JOIN:,LIST:,NAMES:,NOTICE:4,PART:,PRIVMSG:4,WHOIS:1',
    'TOPICLEN=300',
    'USERLEN=16',
    ':are supported by this server',
  );
  lusers(session);
  tellMotd(session);
}

export function lusers(session) {
  const { registered, rooms } = session.hall;
  session.reply('251', `:There are 0 users and ${registered} invisible on 1 servers`);
  session.reply('254', rooms.size, ':channels formed');
  session.reply('255', `:I have ${registered} clients and 0 servers`);
}

export function motd(session, [server]) {
  if (isHere(session, server)) {
    tellMotd(session);
  }
}

function tellMotd(session) {
  const { name, motd } = session.hall.identity;
  if (motd.length === 0) {
    session.say(NO_MOTD);
    return;
  }
  session.reply('375', `:- ${name} Message of the day -`);
  motd.forEach((text) => session.reply('372', `:- ${text}`));
  session.say(END_OF_MOTD);
}

export function version(session, [server]) {
  if (isHere(session, server)) {
    const { version, name, network } = session.hall.identity;
    session.reply('351', version, name, `:${network}`);
  }
}

// Whether a question is for this server, the only one; if not, the client hears so.
function isHere(session, server) {
  const here = !server || same(server, session.hall.identity.name);
  if (!here) {
    session.say(NO_SUCH_SERVER, server);
  }
  return here;
}

export function ping(session, [token]) {
  const { name } = session.hall.identity;
  if (token) {
    session.send(compose(`:${name} PONG ${name} :${token}`));
  } else {
    session.say(NO_ORIGIN);
  }
}

export function oper(session, [, password]) {
  if (password) {
    session.say(NO_OPER_HOST);
  } else {
    session.needMore('OPER');
  }
}
