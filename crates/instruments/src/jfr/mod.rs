//! Waits inside Java, from the Java Flight Recorder. The kernel sees them only as futexes.

mod events;

use std::io::Write;
use std::path::PathBuf;

use klatch_record::observed::{JavaWaitsSide, Sides};
use klatch_record::{InstrumentName, ObservationData, Support};

use crate::bpf::{Coverage, Windows};
use crate::error::InstrumentError;
use crate::files::Files;
use crate::instrument::{Instrument, Output, RunningInstrument};
use crate::jdk::{is_jvm, run_tool, tool};
use crate::kernel::Kernel;
use crate::targets::Targets;

/// The settings of the recording, which contain the threshold, too.
const SETTINGS: &str = include_str!("klatch.jfc");
/// Shorter waits are as frequent as messages, and recording them would dominate the run.
const THRESHOLD_US: u64 = 100;
const NAME: &str = "name=klatch";
/// A longer recording loses its oldest events.
const SIZE: &str = "maxsize=64m";

pub(crate) struct JavaFlightRecorder;

impl Instrument for JavaFlightRecorder {
    fn name(&self) -> InstrumentName {
        InstrumentName::Jfr
    }

    fn description(&self) -> &'static str {
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
    ) -> Result<Box<dyn RunningInstrument>, InstrumentError> {
        let mut settings = tempfile::Builder::new().suffix(".jfc").tempfile().map_err(failed)?;
        settings.write_all(SETTINGS.as_bytes()).map_err(failed)?;
        let settings = format!("settings={}", settings.path().display());
        let begin = |pids: &[u32], recording: &mut Vec<u32>| -> Result<(), InstrumentError> {
            for pid in pids.iter().copied().filter(|pid| is_jvm(*pid)) {
                run_tool(&tool(pid, "jcmd")?, &[&pid.to_string(), "JFR.start", NAME, &settings, SIZE])?;
                recording.push(pid);
            }
            Ok(())
        };
        let mut recordings = RunningRecordings { servers: Vec::new(), crowds: Vec::new() };
        begin(&targets.servers, &mut recordings.servers)?;
        begin(&targets.crowds, &mut recordings.crowds)?;
        Ok(Box::new(recordings))
    }
}

/// Ids of the JVMs with a recording in progress.
struct RunningRecordings {
    servers: Vec<u32>,
    crowds: Vec<u32>,
}

impl RunningInstrument for RunningRecordings {
    /// Does nothing: no thread waits after the run, and ending a recording uses CPU time that other instruments would count.
    fn stop(&mut self) {}

    fn read(&mut self, files: &Files, _: &Coverage) -> Result<Output, InstrumentError> {
        let mut names = Vec::new();
        let waits = Sides {
            server: read_side("server", &std::mem::take(&mut self.servers), files, &mut names)?,
            crowd: read_side("crowd", &std::mem::take(&mut self.crowds), files, &mut names)?,
        };
        Ok(Output { data: ObservationData::Jfr(waits), cost: None, share_of_time: None, files: names })
    }
}

impl Drop for RunningRecordings {
    /// A recording that was not read would otherwise continue as long as its JVM.
    fn drop(&mut self) {
        for pid in self.servers.iter().chain(&self.crowds) {
            let stop = |jcmd: PathBuf| run_tool(&jcmd, &[&pid.to_string(), "JFR.stop", NAME]);
            // The recording ends with its JVM, so a failure needs no action.
            let _ = tool(*pid, "jcmd").and_then(stop);
        }
    }
}

/// Ends the recordings of a side and counts their events. The files remain for JDK Mission Control.
fn read_side(
    name: &str,
    pids: &[u32],
    files: &Files,
    names: &mut Vec<String>,
) -> Result<Option<JavaWaitsSide>, InstrumentError> {
    if pids.is_empty() {
        return Ok(None);
    }
    let mut waits = events::WaitCounts::default();
    for (number, pid) in (1..).zip(pids) {
        let (file, path) = match number {
            1 => files.name_and_path(&format!("{name}.jfr")),
            _ => files.name_and_path(&format!("{name}-{number}.jfr")),
        };
        // The JVM writes the file, and can have another working folder.
        let path: PathBuf = std::path::absolute(path).map_err(failed)?;
        let target = format!("filename={}", path.display());
        run_tool(&tool(*pid, "jcmd")?, &[&pid.to_string(), "JFR.stop", NAME, &target])?;
        let jfr = tool(*pid, "jfr")?;
        let arguments = ["print", "--json", "--stack-depth", "1", "--events", events::NAMES];
        let json = run_tool(&jfr, &[arguments.as_slice(), &[&path.display().to_string()]].concat())?;
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
    fn settings_contain_the_reported_threshold_and_events() {
        let threshold = format!("<setting name=\"threshold\">{THRESHOLD_US} us</setting>");
        assert_eq!(SETTINGS.matches(&threshold).count(), events::NAMES.split(',').count());
        assert!(events::NAMES.split(',').all(|name| SETTINGS.contains(&format!("<event name=\"{name}\">"))));
    }
}
