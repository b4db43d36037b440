// The HTTP of an application: targets below one folder, forms in queries and bodies, replies in JSON.

import { Refused } from './refused.js';

const BODY_MAX = 64 * 1024;

export class Site {
  #root;
  #gets;
  #posts;

  // The root is the path of the folder, with a slash at both ends. gets and posts are Maps of functions (form, request)
  // that resolve to { body, cookie }, or reject; the form of a GET is its query. statistics() returns counts.
  constructor({ root, gets, posts }, statistics) {
    this.#root = root;
    this.#gets = new Map([...gets, ['statistics', () => ({ body: statistics() })]]);
    this.#posts = posts;
  }

  // Replies to a request. Never rejects.
  async serve(request, response) {
    let status = 200;
    let reply;
    try {
      reply = await this.#reply(request, await readBody(request));
    } catch (error) {
      const refused = error instanceof Refused ? error : new Refused(500, `the database failed: ${plain(error.message)}`);
      status = refused.status;
      reply = { body: { error: refused.message } };
    }
    const body = JSON.stringify(reply.body);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    if (reply.cookie !== undefined) {
      headers['Set-Cookie'] = reply.cookie;
    }
    response.writeHead(status, headers).end(body);
  }

  async #reply(request, body) {
    const [path, query = ''] = request.url.split('?', 2);
    const name = path.startsWith(this.#root) ? path.slice(this.#root.length) : '';
    const get = this.#gets.get(name);
    const post = this.#posts.get(name);
    if (!get && !post) {
      throw new Refused(404, `there is no ${plain(path)}`);
    }
    if (get && request.method === 'GET') {
      return get(query, request);
    }
    if (post && request.method === 'POST') {
      return post(body, request);
    }
    throw new Refused(405, `${name} has another method`);
  }
}

async function readBody(request) {
  if (request.method !== 'POST') {
    return '';
  }
  let body = '';
  request.setEncoding('latin1');
  for await (const part of request) {
    body += part;
    if (body.length > BODY_MAX) {
      throw new Refused(400, 'the body is too long');
    }
  }
  return body;
}

// A text without what JSON would escape.
function plain(message) {
  return String(message).replace(/[^ -~]|["\\]/g, '?');
}
