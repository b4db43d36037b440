import assert from 'node:assert/strict';
import test from 'node:test';
import { AdTables, adCookie } from '../site/ads.js';
import { Content, rotate } from '../site/content.js';
import { parsePath, partsOf, pathOf } from '../site/file.js';
import { parseForm } from '../site/form.js';
import { siteTest } from './site-client.js';
import { readJson } from './vectors.js';

const vectors = readJson('web.json');

function fnv1a(bytes) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}

test('parses the paths of the vectors', () => {
  assert.ok(vectors.paths.length > 0);
  for (const { path, file } of vectors.paths) {
    const index = parsePath(path);
    const parts = index < 0 ? null : Object.values(partsOf(index));
    assert.deepEqual(parts, file, path);
    assert.ok(index < 0 || pathOf(index) === path);
  }
});

test('makes the files of the vectors', () => {
  assert.ok(vectors.files.length > 0);
  for (const { seed, path, ad, size, first, fnv1a: hash, tags } of vectors.files) {
    const { bytes, tagOffsets } = new Content(BigInt(seed)).file(parsePath(path));
    if (ad !== null) {
      rotate(bytes, 0, tagOffsets, ad);
    }
    assert.deepEqual([bytes.length, bytes.toString('latin1', 0, 64), tagOffsets], [size, first, tags]);
    assert.equal(fnv1a(bytes), hash, `${path}, ad ${ad}`);
  }
});

test('makes the tables of the vectors and finds their ads', () => {
  assert.ok(vectors.ads.length > 0);
  const decimal = (number, digits) => String(number).padStart(digits);
  const hex = (number) => number.toString(16).toUpperCase().padStart(8);
  for (const vector of vectors.ads) {
    const options = { users: vector.users, nowS: vector.now_s, expiryS: vector.expiry_s };
    const tables = new AdTables(BigInt(vector.seed), options);
    const users = [...tables.users].map((demographics, user) => `${decimal(user, 5)} ${hex(demographics)}\n`);
    const ads = tables.ads.map(({ demographics, weights, minimum, expiresS }, ad) => {
      const packed = weights.reduce((all, weight) => all * 16 + weight, 0);
      return `${decimal(ad, 5)} ${hex(demographics)} ${hex(packed)} ${decimal(minimum, 3)} ${decimal(expiresS, 10)}\n`;
    });
    assert.deepEqual([users[0], ads[0]], [vector.first_user, vector.first_ad]);
    assert.equal(fnv1a(Buffer.from(users.join(''))), vector.user_personality);
    assert.equal(fnv1a(Buffer.from(ads.join(''))), vector.custom_ads);
    for (const { user, last_ad: lastAd, cookie } of vector.choices) {
      assert.equal(adCookie(tables.choose(user, lastAd)), cookie, `user ${user} after ad ${lastAd}`);
    }
  }
});

// The file that a request names in its target or its form.
function requestedFile(request) {
  const [path] = /\/file_set\/dir\d{5}\/class\d_\d/.exec(request) ?? [];
  return path ? parsePath(path) : parseForm(request.split('\r\n\r\n')[1]).index;
}

const lines = vectors.lines.filter(({ first }) => first);

test('the vectors have requests', () => assert.ok(lines.length >= 4));

for (const { seed, line, directories, first, static_only: isStatic } of lines) {
  const name = `the requests of line ${line} are served, ${isStatic ? 'static ones' : 'all methods'}, seed ${seed}`;
  const play = async (connect) => {
    const content = new Content(BigInt(seed));
    for (const request of first) {
      const { headers, body } = await (await connect()).ask(request);
      const closes = request.includes('HTTP/1.0') || request.includes('Connection: close');
      assert.equal(headers.get('connection'), closes ? 'close' : 'keep-alive', request);
      const { bytes } = content.file(requestedFile(request));
      if (request.startsWith('GET /file_set/')) {
        assert.ok(body === bytes.toString('latin1'), request);
      } else {
        assert.ok(body.includes(`\n<pre>\n${bytes.toString('latin1', 0, 45)}`) && body.length > bytes.length, request);
      }
    }
  };
  siteTest(name, play, { seed, directories });
}
