//! Standard output and standard error whose reader may be gone, as in `klatch platforms | head`.
//!
//! The standard library's macros panic then. These stand in for them in every command: what nobody reads is dropped, and the
//! command goes on to its end, since records are its result and servers are to be stopped. SIGPIPE stays ignored, as
//! Klatch writes to pipes of its children too.

use std::fmt::Arguments;
use std::io::{ErrorKind, Result, Write, stderr, stdout};
use std::sync::Mutex;

macro_rules! print {
    ($($text:tt)*) => { $crate::output::out(format_args!($($text)*)) };
}

macro_rules! println {
    ($($text:tt)*) => { $crate::output::out(format_args!("{}\n", format_args!($($text)*))) };
}

macro_rules! eprintln {
    ($($text:tt)*) => { $crate::output::err(format_args!("{}\n", format_args!($($text)*))) };
}

/// The first failure that is not a lost reader.
static FAILURE: Mutex<Option<std::io::Error>> = Mutex::new(None);

pub(crate) fn out(text: Arguments<'_>) {
    note(stdout().lock().write_fmt(text));
}

/// There is nobody left to tell if this fails.
pub(crate) fn err(text: Arguments<'_>) {
    let _ = stderr().lock().write_fmt(text);
}

/// Writes what still waits.
///
/// # Errors
/// Something of what was said is lost, and not for want of a reader: a full disk.
pub(crate) fn end() -> Result<()> {
    note(stdout().lock().flush());
    FAILURE.lock().expect("nothing panics with it").take().map_or(Ok(()), Err)
}

fn note(done: Result<()>) {
    if let Err(error) = done
        && error.kind() != ErrorKind::BrokenPipe
    {
        FAILURE.lock().expect("nothing panics with it").get_or_insert(error);
    }
}
