// The files of a site in memory. Each is computed when it is first requested.

import { Content } from './content.js';
import { FILES_PER_DIRECTORY } from './file.js';

export class Store {
  #content;
  #files;

  constructor(seed, directories) {
    this.#content = new Content(seed);
    this.#files = new Array(directories * FILES_PER_DIRECTORY);
  }

  // Whether the site has the file with this index.
  has(index) {
    return index >= 0 && index < this.#files.length;
  }

  // The file with this index, which the site has: { bytes, tagOffsets }. It must not be changed.
  file(index) {
    return (this.#files[index] ??= this.#content.file(index));
  }
}
