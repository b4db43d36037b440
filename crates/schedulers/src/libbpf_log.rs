//! Collects the messages of libbpf and of the kernel's verifier while a program is loaded.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

/// Limit of collected lines; the reason is in the last ones.
const LINES_MAX: usize = 40;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Discards earlier messages and collects from now on, for the whole process.
pub(crate) fn start() {
    lines().clear();
    set_print(Some((PrintLevel::Warn, |_, message| {
        let mut lines = lines();
        lines.extend(message.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
        let excess = lines.len().saturating_sub(LINES_MAX);
        lines.drain(..excess);
    })));
}

/// The last lines, each after a newline and two spaces.
pub(crate) fn tail() -> String {
    lines().iter().map(|line| format!("\n  {line}")).collect()
}

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}
