// CAP, PASS, NICK, USER: how a connection becomes a user.

import { welcome } from './about.js';
import { compose, cut } from './line.js';
import { upper } from './message.js';
import { fold, validNick } from './names.js';
import { ALREADY_REGISTERED, ERRONEOUS_NICK, INVALID_CAP, NICK_IN_USE, NO_NICK } from './numeric.js';

const USER_MAX = 16;
const REAL_NAME_MAX = 100;

// No capability is offered.
export function cap(session, [verb = '', wanted = '']) {
  switch (upper(verb)) {
    case '':
      return session.needMore('CAP');
    case 'LS':
      session.negotiating = true;
      return answerCap(session, 'LS', '');
    case 'LIST':
      return answerCap(session, 'LIST', '');
    case 'REQ':
      session.negotiating = true;
      return answerCap(session, 'NAK', wanted);
    case 'END':
      session.negotiating = false;
      return registerWhenComplete(session);
    default:
      return session.say(INVALID_CAP, verb);
  }
}

function answerCap(session, verb, capabilities) {
  session.send(compose(`:${session.hall.identity.name} CAP ${session.called} ${verb} :${capabilities}`));
}

// Any password will do.
export function pass(session, [password]) {
  if (session.registered) {
    session.say(ALREADY_REGISTERED);
  } else if (!password) {
    session.needMore('PASS');
  }
}

export function user(session, [name, , , realName]) {
  if (session.registered) {
    session.say(ALREADY_REGISTERED);
  } else if (!name || realName === undefined) {
    session.needMore('USER');
  } else {
    // None of its characters can be mistaken for a part of a prefix.
    session.userName = name.slice(0, USER_MAX).replace(/[^A-Za-z0-9._~-]/g, '_');
    session.realName = cut(realName, REAL_NAME_MAX);
    registerWhenComplete(session);
  }
}

export function nick(session, [wanted]) {
  if (!wanted) {
    session.say(NO_NICK);
  } else if (!validNick(wanted)) {
    session.say(ERRONEOUS_NICK, wanted);
  } else if (wanted !== session.nick) {
    takeNick(session, wanted);
  }
}

function takeNick(session, wanted) {
  const { holders } = session.hall;
  if ((holders.get(fold(wanted)) ?? session) !== session) {
    session.say(NICK_IN_USE, wanted);
    return;
  }
  holders.delete(fold(session.nick));
  holders.set(fold(wanted), session);
  session.nick = wanted;
  if (!session.registered) {
    registerWhenComplete(session);
    return;
  }
  const news = compose(`${session.prefix} NICK ${wanted}`);
  setPrefix(session);
  session.send(news);
  session.neighbours().forEach((neighbour) => neighbour.send(news));
}

function registerWhenComplete(session) {
  if (session.registered || session.negotiating || !session.nick || !session.userName) {
    return;
  }
  session.registered = true;
  session.hall.registered += 1;
  setPrefix(session);
  welcome(session);
}

function setPrefix(session) {
  session.prefix = `:${session.nick}!${session.userName}@${session.host}`;
}
