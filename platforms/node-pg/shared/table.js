// A table of the database.
export class Table {
  #columns;
  #insert;

  // Columns are definitions like "total BIGINT". They are NOT NULL unless they end with NULL. The first keyColumns of
  // them are the key.
  constructor(name, columns, keyColumns = 1) {
    this.name = name;
    this.#columns = columns.length;
    const words = columns.map((column) => column.split(' '));
    const defined = columns.map((column) => (column.endsWith(' NULL') ? column : `${column} NOT NULL`));
    const key = words.slice(0, keyColumns).map(([column]) => column);
    const constraints = keyColumns > 0 ? [`PRIMARY KEY (${key.join(', ')})`] : [];
    this.definition = `CREATE TABLE ${name} (${[...defined, ...constraints].join(', ')})`;
    // One statement for any number of rows, with an array for each column.
    const arrays = words.map(([, type], place) => `$${place + 1}::${type.replace(/\(.*/, '')}[]`);
    this.#insert = `INSERT INTO ${name} SELECT * FROM unnest(${arrays.join(', ')})`;
  }

  // Inserts rows, which are arrays in the order of the columns.
  insert(query, rows) {
    return query(this.#insert, ...Array.from({ length: this.#columns }, (_, place) => rows.map((row) => row[place])));
  }
}
