// Who is in a room, and what about.

import { fold } from './names.js';

// A room begins with its first member and ends with its last.
export class Room {
  topic = ''; // empty: there is none
  members = []; // in the order of joining

  // The name is as the first member wrote it.
  constructor(name) {
    this.name = name;
  }

  // The fan-out: one line to all members but one.
  tell(line, except) {
    for (const member of this.members) {
      if (member !== except) {
        member.send(line);
      }
    }
  }
}

// Rooms sorted by their folded names.
export function sorted(rooms) {
  return [...rooms].sort((a, b) => (fold(a.name) < fold(b.name) ? -1 : 1));
}
