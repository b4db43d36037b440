//! Workload `web`: lines that request files and pages of a web site, each at the speed of its line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rr::SECONDS_MAX;
use super::{WorkloadError, out_of, within};

/// The seed of the files' contents and of the ad tables, the same in every run, so that servers can keep their files.
pub const CONTENT_SEED: u64 = 1;
/// Directories of the rule for many lines would fill a disk, so a run has at most so many unless it is set.
const DIRECTORIES_USUAL_MAX: u32 = 200;

/// Lines, their speed, and the site. Definition: `docs/reference/web.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
pub fn usual_directories(lines: u32) -> u32 {
    let by_rule = 25.0 + 400_000.0 / 122_000.0 * f64::from(lines) / 5.0;
    (by_rule as u32).min(DIRECTORIES_USUAL_MAX)
}

impl WebWorkload {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        within("line count", 1, 100_000, self.lines)?;
        within("line speed", 8, 10_000_000, self.line_kbit_per_s.unwrap_or(8))?;
        within("directory count", 1, 10_000, self.directories)?;
        within("first line", 1, 1_000_000 - (self.lines - 1), self.start)?;
        let possible = self.duration_s > 0.0 && self.duration_s <= SECONDS_MAX;
        possible.then_some(()).ok_or_else(|| {
            out_of("duration", &format!("above 0 and at most {SECONDS_MAX} seconds"), self.duration_s)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_grow_with_lines_up_to_a_gigabyte() {
        assert_eq!([1, 10, 100, 1_000, 100_000].map(usual_directories), [25, 31, 90, 200, 200]);
    }

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let web = WebWorkload::default();
        assert_eq!(web.check(), Ok(()));
        let error = |workload: WebWorkload| workload.check().unwrap_err().to_string();
        assert_eq!(error(WebWorkload { lines: 0, ..web.clone() }), "line count must be 1..=100000, got 0");
        assert_eq!(
            error(WebWorkload { line_kbit_per_s: Some(7), ..web.clone() }),
            "line speed must be 8..=10000000, got 7"
        );
        assert_eq!(error(WebWorkload { directories: 0, ..web }), "directory count must be 1..=10000, got 0");
    }
}
