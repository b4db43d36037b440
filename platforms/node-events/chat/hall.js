// All rooms and users of one server.

import { fold } from './names.js';
import { Room } from './room.js';
import { Session } from './session.js';

export class Hall {
  holders = new Map(); // folded nick → its session, also one that is not registered yet
  rooms = new Map(); // by folded name
  registered = 0;

  // What the server says about itself: { name, version, created, network, motd }; motd is a list of lines.
  constructor(identity) {
    this.identity = identity;
  }

  // A new connection from a host. send takes the bytes of a line; it may not call back into the hall.
  enter(host, send) {
    return new Session(this, host, send);
  }

  // The registered session with that nick, in any spelling.
  user(nick) {
    const holder = this.holders.get(fold(nick));
    return holder?.registered ? holder : undefined;
  }

  // The room with that name, in any spelling.
  room(name) {
    return this.rooms.get(fold(name));
  }

  // The room with that name, made if there is none; the caller adds a member at once.
  roomFor(name) {
    const key = fold(name);
    let room = this.rooms.get(key);
    if (!room) {
      room = new Room(name);
      this.rooms.set(key, room);
    }
    return room;
  }

  // Takes a session out of a room, which ends with its last member.
  leave(room, session) {
    room.members.splice(room.members.indexOf(session), 1);
    if (room.members.length === 0) {
      this.rooms.delete(fold(room.name));
    }
  }
}
