//! Standard output and standard error whose reader may close them early, as in `klatch platforms | head`.
//!
//! The macros of the standard library panic then. These functions drop the text, and the command goes on to its end: its
//! records are the result, and it still has servers to stop. SIGPIPE stays ignored, because Klatch also writes to pipes of its
//! children.

use std::fmt::Display;
use std::io::{ErrorKind, Result, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use klatch_record::{Record, check_can_save, printable, save, save_text, without_logins};
use klatch_report::{above_progress, fitted, width};

/// The first write error that is not a closed pipe.
static FAILURE: Mutex<Option<std::io::Error>> = Mutex::new(None);

/// Writes text to standard output. Text of others in it (of a server, a platform, a study, a record) cannot control the terminal; this
/// holds for all functions here but [`print_as_is`].
pub(crate) fn print(text: impl Display) {
    let text = text.to_string();
    keep_failure(above_progress(|| write!(stdout().lock(), "{}", printable(&text))));
}

/// As [`print`], for sentences and tables: lines that are longer than the terminal is wide are continued on the next one.
pub(crate) fn print_text(text: impl Display) {
    print(fitted(&text.to_string(), width()));
}

/// Writes text and a line feed to standard output.
pub(crate) fn print_line(text: impl Display) {
    let text = text.to_string();
    keep_failure(above_progress(|| writeln!(stdout().lock(), "{}", printable(&text))));
}

/// Writes text and a line feed to standard error. There is no other place to report a failure of it.
pub(crate) fn print_error(text: impl Display) {
    let text = without_logins(&text.to_string());
    let text = text.to_string();
    let _ = above_progress(|| writeln!(stderr().lock(), "{}", printable(&text)));
}

/// Writes a page or a binary file to standard output. The scripts of a page have hashes, so nothing in it may change.
pub(crate) fn print_as_is(bytes: &[u8]) {
    keep_failure(stdout().lock().write_all(bytes));
}

/// Whether this is `-`, which stands for standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// A folder for results, as an argument of the command line.
///
/// # Errors
/// It is `-`, which other options take for standard output.
pub(crate) fn folder(text: &str) -> std::result::Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    if is_stdout(&folder) {
        return Err(
            "results are files in a folder, so they cannot go to standard output; name a folder".to_owned()
        );
    }
    Ok(folder)
}

/// Checks that a result can be written to a file, before the work that makes it.
///
/// # Errors
/// The folder is not there or cannot be written, or the file is there and no regular file.
pub(crate) fn check_can_write(path: &Path) -> anyhow::Result<()> {
    if is_stdout(path) { Ok(()) } else { Ok(check_can_save(path)?) }
}

/// Writes a record to a file, or to standard output as one line.
///
/// # Errors
/// The file cannot be written, or is there and no regular file.
pub(crate) fn save_or_print(record: &Record, path: &Path) -> anyhow::Result<()> {
    if is_stdout(path) {
        print_line(serde_json::to_string(record)?);
        return Ok(());
    }
    Ok(save(record, path)?)
}

/// Writes text to a file, whole or not at all, or to standard output.
///
/// # Errors
/// The file cannot be written, or is there and no regular file.
pub(crate) fn save_text_or_print(text: &str, path: &Path) -> anyhow::Result<()> {
    if is_stdout(path) {
        print(text);
        return Ok(());
    }
    Ok(save_text(text, path)?)
}

/// Flushes standard output.
///
/// # Errors
/// Some text is lost for another reason than a closed pipe, such as a full disk.
pub(crate) fn finish() -> Result<()> {
    keep_failure(stdout().lock().flush());
    FAILURE.lock().expect("no holder of this lock panics").take().map_or(Ok(()), Err)
}

fn keep_failure(written: Result<()>) {
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        FAILURE.lock().expect("no holder of this lock panics").get_or_insert(error);
    }
}
