// Information about the server: the welcome, MOTD, LUSERS, VERSION, PING; and OPER, which is always rejected.

import { compose } from './line.js';
import { same } from './names.js';
import { END_OF_MOTD, NO_MOTD, NO_OPER_HOST, NO_ORIGIN, NO_SUCH_SERVER } from './numeric.js';

export function welcome(session) {
  const { name, version, created, network } = session.server.identity;
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
    'TARGMAX=JOIN:,LIST:1,NAMES:1,NOTICE:4,PART:,PRIVMSG:4,WHOIS:1',
    'TOPICLEN=300',
    'USERLEN=16',
    ':are supported by this server',
  );
  lusers(session);
  sendMotd(session);
}

export function lusers(session) {
  const { registered, rooms } = session.server;
  session.reply('251', `:There are 0 users and ${registered} invisible on 1 servers`);
  session.reply('254', rooms.size, ':channels formed');
  session.reply('255', `:I have ${registered} clients and 0 servers`);
}

export function motd(session, [server]) {
  if (isForThisServer(session, server)) {
    sendMotd(session);
  }
}

function sendMotd(session) {
  const { name, motd } = session.server.identity;
  if (motd.length === 0) {
    session.replyNumeric(NO_MOTD);
    return;
  }
  session.reply('375', `:- ${name} Message of the day -`);
  motd.forEach((text) => session.reply('372', `:- ${text}`));
  session.replyNumeric(END_OF_MOTD);
}

export function version(session, [server]) {
  if (isForThisServer(session, server)) {
    const { version, name, network } = session.server.identity;
    session.reply('351', version, name, `:${network}`);
  }
}

// Returns whether server is missing or this server's name; otherwise replies NO_SUCH_SERVER.
function isForThisServer(session, server) {
  const matches = !server || same(server, session.server.identity.name);
  if (!matches) {
    session.replyNumeric(NO_SUCH_SERVER, server);
  }
  return matches;
}

export function ping(session, [token]) {
  const { name } = session.server.identity;
  if (token) {
    session.send(compose(`:${name} PONG ${name} :${token}`));
  } else {
    session.replyNumeric(NO_ORIGIN);
  }
}

export function oper(session, [, password]) {
  if (password) {
    session.replyNumeric(NO_OPER_HOST);
  } else {
    session.replyNeedMoreParams('OPER');
  }
}
