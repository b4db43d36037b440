// Connections to PostgreSQL by pg.

import { createRequire } from 'node:module';
import { StartupError } from '../options.js';
import { Database } from './database.js';

const OID_OF_BIGINT = 20;

function loadPg() {
  try {
    return createRequire(import.meta.url)('pg');
  } catch {
    throw new StartupError('the module pg is not in the folders of NODE_PATH; node build.js installs it');
  }
}

// Connects to the database of the options. Rejects with StartupError.
export async function connect(options) {
  const address = parseUrl(options.database);
  const pg = loadPg();
  pg.types.setTypeParser(OID_OF_BIGINT, Number); // ids and amounts are safe integers
  const pool = new pg.Pool({
    ...address,
    max: options.connections,
    idleTimeoutMillis: 0, // a run opens and closes no connection
  });
  // An idle connection that breaks is replaced by the next request.
  pool.on('error', () => {});
  // A connection in use reports its loss to its query. Without a listener Node would end the program too.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Database(pool, options);
  try {
    await database.openAll(options.connections);
  } catch (error) {
    throw unusable(error);
  }
  return database;
}

// The StartupError of an error of the database.
export function unusable({ message, code }) {
  return new StartupError(`cannot use the database: ${message || code}; check --database, its user, and the password in PGPASSWORD`);
}

function parseUrl(database) {
  const url = database.replace(/^jdbc:/, '');
  if (!url.startsWith('postgresql:')) {
    throw new StartupError(`cannot use the database ${database}: it must be postgresql:…`);
  }
  try {
    const { hostname, port, pathname, searchParams } = new URL(url);
    return {
      host: hostname,
      port: Number(port || 5432),
      database: pathname.slice(1),
      user: searchParams.get('user') ?? undefined,
      password: searchParams.get('password') ?? undefined,
    };
  } catch {
    throw new StartupError(`cannot use the database ${database}: it must be postgresql://HOST:PORT/NAME?user=USER`);
  }
}
