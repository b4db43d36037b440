// One connection's side of a hall: bytes in, lines out.

import { commands } from './commands.js';
import { CONTENT_MAX, Framer } from './frame.js';
import { closingLine, compose } from './line.js';
import { parse, upper } from './message.js';
import { fold, same } from './names.js';
import {
  NEED_MORE_PARAMS,
  NO_SUCH_CHANNEL,
  NOT_ON_CHANNEL,
  NOT_REGISTERED,
  TOO_LONG,
  UNKNOWN_COMMAND,
} from './numeric.js';

export class Session {
  open = true;
  registered = false;
  nick = ''; // empty before the first good NICK
  userName = ''; // empty before the first good USER
  realName = '';
  negotiating = false; // registration waits while capabilities are talked about
  prefix = ''; // ':nick!user@host' for the lines that others get; empty until registered
  away = ''; // empty: is not
  rooms = [];
  #framer = new Framer();

  constructor(hall, host, send) {
    this.hall = hall;
    this.host = host.startsWith(':') ? `0${host}` : host; // ::1 would look like a last parameter
    this.send = send;
  }

  // Takes the bytes that arrived, in pieces of any size, and does what they ask for. When the session is not open any
  // more, what was sent is to be written and the connection closed.
  feed(bytes) {
    for (const { line, tooLong } of this.#framer.events(bytes)) {
      if (!this.open) {
        return;
      }
      if (line !== undefined) {
        this.#obey(line);
      } else if (tooLong) {
        this.say(TOO_LONG);
      } else {
        this.close('NUL in input');
      }
    }
  }

  #obey(line) {
    const message = parse(line);
    if (!message) {
      return;
    }
    const command = commands.get(upper(message.command));
    if (!this.registered && !command?.early) {
      this.say(NOT_REGISTERED);
    } else if (command) {
      command.run(this, message.params);
    } else {
      this.say(UNKNOWN_COMMAND, message.command);
    }
  }

  // Ends the session from the server's side: it gets an ERROR that tells the reason, the others see it quit.
  close(reason) {
    if (this.open) {
      this.send(closingLine(reason));
      this.hangUp(reason);
    }
  }

  // Ends the session because its connection is gone or cannot take a line any more: the others see it quit.
  hangUp(reason) {
    if (!this.open) {
      return;
    }
    this.open = false;
    const neighbours = this.neighbours();
    for (const room of this.rooms) {
      this.hall.leave(room, this);
    }
    this.rooms = [];
    const quit = compose(`${this.prefix} QUIT :${reason}`);
    neighbours.forEach((neighbour) => neighbour.send(quit));
    this.hall.holders.delete(fold(this.nick));
    this.hall.registered -= this.registered ? 1 : 0;
  }

  // All who share a room with this session, once each.
  neighbours() {
    const neighbours = new Set(this.rooms.flatMap((room) => room.members));
    neighbours.delete(this);
    return neighbours;
  }

  // Sends a numeric that always has the same text.
  say([code, text], ...about) {
    this.reply(code, ...about, `:${text}`);
  }

  needMore(command) {
    this.say(NEED_MORE_PARAMS, command);
  }

  // Sends ':server code nick params…'; a last parameter with spaces brings its colon along.
  reply(code, ...params) {
    this.send(compose(this.#head(code, params)));
  }

  // Sends ':server code nick params… :item item…' as often as it takes; once if there are no items.
  replyList(code, params, items) {
    const head = `${this.#head(code, params)} :`;
    let whole = head;
    for (const item of items) {
      const space = whole === head ? '' : ' ';
      if (space && whole.length + 1 + item.length > CONTENT_MAX) {
        this.send(compose(whole));
        whole = head + item;
      } else {
        whole += space + item;
      }
    }
    this.send(compose(whole));
  }

  #head(code, params) {
    return [`:${this.hall.identity.name}`, code, this.called, ...params].join(' ');
  }

  // What the server calls this client.
  get called() {
    return this.registered ? this.nick : '*';
  }

  // The room of this name, if the session is in it.
  ownRoom(name) {
    return this.rooms.find((room) => same(room.name, name));
  }

  // The room of this name; if there is none, the client hears so.
  existing(name) {
    const room = this.hall.room(name);
    if (!room) {
      this.say(NO_SUCH_CHANNEL, name);
    }
    return room;
  }

  // The room of this name; if the session is not in it, the client hears so.
  memberOf(name) {
    const own = this.ownRoom(name);
    const room = own ?? this.existing(name);
    if (!own && room) {
      this.say(NOT_ON_CHANNEL, room.name);
    }
    return own;
  }
}
