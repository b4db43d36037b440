//! Long texts, page by page on a terminal.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stdout};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use klatch_host::privileges::Program;
use klatch_lab::find_program;
use klatch_record::printable;
use klatch_report::{can_move_cursor, fitted, width};

use crate::interrupt::on_interrupt;
use crate::output::{finish, print};

/// The pager without the variable PAGER.
const USUAL: &str = "less";
/// Its options without the variable LESS: it ends at once if all fits on the screen, shows controls of colour, and leaves the text there.
const USUAL_OPTIONS: &str = "FRX";

static OFF: AtomicBool = AtomicBool::new(false);

/// Prints later texts without a pager.
pub(crate) fn disable() {
    OFF.store(true, Ordering::Relaxed);
}

/// Prints a text that may be longer than the terminal: on one, through the program of the variable PAGER, or less.
pub(crate) fn print_long(text: impl Display) {
    let text = fitted(&text.to_string(), width());
    // What was printed before comes first.
    let is_paged = pager().is_some_and(|pager| finish().is_ok() && show(&pager, &printable(&text)));
    if !is_paged {
        print(text);
    }
}

/// The command of the pager; `None` if there is to be none.
fn pager() -> Option<String> {
    let has_pages = stdout().is_terminal() && can_move_cursor(std::env::var_os("TERM"));
    // A system without less prints as before, and says nothing of it.
    let usual = || find_program(USUAL, USUAL).ok().map(|_| USUAL.to_owned());
    let command = std::env::var("PAGER").ok().or_else(usual)?;
    let is_wanted = has_pages && !OFF.load(Ordering::Relaxed) && !matches!(command.trim(), "" | "cat");
    is_wanted.then_some(command)
}

/// Returns whether the pager has shown the text, or a part of it until its user left.
fn show(pager: &str, text: &str) -> bool {
    let mut program = Program::new("sh");
    program.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        program.env("LESS", USUAL_OPTIONS);
    }
    // Ctrl-C belongs to the pager, which is killed when this process ends.
    let (Ok(()), Ok(mut shown)) = (on_interrupt(|| {}), program.spawn()) else { return false };
    let written = shown.stdin.take().map(|mut pipe| pipe.write_all(text.as_bytes()));
    let ended = shown.wait();
    // The shell has said on standard error that there is no such program.
    const NOT_FOUND: i32 = 127;
    written.is_some() && ended.is_ok_and(|status| status.code() != Some(NOT_FOUND))
}
