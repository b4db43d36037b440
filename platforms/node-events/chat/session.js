// The protocol state of one connection: bytes in, lines out.

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
  negotiating = false; // between CAP LS or REQ and CAP END, which delays the registration
  prefix = ''; // ':nick!user@host', the source of relayed lines; empty until registered
  away = ''; // empty if not away
  rooms = [];
  #framer = new Framer();

  // isWanted returns whether send still takes lines.
  constructor(server, host, send, isWanted) {
    this.server = server;
    this.isWanted = isWanted;
    this.host = host.startsWith(':') ? `0${host}` : host; // ::1 would parse as a last parameter
    this.send = send;
  }

  // Handles received bytes, in chunks of any size. When the session is no longer open, the caller writes the queued lines
  // and closes the connection.
  feed(bytes) {
    for (const { line, tooLong } of this.#framer.events(bytes)) {
      if (!this.open) {
        return;
      }
      if (line !== undefined) {
        this.#dispatch(line);
      } else if (tooLong) {
        this.replyNumeric(TOO_LONG);
      } else {
        this.close('NUL in input');
      }
    }
  }

  #dispatch(line) {
    const message = parse(line);
    if (!message) {
      return;
    }
    const command = commands.get(upper(message.command));
    if (!this.registered && !command?.beforeRegistration) {
      this.replyNumeric(NOT_REGISTERED);
    } else if (command) {
      // If the client does not read, its connection is about to be closed, and further commands are not worth their work.
      if (command.relays || this.isWanted()) {
        command.run(this, message.params);
      }
    } else {
      this.replyNumeric(UNKNOWN_COMMAND, message.command);
    }
  }

  // Ends the session from the server's side: the client gets an ERROR with the reason, other users a QUIT.
  close(reason) {
    if (this.open) {
      this.send(closingLine(reason));
      this.hangUp(reason);
    }
  }

  // Ends the session after its connection has ended or overflowed: other users get a QUIT.
  hangUp(reason) {
    if (!this.open) {
      return;
    }
    this.open = false;
    const neighbours = this.neighbours();
    for (const room of this.rooms) {
      this.server.leave(room, this);
    }
    this.rooms = [];
    const quit = compose(`${this.prefix} QUIT :${reason}`);
    neighbours.forEach((neighbour) => neighbour.send(quit));
    this.server.holders.delete(fold(this.nick));
    this.server.registered -= this.registered ? 1 : 0;
  }

  // The other sessions in this session's rooms, once each.
  neighbours() {
    const neighbours = new Set(this.rooms.flatMap((room) => room.members));
    neighbours.delete(this);
    return neighbours;
  }

  // Sends a numeric reply with a fixed text.
  replyNumeric([code, text], ...params) {
    this.reply(code, ...params, `:${text}`);
  }

  replyNeedMoreParams(command) {
    this.replyNumeric(NEED_MORE_PARAMS, command);
  }

  // Sends ':server code nick params…'; the caller adds the colon of a last parameter with spaces.
  reply(code, ...params) {
    this.send(compose(this.#head(code, params)));
  }

  // Sends ':server code nick params… :item item…' on as many lines as needed; one if there are no items.
  replyList(code, params, items) {
    const head = `${this.#head(code, params)} :`;
    let whole = head;
    for (const item of items) {
      const space = whole === head ? '' : ' ';
      if (space && whole.length + 1 + item.length > CONTENT_MAX) {
        if (!this.isWanted()) {
          return;
        }
        this.send(compose(whole));
        whole = head + item;
      } else {
        whole += space + item;
      }
    }
    this.send(compose(whole));
  }

  #head(code, params) {
    return [`:${this.server.identity.name}`, code, this.replyTarget, ...params].join(' ');
  }

  // The nick for replies: * until registered.
  get replyTarget() {
    return this.registered ? this.nick : '*';
  }

  // Returns the room with this name if the session is in it.
  ownRoom(name) {
    return this.rooms.find((room) => same(room.name, name));
  }

  // Returns the room with this name; if there is none, replies NO_SUCH_CHANNEL.
  existingRoom(name) {
    const room = this.server.room(name);
    if (!room) {
      this.replyNumeric(NO_SUCH_CHANNEL, name);
    }
    return room;
  }

  // Returns the room with this name; if the session is not in it, replies so.
  joinedRoom(name) {
    const own = this.ownRoom(name);
    const room = own ?? this.existingRoom(name);
    if (!own && room) {
      this.replyNumeric(NOT_ON_CHANNEL, room.name);
    }
    return own;
  }
}
