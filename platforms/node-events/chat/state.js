// The rooms and users of one server.

import { fold } from './names.js';
import { Room } from './room.js';
import { Session } from './session.js';

export class ServerState {
  holders = new Map(); // folded nick → session; includes those that have not registered
  rooms = new Map(); // by folded name
  registered = 0;

  // identity is { name, version, created, network, motd }, the texts with which the server introduces itself; motd is a
  // list of lines.
  constructor(identity) {
    this.identity = identity;
  }

  // Opens the session of a connection from host. send takes the bytes of a line; it must not call back into the session.
  // isWanted returns whether send still takes lines.
  openSession(host, send, isWanted = () => true) {
    return new Session(this, host, send, isWanted);
  }

  // Returns the registered session with this nick, compared case-insensitively.
  user(nick) {
    const holder = this.holders.get(fold(nick));
    return holder?.registered ? holder : undefined;
  }

  // Returns the room with this name, compared case-insensitively.
  room(name) {
    return this.rooms.get(fold(name));
  }

  // Returns the room with this name, created if needed; the caller must add a member at once.
  roomFor(name) {
    const key = fold(name);
    let room = this.rooms.get(key);
    if (!room) {
      room = new Room(name);
      this.rooms.set(key, room);
    }
    return room;
  }

  // Removes a session from a room, and the room with its last member.
  leave(room, session) {
    room.members.splice(room.members.indexOf(session), 1);
    if (room.members.length === 0) {
      this.rooms.delete(fold(room.name));
    }
  }
}
