// Workload web on node:http: a site whose every byte is a function of a seed. The definition is docs/reference/web.md.

import { AdTables, adCookie, DEFAULT_TABLES, FIRST_USER } from './ads.js';
import { rotate } from './content.js';
import { parseCookie, parseForm } from './form.js';
import { frame, FRAME_END } from './page.js';
import { PostLog } from './post-log.js';
import { checkHead, refuse, refuseAndClose } from './refusal.js';
import { Store } from './store.js';
import { CGI, DYNAMIC, parseTarget } from './target.js';

// A page whose file has at least so many bytes is sent in three parts instead of being copied. These are files of class
// 3, which have no tags, and the post log.
const SHARED_BYTES_MIN = 100 * 1024;

export class Site {
  #seed;
  #store;
  #tables;
  #posts = new PostLog();

  // The seed is a BigInt.
  constructor(seed, directories) {
    this.#seed = seed;
    this.#store = new Store(seed, directories);
    this.#tables = new AdTables(seed, DEFAULT_TABLES);
  }

  // Replies to a request. It is a handler of the event request.
  serve(request, response) {
    const status = checkHead(request);
    if (status) {
      refuseAndClose(request, response, status);
      return;
    }
    const target = parseTarget(request.url);
    const allowed = target?.kind === 'form' ? 'POST' : 'GET';
    if (!target) {
      refuse(response, 404);
    } else if (request.method !== allowed) {
      refuse(response, 405, { Allow: allowed });
    } else if (target.index !== undefined && !this.#store.has(target.index)) {
      refuse(response, 404);
    } else {
      this.#serveTarget(target, request, response);
    }
  }

  // Replies to a request for a target that exists, with the right method.
  #serveTarget({ kind, index, query, options }, request, response) {
    switch (kind) {
      case 'file': {
        const { bytes } = this.#store.file(index);
        writeHead(response, bytes.length);
        response.end(bytes);
        break;
      }
      case 'page':
        this.#servePage(index, query, request, response);
        break;
      case 'cgi':
        send(request, response, { script: CGI, query, file: this.#store.file(index) });
        break;
      case 'form':
        this.#servePost(request, response);
        break;
      case 'reset':
        this.#tables = new AdTables(this.#seed, options);
        this.#posts.clear();
        send(request, response, { script: DYNAMIC, query, file: { bytes: Buffer.alloc(0) } });
        break;
      case 'fetch':
        send(request, response, { script: DYNAMIC, query, file: { bytes: this.#posts.text() } });
    }
  }

  // The standard dynamic page, or one with ads if the request has a user's cookie.
  #servePage(index, query, request, response) {
    const user = parseCookie(request.headers.cookie);
    if (user === null) {
      refuse(response, 400);
      return;
    }
    const choice = user && this.#tables.choose(user.user, user.lastAd);
    const cookie = choice && adCookie(choice);
    send(request, response, { script: DYNAMIC, query, file: this.#store.file(index), cookie, ad: choice?.ad });
  }

  // Reads the form, and logs it before the reply.
  #servePost(request, response) {
    let body = '';
    request.setEncoding('latin1');
    request.on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const form = parseForm(body);
      const user = parseCookie(request.headers.cookie)?.user;
      if (!form || user === undefined) {
        refuse(response, 400);
      } else if (!this.#store.has(form.index)) {
        refuse(response, 404);
      } else if (!this.#posts.append(this.#tables.nowS, form, user)) {
        refuse(response, 503);
      } else {
        const cookie = `my_cookie=${FIRST_USER + user}`;
        send(request, response, { script: DYNAMIC, query: '', file: this.#store.file(form.index), cookie });
      }
    });
  }
}

function writeHead(response, bodyBytes, cookie) {
  const headers = { 'Content-Type': 'text/html', 'Content-Length': bodyBytes };
  if (cookie) {
    headers['Set-Cookie'] = cookie;
  }
  response.writeHead(200, headers);
}

// Replies with a page. ad is the one that the file's tags name instead of the stored one; -1 or undefined for none.
function send(request, response, { script, query, file: { bytes, tagOffsets }, cookie, ad = -1 }) {
  const remote = request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? 'gone';
  const start = frame(remote, script, query);
  const bodyBytes = start.length + bytes.length + FRAME_END.length;
  writeHead(response, bodyBytes, cookie);
  if (bytes.length >= SHARED_BYTES_MIN) {
    response.cork(); // one system call for all parts
    response.write(start, 'latin1');
    response.write(bytes);
    response.end(FRAME_END, 'latin1');
    return;
  }
  const page = Buffer.allocUnsafe(bodyBytes);
  page.write(start, 'latin1');
  bytes.copy(page, start.length);
  page.write(FRAME_END, start.length + bytes.length, 'latin1');
  if (ad >= 0) {
    rotate(page, start.length, tagOffsets, ad);
  }
  response.end(page);
}
