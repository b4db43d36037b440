//! The signals that interrupt a command, and the one of a file that grows too large.

use std::fs::File;
use std::io::{Result, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use klatch_platforms::Processes;
use klatch_report::{Progress, end_progress};
use klatch_server::is_ignored;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::INTERRUPTED;
use crate::output::print_error;

/// Calls `handler` on its own thread whenever this process receives SIGINT, SIGTERM or SIGHUP. A signal that was ignored when the
/// process started stays ignored: its caller, such as `nohup` or a script, has decided that.
///
/// # Errors
/// The signals cannot be registered, or the thread cannot be started.
pub(crate) fn on_interrupt(mut handler: impl FnMut() + Send + 'static) -> Result<()> {
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal)))?;
    let work = move || signals.forever().for_each(|_| handler());
    std::thread::Builder::new().name("signals".to_owned()).spawn(work).map(drop)
}

/// Ends the command on an interrupt with this line, for a command that starts no process and leaves no unfinished file.
///
/// # Errors
/// As those of [`on_interrupt`].
pub(crate) fn end_at_once(line: String) -> Result<()> {
    on_interrupt(move || {
        end_progress();
        print_error(&line);
        std::process::exit(INTERRUPTED.into());
    })
}

/// A flag that is set by an interrupt, for work that looks at it and then ends by itself.
///
/// # Errors
/// As those of [`on_interrupt`].
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    on_interrupt(move || set.store(true, Ordering::Relaxed))?;
    Ok(flag)
}

/// The line of a command without a result before its end.
pub(crate) const NOTHING_KEPT: &str = "klatch: interrupted; nothing is kept";

/// As [`end_at_once`] with [`NOTHING_KEPT`], without a thread, for work that copies this process. Copies end without the line.
///
/// # Errors
/// The signal cannot be registered.
#[allow(unsafe_code)]
pub(crate) fn end_without_thread() -> Result<()> {
    if is_ignored(SIGINT) {
        return Ok(());
    }
    let own = std::process::id();
    let error = File::from(std::io::stderr().as_fd().try_clone_to_owned()?);
    let line = format!("{NOTHING_KEPT}\n");
    let handler = move || {
        if std::process::id() == own {
            let _ = (&error).write(line.as_bytes());
        }
        signal_hook::low_level::exit(INTERRUPTED.into());
    };
    // SAFETY: the handler only reads its own memory and makes the system calls getpid, write and _exit.
    unsafe { signal_hook::low_level::register(SIGINT, handler) }.map(drop)
}

/// The processes of a command, which an interrupt stops. What takes long before a process starts, such as a build, is shown on
/// standard error.
///
/// # Errors
/// As those of [`on_interrupt`].
pub(crate) fn interruptible_processes() -> Result<Processes> {
    let all = Processes::showing(|work| Box::new(Progress::waiting(work)));
    let stopper = all.clone();
    on_interrupt(move || stopper.interrupt())?;
    Ok(all)
}

/// Makes a write beyond the limit of file sizes (`ulimit -f`) an error with a message. By default the signal ends the process.
pub(crate) fn survive_file_size_limit() {
    // A handler, because the programs that Klatch starts would inherit that the signal is ignored. Without it they end, as they should.
    if !is_ignored(SIGXFSZ) {
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}
