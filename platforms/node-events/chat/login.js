// The commands CAP, PASS, NICK and USER, which register a connection.

import { welcome } from './server-info.js';
import { compose, cut } from './line.js';
import { upper } from './message.js';
import { fold, validNick } from './names.js';
import { ALREADY_REGISTERED, ERRONEOUS_NICK, INVALID_CAP, NICK_IN_USE, NO_NICK } from './numeric.js';

const USER_MAX = 16;
const REAL_NAME_MAX = 100;

// No capability is offered.
export function cap(session, [verb = '', capabilities = '']) {
  switch (upper(verb)) {
    case '':
      return session.replyNeedMoreParams('CAP');
    case 'LS':
      session.negotiating = true;
      return replyCap(session, 'LS', '');
    case 'LIST':
      return replyCap(session, 'LIST', '');
    case 'REQ':
      session.negotiating = true;
      return replyCap(session, 'NAK', capabilities);
    case 'END':
      session.negotiating = false;
      return registerWhenComplete(session);
    default:
      return session.replyNumeric(INVALID_CAP, verb);
  }
}

function replyCap(session, verb, capabilities) {
  session.send(compose(`:${session.server.identity.name} CAP ${session.replyTarget} ${verb} :${capabilities}`));
}

// Accepts any password.
export function pass(session, [password]) {
  if (session.registered) {
    session.replyNumeric(ALREADY_REGISTERED);
  } else if (!password) {
    session.replyNeedMoreParams('PASS');
  }
}

export function user(session, [name, , , realName]) {
  if (session.registered) {
    session.replyNumeric(ALREADY_REGISTERED);
  } else if (!name || realName === undefined) {
    session.replyNeedMoreParams('USER');
  } else {
    // Replaces characters that could be parsed as part of a prefix.
    session.userName = name.slice(0, USER_MAX).replace(/[^A-Za-z0-9._~-]/g, '_');
    session.realName = cut(realName, REAL_NAME_MAX);
    registerWhenComplete(session);
  }
}

export function nick(session, [newNick]) {
  if (!newNick) {
    session.replyNumeric(NO_NICK);
  } else if (!validNick(newNick)) {
    session.replyNumeric(ERRONEOUS_NICK, newNick);
  } else if (newNick !== session.nick) {
    claimNick(session, newNick);
  }
}

function claimNick(session, newNick) {
  const { holders } = session.server;
  if ((holders.get(fold(newNick)) ?? session) !== session) {
    session.replyNumeric(NICK_IN_USE, newNick);
    return;
  }
  holders.delete(fold(session.nick));
  holders.set(fold(newNick), session);
  session.nick = newNick;
  if (!session.registered) {
    registerWhenComplete(session);
    return;
  }
  const line = compose(`${session.prefix} NICK ${newNick}`);
  setPrefix(session);
  session.send(line);
  session.neighbours().forEach((neighbour) => neighbour.send(line));
}

function registerWhenComplete(session) {
  if (session.registered || session.negotiating || !session.nick || !session.userName) {
    return;
  }
  session.registered = true;
  session.server.registered += 1;
  setPrefix(session);
  welcome(session);
}

function setPrefix(session) {
  session.prefix = `:${session.nick}!${session.userName}@${session.host}`;
}
