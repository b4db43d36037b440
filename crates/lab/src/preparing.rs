//! What the preparation of a machine is doing, for a display.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two looks at a folder into which something is downloaded.
const LOOK: Duration = Duration::from_millis(250);

/// A step of the preparation of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparing<'a> {
    /// Work begins whose amount is not known.
    Work(&'a str),
    /// A download begins.
    Download {
        /// What is downloaded.
        what: &'a str,
        /// Its size, if that is known.
        bytes: Option<u64>,
    },
    /// The bytes of the last download that are here.
    Received(u64),
}

/// What `download` returns, which another program fills this folder for; `received` gets the bytes in it from time to time.
pub(crate) fn watched<R: Send>(
    folder: &Path,
    received: impl Fn(u64),
    download: impl FnOnce() -> R + Send,
) -> R {
    std::thread::scope(|scope| {
        let (done, ended) = channel::<()>();
        let work = scope.spawn(move || {
            let result = download();
            drop(done);
            result
        });
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            received(bytes_in(folder));
        }
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The size of the files in a folder; 0 for one that cannot be read.
fn bytes_in(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).sum()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_download_of_another_program_is_seen_as_it_grows() {
        let folder = tempfile::tempdir().unwrap();
        let seen = Cell::new(0);
        let (saw, is_seen) = channel();
        let received = |bytes| {
            seen.set(bytes);
            // Nobody waits any more once the download has ended.
            let _ = saw.send(());
        };
        let file = folder.path().join("package");
        let written = watched(folder.path(), received, move || {
            std::fs::write(file, [0; 1000]).unwrap();
            is_seen.recv().unwrap();
            7
        });
        assert_eq!((written, seen.get()), (7, 1000));
    }
}
