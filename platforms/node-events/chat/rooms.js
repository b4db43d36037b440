// JOIN, PART, TOPIC, INVITE, KICK, NAMES, LIST.

import { compose, cut } from './line.js';
import { items } from './message.js';
import { validChannel } from './names.js';
import {
  ALREADY_ON_CHANNEL,
  END_OF_LIST,
  END_OF_NAMES,
  LIST_START,
  NO_CHANNEL_OPERATOR,
  NO_SUCH_CHANNEL,
  NO_SUCH_NICK,
  NO_TOPIC,
  TOO_MANY_CHANNELS,
  TOO_MANY_TARGETS,
} from './numeric.js';
import { sorted } from './room.js';

const ROOMS_MAX = 50;
const TOPIC_MAX = 300;

export function join(session, [names]) {
  if (items(names).length === 0) {
    session.replyNeedMoreParams('JOIN');
  } else if (names === '0') {
    session.rooms.slice().forEach((room) => leave(session, room));
  } else {
    for (const name of items(names)) {
      if (!validChannel(name)) {
        session.replyNumeric(NO_SUCH_CHANNEL, name);
      } else if (!session.ownRoom(name)) {
        joinOne(session, name);
      }
    }
  }
}

function joinOne(session, name) {
  if (session.rooms.length >= ROOMS_MAX) {
    session.replyNumeric(TOO_MANY_CHANNELS, name);
    return;
  }
  const room = session.server.roomFor(name);
  room.members.push(session);
  session.rooms.push(room);
  room.deliver(compose(`${session.prefix} JOIN ${room.name}`));
  if (room.topic) {
    session.reply('332', room.name, `:${room.topic}`);
  }
  replyNames(session, room);
}

export function part(session, [names, reason]) {
  if (items(names).length === 0) {
    session.replyNeedMoreParams('PART');
  }
  for (const name of items(names)) {
    const room = session.joinedRoom(name);
    if (room) {
      leave(session, room, reason);
    }
  }
}

function leave(session, room, reason) {
  room.deliver(compose(`${session.prefix} PART ${room.name}${reason ? ` :${reason}` : ''}`));
  session.rooms.splice(session.rooms.indexOf(room), 1);
  session.server.leave(room, session);
}

export function topic(session, [name, text]) {
  if (!name) {
    session.replyNeedMoreParams('TOPIC');
    return;
  }
  const room = text === undefined ? session.existingRoom(name) : session.joinedRoom(name);
  if (!room) {
    return;
  }
  if (text !== undefined) {
    room.topic = cut(text, TOPIC_MAX);
    room.deliver(compose(`${session.prefix} TOPIC ${room.name} :${room.topic}`));
  } else if (room.topic) {
    session.reply('332', room.name, `:${room.topic}`);
  } else {
    session.replyNumeric(NO_TOPIC, room.name);
  }
}

export function invite(session, [nick, name]) {
  if (!nick || !name) {
    session.replyNeedMoreParams('INVITE');
    return;
  }
  const guest = session.server.user(nick);
  if (!guest) {
    session.replyNumeric(NO_SUCH_NICK, nick);
    return;
  }
  const room = session.joinedRoom(name);
  if (!room) {
    return;
  }
  if (room.members.includes(guest)) {
    session.replyNumeric(ALREADY_ON_CHANNEL, guest.nick, room.name);
    return;
  }
  session.reply('341', guest.nick, room.name);
  guest.send(compose(`${session.prefix} INVITE ${guest.nick} ${room.name}`));
}

// KICK is always rejected: there are no channel operators.
export function kick(session, [name, nick]) {
  if (!name || !nick) {
    session.replyNeedMoreParams('KICK');
    return;
  }
  const room = session.joinedRoom(name);
  if (room) {
    session.replyNumeric(NO_CHANNEL_OPERATOR, room.name);
  }
}

export function names(session, [names]) {
  const [name, excess] = items(names);
  if (excess) {
    session.replyNumeric(TOO_MANY_TARGETS, excess);
    return;
  }
  const room = name && session.server.room(name);
  if (room) {
    replyNames(session, room);
  } else {
    session.replyNumeric(END_OF_NAMES, name ?? '*');
  }
}

function replyNames(session, room) {
  const nicks = room.members.map((member) => member.nick);
  session.replyList('353', ['=', room.name], nicks);
  session.replyNumeric(END_OF_NAMES, room.name);
}

export function list(session, [names]) {
  const { server } = session;
  const [name, excess] = items(names);
  if (excess) {
    // A short line with many rooms would make a long answer.
    session.replyNumeric(TOO_MANY_TARGETS, excess);
    return;
  }
  const rooms = name ? [server.room(name)].filter((room) => room) : sorted(server.rooms.values());
  session.replyNumeric(LIST_START, 'Channel');
  for (const room of rooms) {
    if (!session.isWanted()) {
      return;
    }
    session.reply('322', room.name, room.members.length, `:${room.topic}`);
  }
  session.replyNumeric(END_OF_LIST);
}
