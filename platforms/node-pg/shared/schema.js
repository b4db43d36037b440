// The tables of an application, loaded with a population.

import { StartupError } from '../options.js';
import { unusable } from './connect.js';
import { createSequence } from './ids.js';
import { Table } from './table.js';

// The table of a population: its seed as a signed number, and its sizes.
export function populationTable(name, sizes) {
  return new Table(name, ['seed BIGINT', ...sizes.map((size) => `${size} INT`)], 0);
}

// Loads the population of a schema if there are no tables, and checks that it is the database's. Rejects with
// StartupError. A schema has these fields:
//   seed, sizes   those of the population, { name: number }; options have the same names
//   population    the table of the population
//   tables        the other tables
//   sequences     first ids, { name: number }
//   contents      a function that returns the first contents as an iterator of [table, rows]
//   indexes       statements
export async function prepare(database, schema, loads) {
  try {
    const sql = 'SELECT to_regclass($1) IS NOT NULL AS exists';
    const [{ exists }] = await database.onConnection((query) => query(sql, schema.population.name));
    if (!exists) {
      if (!loads) {
        throw new StartupError('the database has no tables; load them with --load');
      }
      await database.transaction((query) => load(query, schema));
    }
    await database.onConnection((query) => check(query, schema));
  } catch (error) {
    throw error instanceof StartupError ? error : unusable(error);
  }
}

async function load(query, { seed, sizes, population, tables, sequences, contents, indexes }) {
  for (const table of [population, ...tables]) {
    await query(table.definition);
  }
  for (const [name, first] of Object.entries(sequences)) {
    await query(createSequence(name, first));
  }
  await population.insert(query, [[BigInt.asIntN(64, seed).toString(), ...Object.values(sizes)]]);
  for (const [table, rows] of contents()) {
    await table.insert(query, rows);
  }
  // They are made after the load, which is faster.
  for (const index of indexes) {
    await query(index);
  }
}

async function check(query, { seed, sizes, population }) {
  const names = Object.keys(sizes);
  const [loaded] = await query(`SELECT seed::text, ${names.join(', ')} FROM ${population.name}`);
  const loadedSeed = BigInt.asUintN(64, BigInt(loaded.seed));
  if (loadedSeed !== seed || names.some((name) => loaded[name] !== sizes[name])) {
    const options = [...names.map((name) => `--${name} ${loaded[name]}`), `--seed ${loadedSeed}`].join(' ');
    throw new StartupError(`the database has another population: ${options}; use these options, or another database`);
  }
}
