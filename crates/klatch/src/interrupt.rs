//! The signals that interrupt a command.

use std::io::Result;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Calls `handler` on its own thread whenever this process receives SIGINT, SIGTERM or SIGHUP.
///
/// # Errors
/// The signals cannot be registered, or the thread cannot be started.
pub(crate) fn on_interrupt(mut handler: impl FnMut() + Send + 'static) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let work = move || signals.forever().for_each(|_| handler());
    std::thread::Builder::new().name("signals".to_owned()).spawn(work).map(drop)
}
