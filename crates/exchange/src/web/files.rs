//! The file set: directories of 36 files in four classes, from 102 bytes to 900 KiB.

/// Number of file classes. Class *k* has files of about 10 to 90 % of 10^*k* KiB.
pub const CLASSES: u8 = 4;
/// Number of files of each class in a directory.
pub const FILES_PER_CLASS: u8 = 9;
/// Number of files in a directory.
pub const FILES_PER_DIRECTORY: usize = CLASSES as usize * FILES_PER_CLASS as usize;
/// Bytes of all files of a directory.
pub const DIRECTORY_BYTES: u64 = 5_119_484;
/// Directories that a path can name with its five digits.
pub const DIRECTORIES_MAX: u32 = 100_000;
/// Bytes of the largest file.
pub(super) const FILE_BYTES_MAX: usize = 921_600;
/// Bytes of the path of any file.
pub const PATH_BYTES: usize = TEMPLATE.len();

const TEMPLATE: &[u8] = b"/file_set/dir00000/class0_0";
const DIRECTORY_AT: usize = 13;
const CLASS_AT: usize = 24;
const NUMBER_AT: usize = 26;

/// One file of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    directory: u32,
    class: u8,
    number: u8,
}

impl FileId {
    /// Returns file `number` (0–8) of `class` (0–3), or `None` if a part is out of range.
    pub const fn new(directory: u32, class: u8, number: u8) -> Option<FileId> {
        if directory < DIRECTORIES_MAX && class < CLASSES && number < FILES_PER_CLASS {
            Some(FileId { directory, class, number })
        } else {
            None
        }
    }

    /// Returns the file at this position: directories, classes and files ascend, and the last changes fastest.
    pub fn at(index: usize) -> Option<FileId> {
        let in_directory = index % FILES_PER_DIRECTORY;
        let directory = u32::try_from(index / FILES_PER_DIRECTORY).ok()?;
        let per_class = usize::from(FILES_PER_CLASS);
        FileId::new(directory, (in_directory / per_class) as u8, (in_directory % per_class) as u8)
    }

    /// The inverse of [`FileId::at`].
    pub fn index(self) -> usize {
        let in_directory = self.class * FILES_PER_CLASS + self.number;
        self.directory as usize * FILES_PER_DIRECTORY + usize::from(in_directory)
    }

    /// The number of its directory, from 0.
    pub fn directory(self) -> u32 {
        self.directory
    }

    /// The class of its size, from 0 (hundreds of bytes) to 3 (hundreds of KiB).
    pub fn class(self) -> u8 {
        self.class
    }

    /// The number of the file in its class, from 0, in the order of the sizes.
    pub fn number(self) -> u8 {
        self.number
    }

    /// Its size: 102.4 × 10^class × (number + 1) bytes, rounded down.
    pub fn size_bytes(self) -> usize {
        (usize::from(self.number) + 1) * 1024 * 10_usize.pow(self.class.into()) / 10
    }

    /// Parses a path of exactly the form `/file_set/dirNNNNN/classX_Y`.
    pub fn parse(path: &[u8]) -> Option<FileId> {
        let path: &[u8; PATH_BYTES] = path.try_into().ok()?;
        let mut directory = 0;
        for digit in &path[DIRECTORY_AT..DIRECTORY_AT + 5] {
            directory = directory * 10 + u32::from(digit.wrapping_sub(b'0'));
        }
        let class = path[CLASS_AT].wrapping_sub(b'0');
        let number = path[NUMBER_AT].wrapping_sub(b'0');
        // A byte that is no digit does not survive the conversion to a number and back.
        FileId::new(directory, class, number).filter(|file| file.path() == *path)
    }

    /// The path in a URL.
    pub fn path(self) -> [u8; PATH_BYTES] {
        let mut path: [u8; PATH_BYTES] = *b"/file_set/dir00000/class0_0";
        let mut left = self.directory;
        for digit in path[DIRECTORY_AT..DIRECTORY_AT + 5].iter_mut().rev() {
            *digit += (left % 10) as u8;
            left /= 10;
        }
        path[CLASS_AT] += self.class;
        path[NUMBER_AT] += self.number;
        path
    }
}

/// The number of directories for so many connections: 25 + (400,000 / 122,000 × connections) / 5, rounded down.
pub fn directories_for(connections: u32) -> u32 {
    let directories = 25 + u64::from(connections) * 400 / 610;
    directories.min(DIRECTORIES_MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(class: u8) -> Vec<usize> {
        (0..FILES_PER_CLASS).map(|number| FileId::new(0, class, number).unwrap().size_bytes()).collect()
    }

    #[test]
    fn a_directory_has_the_published_size() {
        assert_eq!(sizes(0), [102, 204, 307, 409, 512, 614, 716, 819, 921]);
        assert_eq!(sizes(1), [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|kib| kib * 1024));
        assert_eq!(sizes(2), [10, 20, 30, 40, 50, 60, 70, 80, 90].map(|kib| kib * 1024));
        assert_eq!(sizes(3), [100, 200, 300, 400, 500, 600, 700, 800, 900].map(|kib| kib * 1024));
        let total: usize = (0..CLASSES).flat_map(sizes).sum();
        assert_eq!(total as u64, DIRECTORY_BYTES);
        assert_eq!(sizes(3).last(), Some(&FILE_BYTES_MAX));
    }

    #[test]
    fn paths_parse_back_to_their_files() {
        let last = FileId::new(DIRECTORIES_MAX - 1, 3, 8).unwrap();
        assert_eq!(&last.path(), b"/file_set/dir99999/class3_8");
        for file in (0..=last.index()).step_by(7).filter_map(FileId::at).chain([last]) {
            assert_eq!(FileId::parse(&file.path()), Some(file));
            assert_eq!(FileId::at(file.index()), Some(file));
        }
        assert_eq!(FileId::at(last.index() + 1), None);
    }

    #[test]
    fn other_paths_name_no_file() {
        let wrong: [&[u8]; 12] = [
            b"",
            b"/",
            b"/file_set/dir00000/class0_9",
            b"/file_set/dir00000/class4_0",
            b"/file_set/dir0000:/class0_0",
            b"/file_set/dir0000 /class0_0",
            b"/file_set/dir000000/class0_0",
            b"/file_set/dir00000/class0_00",
            b"/file_set/dir00000/class0-0",
            b"/file_set/dir00000\\class0_0",
            b"/FILE_SET/dir00000/class0_0",
            b"file_set/dir00000/class0_0/",
        ];
        for path in wrong {
            assert_eq!(FileId::parse(path), None, "{}", path.escape_ascii());
        }
        // 255 values of a byte at each place, other than the right one, never name the same file.
        let file = FileId::new(12_345, 2, 3).unwrap();
        for at in 0..PATH_BYTES {
            for byte in 0..=u8::MAX {
                let mut path = file.path();
                path[at] = byte;
                let same = byte == file.path()[at];
                assert_eq!(FileId::parse(&path) == Some(file), same, "byte {byte} at {at}");
            }
        }
    }

    #[test]
    fn directories_follow_the_published_formula() {
        assert_eq!([0, 1, 820, 1_000].map(directories_for), [25, 25, 562, 680]);
        assert_eq!(directories_for(u32::MAX), DIRECTORIES_MAX);
    }
}
