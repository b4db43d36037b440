//! Support for tests: features of the machine that they need, such as root, BPF, an emulator or a browser, and programs that they write.
//!
//! A test with a need begins with [`needs!`]. If a need is not met, the test is not run: it prints the reason to standard error, past the
//! capture of the test harness, and appends a line to the file that `KLATCH_TEST_NOT_RUN` names. `make` prints that file at
//! its end, so a test that was not run cannot pass for one that succeeded.
//!
//! With `KLATCH_TEST_STRICT=1`, as in CI, a missing need with a remedy is a failure.

mod chromium;
mod committed;
mod fuzz;
mod golden;
mod need;
mod newer_java;
mod program;
mod signals;
mod traced;

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use chromium::Chromium;
pub use committed::assert_committed;
pub use fuzz::fuzz;
pub use golden::at_widths;
pub use need::{Need, tests_all};
pub use newer_java::newer_java;
pub use program::write_program;
pub use signals::let_interrupts_through;
pub use traced::system_calls;

/// Ends a test here, with a record of the reason, unless the machine has everything that the test needs.
///
/// ```
/// use klatch_testing::{Need, needs};
///
/// fn a_test() {
///     needs!(Need::Root, Need::Program("qemu-system-x86_64", "qemu-system-x86"));
///     // Starts the emulator as root.
/// }
/// ```
#[macro_export]
macro_rules! needs {
    ($($need:expr),+ $(,)?) => {
        if !$crate::all_met(&[$($need),+]) {
            return;
        }
    };
}

/// Whether the machine has everything in `needs`. If not, records that the calling test is not run; [`needs!`] calls it.
///
/// # Panics
/// A missing need has a remedy and `KLATCH_TEST_STRICT` is `1`, or the record cannot be written.
pub fn all_met(needs: &[Need]) -> bool {
    let Some(missing) = needs.iter().find(|need| !need.is_met()) else { return true };
    Report::from_environment().missing(missing);
    false
}

/// Records that the calling test skips `part` because of `why`, for which there is no remedy.
///
/// # Panics
/// The record cannot be written.
pub fn not_run(part: &str, why: &str) {
    Report::from_environment().write(&format!("{}, {part}: {why}", this_test()));
}

/// The destination of reports about missing needs.
struct Report {
    strict: bool,
    file: Option<PathBuf>,
}

impl Report {
    fn from_environment() -> Report {
        Report {
            strict: std::env::var_os("KLATCH_TEST_STRICT").is_some_and(|value| value == "1"),
            file: std::env::var_os("KLATCH_TEST_NOT_RUN").map(PathBuf::from),
        }
    }

    fn missing(&self, need: &Need) {
        let text = format!("{}: needs {}", this_test(), need.description());
        match need.remedy() {
            Some(remedy) if self.strict => panic!("{text}, and KLATCH_TEST_STRICT is set; {remedy}"),
            Some(remedy) => self.write(&format!("{text}; {remedy}")),
            None => self.write(&text),
        }
    }

    fn write(&self, text: &str) {
        // The harness hides the output of passed tests, but does not capture this handle.
        let _ = writeln!(std::io::stderr(), "not run: {text}");
        let Some(file) = &self.file else { return };
        append(file, text)
            .unwrap_or_else(|error| panic!("cannot record in {} what is not run: {error}", file.display()));
    }
}

/// Appends a line in one write, because test programs of several crates share the file.
fn append(file: &Path, text: &str) -> std::io::Result<()> {
    OpenOptions::new().create(true).append(true).open(file)?.write_all(format!("{text}\n").as_bytes())
}

/// `program::test`; the harness names the thread of each test after the test.
fn this_test() -> String {
    let program = std::env::current_exe().ok();
    let stem = program.as_deref().and_then(Path::file_stem).unwrap_or_default().to_string_lossy();
    // Cargo adds a hash to the name.
    let program = stem.rsplit_once('-').map_or(&*stem, |(name, _)| name);
    format!("{program}::{}", std::thread::current().name().unwrap_or("?"))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use super::*;

    /// Run in a process of its own by the tests below, which set its environment.
    #[test]
    #[ignore = "other tests start it"]
    fn needs_a_program_that_is_missing() {
        needs!(Need::Program("sh", "dash"), Need::Program("klatch-no-such-program", "no-such-package"));
        panic!("the test went on");
    }

    /// Run in a process of its own by a test below.
    #[test]
    #[ignore = "another test starts it"]
    fn needs_another_kernel() {
        let other = if Need::SchedExt.is_met() { Need::NoSchedExt } else { Need::SchedExt };
        needs!(other);
        panic!("the test went on");
    }

    /// Runs `test` in its own process. Returns its output and the content of the file of tests that were not run.
    fn run(test: &str, strict: &str) -> (Output, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("not-run");
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", test]);
        command.env("KLATCH_TEST_NOT_RUN", &file).env("KLATCH_TEST_STRICT", strict);
        let output = command.output().unwrap();
        (output, std::fs::read_to_string(file).unwrap_or_default())
    }

    const MISSING: &str =
        "klatch_testing::tests::needs_a_program_that_is_missing: needs klatch-no-such-program";

    #[test]
    fn a_missing_program_is_printed_and_recorded_with_its_package() {
        let (output, recorded) = run("tests::needs_a_program_that_is_missing", "");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(recorded, format!("{MISSING}; apt-get install no-such-package\n"));
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(printed, format!("not run: {recorded}"));
    }

    #[test]
    fn a_missing_program_fails_a_strict_run() {
        let (output, recorded) = run("tests::needs_a_program_that_is_missing", "1");
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(!output.status.success() && recorded.is_empty(), "{printed}");
        assert!(
            printed.contains(MISSING) && printed.contains("apt-get install no-such-package"),
            "{printed}"
        );
    }

    #[test]
    fn another_kernel_is_no_failure_of_a_strict_run() {
        let (output, recorded) = run("tests::needs_another_kernel", "1");
        assert!(output.status.success(), "{output:?}");
        assert!(
            recorded.starts_with("klatch_testing::tests::needs_another_kernel: needs a kernel "),
            "{recorded}"
        );
    }

    #[test]
    fn needs_of_every_machine_are_met() {
        assert!(all_met(&[Need::Program("sh", "dash"), Need::Program("env", "coreutils")]));
    }
}
