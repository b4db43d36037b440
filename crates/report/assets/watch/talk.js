// Joins a room of the server under test, as IRC over a WebSocket. The text of others is only ever text.
"use strict";

const LINES_MAX = 200;
let socket = null, nick = "", channel = "", joined = false, pending = [], drawing = false, offered = "", rooms = [];

function offerTalk(talk) {
  const offer = JSON.stringify(talk);
  if (offer === offered) return;
  offered = offer;
  rooms = talk?.rooms ?? [];
  byId("talk-why").textContent = rooms.length
    ? "You join as a stranger: the crowd's messages are checked as before, and the result names you."
    : talk?.nowhere ?? "No server is ready yet.";
  if (rooms.length) {
    const room = byId("room"), last = rooms.at(-1);
    room.min = rooms[0].first;
    room.max = last.first + last.count - 1;
    room.value ||= room.min;
  }
  byId("join").hidden = !rooms.length || socket !== null;
}

function join() {
  nick = byId("nick").value;
  const number = Number(byId("room").value);
  const server = rooms.find(({ first, count }) => number >= first && number < first + count);
  if (!server) return;
  channel = `#klatch-${number}`;
  byId("lines").replaceChildren();
  open(server.urls.flatMap((url) => [[url, ["text.ircv3.net"]], [url, []]]));
}

// Opens the first of these that can be opened. Browsers refuse a connection whose server agrees to none of the subprotocols, and some
// servers agree to none; others accept no page of another origin.
function open([[url, subprotocols], ...others]) {
  let opened = false;
  socket = new WebSocket(url, subprotocols);
  byId("join").hidden = true;
  socket.onopen = () => {
    opened = true;
    send(`NICK ${nick}`);
    send(`USER ${nick} 0 * :${nick}`);
  };
  socket.onmessage = async ({ data }) => receive(typeof data === "string" ? data : await data.text());
  socket.onclose = ({ reason }) => {
    if (!opened && others.length) return open(others);
    left(reason || (opened ? "the server closed the connection" : "the server cannot be reached"));
  };
}

function send(line) {
  socket?.send(line);
}

function left(why) {
  socket = null;
  joined = false;
  note(`You are out of the room: ${why}.`);
  byId("present").textContent = "";
  byId("say").hidden = true;
  byId("join").hidden = !rooms.length;
}

function receive(line) {
  const [, prefix, command, rest] = line.match(/^(?::(\S+) )?(\S+) ?(.*)$/s) ?? [];
  const from = (prefix ?? "").split("!")[0];
  const cut = ` ${rest ?? ""}`.indexOf(" :");
  const text = cut < 0 ? rest ?? "" : rest.slice(cut + 1);
  const where = (rest ?? "").split(" ")[0];
  if (command === "PING") send(`PONG :${text}`);
  else if (command === "001") send(`JOIN ${channel}`);
  else if (command === "433") leave(`the nick ${nick} is taken`);
  else if (command === "366" && !joined) entered();
  else if (command === "PRIVMSG" && where.toLowerCase() === channel) add(from, text, "");
  else if (command === "NOTICE" && joined) note(text);
  else if ((command === "JOIN" || command === "PART" || command === "QUIT") && from !== nick) note(`${from} ${command === "JOIN" ? "joined" : "left"}`);
  else if (command === "ERROR" || /^[45]\d\d$/.test(command)) note(text);
}

function entered() {
  joined = true;
  byId("present").textContent = `You are in ${channel} as ${nick}.`;
  byId("lines").hidden = byId("say").hidden = false;
  byId("text").focus();
}

function say() {
  const text = byId("text").value.replace(/[\r\n]/g, " ").trim();
  if (!text || !joined) return;
  send(`PRIVMSG ${channel} :${text}`);
  add(nick, text, "own");
  byId("text").value = "";
}

function leave(why) {
  const closing = socket;
  if (!closing) return;
  if (closing.readyState === WebSocket.OPEN) closing.send("QUIT :left");
  closing.onclose = null;
  closing.onmessage = null;
  closing.close();
  left(why);
}

function note(text) {
  byId("lines").hidden = false;
  add("", text, "note");
}

// A crowd says thousands of messages a second, and the page draws the last of them once a frame.
function add(from, text, kind) {
  pending.push({ from, text, kind });
  if (pending.length > LINES_MAX) pending.shift();
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const list = byId("lines");
    const follows = list.scrollTop + list.clientHeight >= list.scrollHeight - 30;
    for (const line of pending) {
      const item = element(list, "li", { class: line.kind });
      if (line.from) element(item, "b", {}, line.from);
      item.append(line.text);
    }
    pending = [];
    while (list.childElementCount > LINES_MAX) list.firstElementChild.remove();
    if (follows) list.scrollTop = list.scrollHeight;
  });
}
