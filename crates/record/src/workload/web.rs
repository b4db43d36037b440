//! Workload `web`: lines that request files and pages of a web site, each at the speed of its line.

use serde::{Deserialize, Serialize};

use super::error::within;
use super::settings::{Range, Scope, Setting, field};
use super::values::{Seconds, Speed};
use super::{SECONDS_MAX, WorkloadError};

/// The seed of the files' contents and of the ad tables, the same in every run, so that servers can keep their files.
pub const CONTENT_SEED: u64 = 1;
/// Directories of the rule for many lines would fill a disk, so a run has at most so many unless it is set.
const DIRECTORIES_USUAL_MAX: u32 = 200;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("lines", "N", "number of lines, which are simultaneous connections", field!(Web, lines))
        .in_range(Range::Whole(1, 100_000)),
    Setting::new(
        "line",
        "KBIT/S",
        "speed of each line, or none to read as fast as possible",
        field!(Web, web => Speed(&mut web.line_kbit_per_s)),
    )
    .in_range(Range::Whole(8, 10_000_000)),
    Setting::new(
        "directories",
        "N",
        "directories of the site, of 36 files and 5 MB each",
        field!(Web, directories),
    )
    .in_range(Range::Whole(1, 10_000))
    .following("25 + 0.66 a line, at most 200"),
    Setting::new(
        "static_only",
        "",
        "send static GETs only, to a server without the dynamic half",
        field!(Web, static_only),
    ),
    Setting::new(
        "duration",
        "TIME",
        "time for which requests are sent",
        field!(Web, web => Seconds(&mut web.duration_s)),
    )
    .in_range(Range::AboveZero(SECONDS_MAX, "seconds"))
    .scoped(Scope::End),
    Setting::new(
        "start",
        "N",
        "number of the first line, for several crowds on one server",
        field!(Web, start),
    )
    .scoped(Scope::Share),
];

/// Lines, their speed, and the site. Definition: `docs/reference/web.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WebWorkload {
    /// Number of lines, which are simultaneous connections, 1..=100000.
    pub lines: u32,
    /// Speed of each line in kbit/s, 8..=10000000; `null`: as fast as the connection takes it.
    pub line_kbit_per_s: Option<u32>,
    /// Directories of the site, 1..=10000. Each has 36 files of 5,119,484 bytes in all.
    pub directories: u32,
    /// Only static GETs are sent, for servers without the dynamic half.
    pub static_only: bool,
    /// Time for which requests are sent, seconds. The run ends with the last reply.
    pub duration_s: f64,
    /// Number of the first line, so that several crowds can share a server.
    pub start: u32,
}

impl Default for WebWorkload {
    /// Ten lines of 400 kbit/s for 5 s.
    fn default() -> WebWorkload {
        WebWorkload {
            lines: 10,
            line_kbit_per_s: Some(400),
            directories: usual_directories(10),
            static_only: false,
            duration_s: 5.0,
            start: 1,
        }
    }
}

/// Directories for so many lines: 25 + (400,000 / 122,000 × lines) / 5, but at most 200, which is 1 GB.
fn usual_directories(lines: u32) -> u32 {
    let by_rule = 25.0 + 400_000.0 / 122_000.0 * f64::from(lines) / 5.0;
    (by_rule as u32).min(DIRECTORIES_USUAL_MAX)
}

impl WebWorkload {
    /// Directories that a site has for so many lines, where a run names no other number.
    pub fn directories_for(lines: u32) -> u32 {
        usual_directories(lines)
    }

    /// Checks what follows from several settings.
    pub(super) fn check_together(&self) -> Result<(), WorkloadError> {
        within("start", 1, 1_000_000 - (self.lines - 1), self.start)
    }

    pub(super) fn follow(&mut self, is_given: impl Fn(&str) -> bool) {
        if !is_given("directories") {
            self.directories = usual_directories(self.lines);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    #[test]
    fn directories_grow_with_lines_up_to_a_gigabyte() {
        assert_eq!([1, 10, 100, 1_000, 100_000].map(usual_directories), [25, 31, 90, 200, 200]);
    }

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let web = WebWorkload::default();
        assert_eq!(Workload::Web(web.clone()).check(), Ok(()));
        let error = |workload: WebWorkload| Workload::Web(workload).check().unwrap_err().to_string();
        assert_eq!(error(WebWorkload { lines: 0, ..web.clone() }), "lines must be 1 to 100,000, got 0");
        assert_eq!(
            error(WebWorkload { line_kbit_per_s: Some(7), ..web.clone() }),
            "line must be 8 to 10,000,000, got 7"
        );
        assert_eq!(error(WebWorkload { directories: 0, ..web }), "directories must be 1 to 10,000, got 0");
    }
}
