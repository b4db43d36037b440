//! What libbpf and the kernel's verifier say while a program is loaded.

use std::sync::{Mutex, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

/// The last of it is where the reason is.
const LINES_MAX: usize = 40;

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Forgets what was said, and listens from now on.
pub(crate) fn listen() {
    said().clear();
    set_print(Some((PrintLevel::Warn, |_, words| {
        let mut said = said();
        said.extend(words.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
        let too_many = said.len().saturating_sub(LINES_MAX);
        said.drain(..too_many);
    })));
}

/// The last lines, each indented on a line of its own.
pub(crate) fn last() -> String {
    said().iter().map(|line| format!("\n  {line}")).collect()
}

fn said() -> std::sync::MutexGuard<'static, Vec<String>> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}
