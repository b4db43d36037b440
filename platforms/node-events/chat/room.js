// A room: its members and its topic.

import { fold } from './names.js';

// A room exists from its first member to its last.
export class Room {
  topic = ''; // empty if not set
  members = []; // in the order of joining

  // The name is spelled as by the first member.
  constructor(name) {
    this.name = name;
  }

  // Sends one line to all members but one.
  deliver(line, except) {
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
