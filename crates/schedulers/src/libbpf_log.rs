//! Collects the messages of libbpf and of the kernel's verifier while a program is loaded.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

/// Limit of collected lines; the reason is in the last ones.
const LINES_MAX: usize = 40;

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Discards earlier messages and collects from now on, for the whole process.
pub fn start() {
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

/// Why the verifier refused a program, or else the first line; `None` if nothing was said.
pub fn reason() -> Option<String> {
    reason_in(&lines())
}

/// The verifier counts instructions after its reason.
fn reason_in(lines: &[String]) -> Option<String> {
    let counts = lines.iter().rposition(|line| line.starts_with("processed "));
    let at = counts.map_or(0, |counts| counts.saturating_sub(1));
    lines.get(at).map(|line| line.trim().to_owned())
}

fn lines() -> MutexGuard<'static, Vec<String>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_stands_before_the_count_of_the_verifier() {
        let of = |text: &str| reason_in(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        let refused = "libbpf: prog 'a': BPF program load failed: -EINVAL\nlibbpf: prog 'a': -- BEGIN PROG LOAD LOG --\n\
                       BPF_STX uses reserved fields\nprocessed 0 insns (limit 1000000)\n-- END PROG LOAD LOG --\n";
        assert_eq!(of(refused).as_deref(), Some("BPF_STX uses reserved fields"));
        assert_eq!(of("libbpf: no BTF\nlibbpf: failed\n").as_deref(), Some("libbpf: no BTF"));
        assert_eq!(of(""), None);
    }
}
