//! Workload `files`: readers of files that stay in the page cache. There is no server.

use serde::{Deserialize, Serialize};

use super::error::within;
use super::settings::{Range, Scope, Setting, field};
use super::values::{Bytes, Inverse, Seconds, Word};
use super::{SECONDS_MAX, WorkloadError};

/// The unit of checked contents, bytes. Blocks are whole pages.
pub const FILE_PAGE_BYTES: u32 = 4096;

/// Most bytes of one read.
const BLOCK_BYTES_MAX: u32 = 1 << 20;

/// Names and meanings.
const ORDERS: &[(&str, &str)] = &[
    ("random", "Any block of any file, each equally likely"),
    ("sequential", "One block after the other, and one file after the other"),
];

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("readers", "N", "number of readers, each a thread", field!(Files, readers))
        .in_range(Range::Whole(1, 1024)),
    Setting::new(
        "block",
        "BYTES",
        "bytes of one read, a power of two, such as 4096, 64KiB or 1MiB",
        field!(Files, files => Bytes(&mut files.block_bytes)),
    ),
    Setting::new(
        "order",
        "ORDER",
        "order in which a reader reads blocks",
        field!(Files, files => Word { word: &mut files.order, words: ORDERS }),
    ),
    Setting::new("files", "N", "number of files, which all readers read", field!(Files, files))
        .in_range(Range::Whole(1, 1000)),
    Setting::new("file_mib", "MIB", "size of each file", field!(Files, file_mib))
        .in_range(Range::Whole(1, 65_536)),
    Setting::new(
        "unverified",
        "",
        "do not compare blocks with what their files must contain",
        field!(Files, files => Inverse(&mut files.verified)),
    ),
    Setting::new(
        "duration",
        "TIME",
        "time for which blocks are read",
        field!(Files, files => Seconds(&mut files.duration_s)),
    )
    .in_range(Range::AboveZero(SECONDS_MAX, "seconds"))
    .scoped(Scope::End),
    Setting::new(
        "start",
        "N",
        "number of the first reader, for several processes on the same files",
        field!(Files, start),
    )
    .scoped(Scope::Share),
];

/// Readers, their files, and the order in which they read. Definition: `docs/reference/files.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesWorkload {
    /// Number of readers, each a thread, 1..=1024.
    pub readers: u32,
    /// Bytes of one read, a power of two, 4096..=1048576.
    pub block_bytes: u32,
    /// Order in which a reader reads blocks.
    pub order: ReadOrder,
    /// Number of files, 1..=1000. All readers read all files.
    pub files: u32,
    /// Size of each file, MiB, 1..=65536.
    pub file_mib: u32,
    /// Every block is compared with what its file must contain.
    pub verified: bool,
    /// Time for which blocks are read, seconds.
    pub duration_s: f64,
    /// Number of the first reader, so that several processes can share the files.
    pub start: u32,
}

/// Orders in which a reader reads blocks.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReadOrder {
    /// Any block of any file, each equally likely.
    Random,
    /// One block after the other, and one file after the other.
    Sequential,
}

impl ReadOrder {
    /// All orders, in the order in which help lists them.
    pub const ALL: [ReadOrder; 2] = crate::variants();

    /// Its name on the command line and in study files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Default for FilesWorkload {
    /// One reader of blocks of 4 KiB, anywhere in 256 MiB, for 2 s.
    fn default() -> FilesWorkload {
        FilesWorkload {
            readers: 1,
            block_bytes: FILE_PAGE_BYTES,
            order: ReadOrder::Random,
            files: 4,
            file_mib: 64,
            verified: true,
            duration_s: 2.0,
            start: 1,
        }
    }
}

impl FilesWorkload {
    /// Blocks in each file.
    pub fn blocks_per_file(&self) -> u64 {
        self.file_bytes() / u64::from(self.block_bytes)
    }

    /// Bytes of each file.
    pub fn file_bytes(&self) -> u64 {
        u64::from(self.file_mib) << 20
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        u64::from(self.files) * self.file_bytes()
    }

    /// Checks what follows from several settings.
    pub(super) fn check_together(&self) -> Result<(), WorkloadError> {
        // A power of two divides every file, which is a whole number of MiB.
        let is_block = self.block_bytes.is_power_of_two()
            && (FILE_PAGE_BYTES..=BLOCK_BYTES_MAX).contains(&self.block_bytes);
        if !is_block {
            let range = format!("a power of two, {FILE_PAGE_BYTES} to {BLOCK_BYTES_MAX} bytes");
            return Err(WorkloadError::out_of("block", range, self.block_bytes));
        }
        within("start", 1, 1_000_000 - (self.readers - 1), self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let files = FilesWorkload::default();
        assert_eq!(Workload::Files(files.clone()).check(), Ok(()));
        assert_eq!((files.bytes(), files.blocks_per_file()), (256 << 20, 16_384));
        let error = |workload: FilesWorkload| Workload::Files(workload).check().unwrap_err().to_string();
        assert_eq!(error(FilesWorkload { readers: 0, ..files.clone() }), "readers must be 1 to 1,024, got 0");
        for block_bytes in [512, 12_288, 2 << 20] {
            assert_eq!(
                error(FilesWorkload { block_bytes, ..files.clone() }),
                format!("block must be a power of two, 4096 to 1048576 bytes, got {block_bytes}")
            );
        }
        assert_eq!(error(FilesWorkload { file_mib: 0, ..files }), "file_mib must be 1 to 65,536, got 0");
    }

    #[test]
    fn orders_are_parsed_by_their_names() {
        for order in ReadOrder::ALL {
            assert_eq!(order.name().parse(), Ok(order));
        }
        assert!("back".parse::<ReadOrder>().is_err());
    }
}
