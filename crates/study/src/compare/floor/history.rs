//! The history of floors, a file with a result in each line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use klatch_record::FloorResult;
use thiserror::Error;

/// The history cannot be appended to.
#[derive(Debug, Error)]
#[error("cannot append to {path}", path = path.display())]
pub struct FloorHistoryError {
    path: PathBuf,
    source: io::Error,
}

/// The file with the results of earlier calls, open for one more.
pub struct FloorHistory {
    path: PathBuf,
    file: File,
}

impl FloorHistory {
    /// Opens the file, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be appended to.
    pub fn open(path: PathBuf) -> Result<FloorHistory, FloorHistoryError> {
        let open = || {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            OpenOptions::new().create(true).append(true).open(&path)
        };
        match open() {
            Ok(file) => Ok(FloorHistory { path, file }),
            Err(source) => Err(FloorHistoryError { path, source }),
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a result as a line of JSON.
    ///
    /// # Errors
    /// The line cannot be written.
    pub fn append(&self, result: &FloorResult) -> Result<(), FloorHistoryError> {
        let line = serde_json::to_string(result).expect("a result is plain JSON") + "\n";
        let written = (&self.file).write_all(line.as_bytes());
        written.map_err(|source| FloorHistoryError { path: self.path.clone(), source })
    }
}

impl Drop for FloorHistory {
    /// Removes a file in which nothing was written.
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|file| file.is_file() && file.len() == 0) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_that_cannot_be_appended_to_is_an_error_before_anything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let error = FloorHistory::open(folder.path().to_owned()).err().unwrap().to_string();
        assert_eq!(error, format!("cannot append to {}", folder.path().display()));
        let path = folder.path().join("new/floor.jsonl");
        let history = FloorHistory::open(path.clone()).unwrap();
        assert!(path.is_file());
        drop(history);
        assert!(!path.exists(), "nothing was measured");
        std::fs::write(&path, "{}\n").unwrap();
        drop(FloorHistory::open(path.clone()).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}\n");
    }
}
