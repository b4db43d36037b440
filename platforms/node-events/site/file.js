// The file set: directories of 36 files in four classes.

export const CLASSES = 4;
export const FILES_PER_CLASS = 9;
export const FILES_PER_DIRECTORY = CLASSES * FILES_PER_CLASS;
// Directories that the five digits of a path can name.
export const DIRECTORIES_MAX = 100_000;
export const FILE_BYTES_MAX = 921_600;

const PATH = /^\/file_set\/dir([0-9]{5})\/class([0-3])_([0-8])$/;

// The position of a file, which stands for it everywhere: directories, classes and files ascend, and the last changes
// fastest. Returns -1 if a part is out of range.
export function fileIndex(directory, fileClass, number) {
  const exists = directory < DIRECTORIES_MAX && fileClass < CLASSES && number < FILES_PER_CLASS;
  return exists ? directory * FILES_PER_DIRECTORY + fileClass * FILES_PER_CLASS + number : -1;
}

// The inverse of fileIndex.
export function partsOf(index) {
  const inDirectory = index % FILES_PER_DIRECTORY;
  return {
    directory: Math.floor(index / FILES_PER_DIRECTORY),
    fileClass: Math.floor(inDirectory / FILES_PER_CLASS),
    number: inDirectory % FILES_PER_CLASS,
  };
}

// Returns the index of the file with this path, or -1. The path must be exactly like /file_set/dir00012/class1_3.
export function parsePath(path) {
  const parts = PATH.exec(path);
  return parts ? fileIndex(Number(parts[1]), Number(parts[2]), Number(parts[3])) : -1;
}

// The path in a URL.
export function pathOf(index) {
  const { directory, fileClass, number } = partsOf(index);
  return `/file_set/dir${String(directory).padStart(5, '0')}/class${fileClass}_${number}`;
}

// 102.4 × 10^class × (number + 1) bytes, rounded down.
export function sizeBytes(index) {
  const { fileClass, number } = partsOf(index);
  return Math.floor(((number + 1) * 1024 * 10 ** fileClass) / 10);
}
