//! Names of the files that instruments write beside a record.

use std::path::PathBuf;

/// Where instruments write results too large for the record: `<folder>/<stem>.<ending>`.
#[derive(Clone, Debug)]
pub struct Files {
    /// Folder of the record.
    pub folder: PathBuf,
    /// File name of the record without its ending.
    pub stem: String,
}

impl Files {
    /// The name of the file with this ending, and its path.
    pub(crate) fn name_and_path(&self, ending: &str) -> (String, PathBuf) {
        let name = format!("{}.{ending}", self.stem);
        (name.clone(), self.folder.join(name))
    }
}
