//! Waits inside Java, which the kernel sees as futexes only: by the recorder that every HotSpot has (JFR).

mod events;

use std::io::Write;
use std::path::PathBuf;

use klatch_record::observed::{JavaWaitsSide, Sides};
use klatch_record::{Found, InstrumentName, Support};

use crate::bpf::{Looked, Windows};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::java::{is_jvm, say, tool};
use crate::kernel::Kernel;

/// What is recorded. The threshold is in it too.
const SETTINGS: &str = include_str!("klatch.jfc");
/// Shorter waits are as many as messages, and to write them all down would be what is measured.
const THRESHOLD_US: u64 = 100;
/// The name of the recording, and how much of it is kept: the newest.
const NAME: &str = "name=klatch";
const SIZE: &str = "maxsize=64m";

/// The instrument.
pub(crate) struct JavaRecorder;

impl Instrument for JavaRecorder {
    fn name(&self) -> InstrumentName {
        InstrumentName::Jfr
    }

    fn shows(&self) -> &'static str {
        "waits inside Java: monitors, pinned virtual threads"
    }

    fn probe(&self, _: &Kernel) -> Support {
        Support::Usable { base: "the recorder inside the JVM, asked by jcmd of a JDK".to_owned() }
    }

    fn start(
        &self,
        _: &Kernel,
        targets: &Targets,
        _: &Files,
        _: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut settings = tempfile::Builder::new().suffix(".jfc").tempfile().map_err(failed)?;
        settings.write_all(SETTINGS.as_bytes()).map_err(failed)?;
        let settings = format!("settings={}", settings.path().display());
        let begin = |pids: &[u32], recording: &mut Vec<u32>| -> Result<(), InstrumentError> {
            for pid in pids.iter().copied().filter(|pid| is_jvm(*pid)) {
                say(&tool(pid, "jcmd")?, &[&pid.to_string(), "JFR.start", NAME, &settings, SIZE])?;
                recording.push(pid);
            }
            Ok(())
        };
        let mut watch = Watch { servers: Vec::new(), crowds: Vec::new() };
        begin(&targets.servers, &mut watch.servers)?;
        begin(&targets.crowds, &mut watch.crowds)?;
        Ok(Box::new(watch))
    }
}

/// The JVMs that record.
struct Watch {
    servers: Vec<u32>,
    crowds: Vec<u32>,
}

impl Watching for Watch {
    /// Between the end of the run and the reading nothing waits any more, and to end a recording costs CPU time that other
    /// instruments would see.
    fn stop(&mut self) {}

    fn read(&mut self, files: &Files, _: &Looked) -> Result<Seen, InstrumentError> {
        let mut names = Vec::new();
        let found = Sides {
            server: side("server", &std::mem::take(&mut self.servers), files, &mut names)?,
            crowd: side("crowd", &std::mem::take(&mut self.crowds), files, &mut names)?,
        };
        Ok(Seen { found: Found::Jfr(found), cost: None, share_of_time: None, files: names })
    }
}

impl Drop for Watch {
    /// A recording that nobody has read would go on as long as its JVM.
    fn drop(&mut self) {
        for pid in self.servers.iter().chain(&self.crowds) {
            let stop = |jcmd: PathBuf| say(&jcmd, &[&pid.to_string(), "JFR.stop", NAME]);
            // A JVM that is gone records no more.
            let _ = tool(*pid, "jcmd").and_then(stop);
        }
    }
}

/// Ends the recordings of a side and reads them. The files stay: JDK Mission Control opens them.
fn side(
    name: &str,
    pids: &[u32],
    files: &Files,
    names: &mut Vec<String>,
) -> Result<Option<JavaWaitsSide>, InstrumentError> {
    if pids.is_empty() {
        return Ok(None);
    }
    let mut waits = events::Tally::default();
    for (number, pid) in (1..).zip(pids) {
        let (file, path) = match number {
            1 => files.named(&format!("{name}.jfr")),
            _ => files.named(&format!("{name}-{number}.jfr")),
        };
        // It is the JVM that writes, and its working folder may be another.
        let path: PathBuf = std::path::absolute(path).map_err(failed)?;
        let written = format!("filename={}", path.display());
        say(&tool(*pid, "jcmd")?, &[&pid.to_string(), "JFR.stop", NAME, &written])?;
        let jfr = tool(*pid, "jfr")?;
        let asked = ["print", "--json", "--stack-depth", "1", "--events", events::NAMES];
        let json = say(&jfr, &[asked.as_slice(), &[&path.display().to_string()]].concat())?;
        waits.add(&json)?;
        names.push(file);
    }
    Ok(Some(JavaWaitsSide { threshold_us: THRESHOLD_US, ..waits.side() }))
}

fn failed(error: std::io::Error) -> InstrumentError {
    InstrumentError(format!("the Java recorder: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_have_the_threshold_that_is_told_and_the_events_that_are_read() {
        let threshold = format!("<setting name=\"threshold\">{THRESHOLD_US} us</setting>");
        assert_eq!(SETTINGS.matches(&threshold).count(), events::NAMES.split(',').count());
        assert!(events::NAMES.split(',').all(|name| SETTINGS.contains(&format!("<event name=\"{name}\">"))));
    }
}
