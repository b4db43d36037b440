//! The nice value of a process (`setpriority(2)`).

use std::io;
use std::sync::Arc;

use rustix::process::{getpriority_process, setpriority_process};

use super::{ProcessSetting, Refusal};

pub(super) const HELP: &str = "nice value: -20 (gets the most CPU time) to 19; below 0 needs root";

#[derive(Debug)]
struct Nice(i32);

pub(super) fn parse(text: &str) -> Result<Arc<dyn ProcessSetting>, String> {
    let value = text.parse().ok().filter(|value| (-20..=19).contains(value));
    Ok(Arc::new(Nice(value.ok_or("must be a whole number from -20 to 19")?)))
}

impl ProcessSetting for Nice {
    fn set(&self) -> io::Result<()> {
        Ok(setpriority_process(None, self.0)?)
    }

    fn in_force(&self) -> io::Result<bool> {
        Ok(getpriority_process(None)? == self.0)
    }

    fn advice(&self, refusal: &Refusal) -> String {
        match refusal {
            Refusal::Error(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let have = getpriority_process(None).unwrap_or_default();
                format!(
                    "a nice value below {have}, that of klatch, needs permission; run klatch as root, or allow it \
                     with `ulimit -e {}` (as root, or in /etc/security/limits.conf)",
                    20 - self.0
                )
            }
            Refusal::Error(error) => error.to_string(),
            Refusal::Ignored => "the kernel accepted it but did not apply it".to_owned(),
        }
    }
}
