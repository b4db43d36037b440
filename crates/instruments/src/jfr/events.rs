//! Events of a Java recording, parsed from the output of the JDK's `jfr print --json`.

use std::collections::HashMap;

use jiff::SignedDuration;
use klatch_record::observed::{JavaWaitsSide, WaitPlace, Waits};
use serde::Deserialize;

use crate::error::InstrumentError;

const MONITOR: &str = "jdk.JavaMonitorEnter";
/// The events that are printed and counted.
pub(super) const NAMES: &str = "jdk.JavaMonitorEnter,jdk.VirtualThreadPinned";
const PLACES_MAX: usize = 10;

#[derive(Deserialize)]
struct Printed {
    recording: Recording,
}

#[derive(Deserialize)]
struct Recording {
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    values: Values,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Values {
    duration: SignedDuration,
    monitor_class: Option<Named>,
    stack_trace: Option<Stack>,
}

#[derive(Deserialize)]
struct Stack {
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    method: Method,
}

#[derive(Deserialize)]
struct Method {
    #[serde(rename = "type")]
    class: Named,
    name: String,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Waits of one side, summed over its recordings.
#[derive(Default)]
pub(super) struct WaitCounts {
    monitors: Kind,
    pinned: Kind,
}

/// Waits of one kind.
#[derive(Default)]
struct Kind {
    /// Number and total seconds, by method and class of the monitor.
    places: HashMap<(String, Option<String>), (u64, f64)>,
    max_s: f64,
}

impl WaitCounts {
    /// Adds the events of a recording.
    ///
    /// # Errors
    /// The text is not the output of `jfr print --json`.
    pub(super) fn add(&mut self, json: &[u8]) -> Result<(), InstrumentError> {
        let wrong = |error| InstrumentError(format!("the output of jfr print cannot be parsed: {error}"));
        let printed: Printed = serde_json::from_slice(json).map_err(wrong)?;
        for event in printed.recording.events {
            let kind = if event.kind == MONITOR { &mut self.monitors } else { &mut self.pinned };
            kind.add(event.values);
        }
        Ok(())
    }

    pub(super) fn side(self) -> JavaWaitsSide {
        JavaWaitsSide { monitors: self.monitors.waits(), pinned: self.pinned.waits(), ..Default::default() }
    }
}

impl Kind {
    fn add(&mut self, values: Values) {
        let top = values.stack_trace.and_then(|stack| stack.frames.into_iter().next());
        let method = top.map_or("[unknown]".to_owned(), |frame| {
            format!("{}.{}", dotted(&frame.method.class.name), frame.method.name)
        });
        let monitor = values.monitor_class.map(|class| dotted(&class.name));
        let wait_s = values.duration.as_secs_f64();
        let (count, sum_s) = self.places.entry((method, monitor)).or_default();
        *count += 1;
        *sum_s += wait_s;
        self.max_s = self.max_s.max(wait_s);
    }

    fn waits(self) -> Waits {
        let (count, wait_s) = self.places.values().fold((0, 0.0), |(n, s), one| (n + one.0, s + one.1));
        let place = |((method, monitor), (count, wait_s))| WaitPlace { method, monitor, count, wait_s };
        let mut places: Vec<WaitPlace> = self.places.into_iter().map(place).collect();
        places.sort_by(|a, b| b.wait_s.total_cmp(&a.wait_s).then_with(|| a.method.cmp(&b.method)));
        places.truncate(PLACES_MAX);
        Waits { count, wait_s, max_ms: self.max_s * 1e3, places }
    }
}

/// The class name with dots, as in Java source.
fn dotted(name: &str) -> String {
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{"recording": {"events": [
        {"type": "jdk.JavaMonitorEnter", "values": {"startTime": "2026-11-22T02:56:19Z", "duration": "PT0.065S",
            "monitorClass": {"name": "org\/klatch\/Hall"}, "stackTrace": {"truncated": true, "frames": [
                {"method": {"type": {"name": "org\/klatch\/Hall"}, "name": "join"}, "lineNumber": 2}]}}},
        {"type": "jdk.VirtualThreadPinned", "values": {"duration": "PT1.5S", "stackTrace": null}},
        {"type": "jdk.JavaMonitorEnter", "values": {"duration": "PT0.035S",
            "monitorClass": {"name": "org\/klatch\/Hall"}, "stackTrace": {"frames": [
                {"method": {"type": {"name": "org\/klatch\/Hall"}, "name": "join"}}]}}}
    ]}}"#;

    #[test]
    fn waits_are_added_up_by_place() {
        let mut counts = WaitCounts::default();
        counts.add(PRINTED.as_bytes()).unwrap();
        let side = counts.side();
        let [place] = side.monitors.places.as_slice() else { panic!("{side:?}") };
        assert_eq!((place.method.as_str(), place.count), ("org.klatch.Hall.join", 2));
        assert_eq!(place.monitor.as_deref(), Some("org.klatch.Hall"));
        assert!((place.wait_s - 0.1).abs() < 1e-9 && (side.monitors.max_ms - 65.0).abs() < 1e-6, "{side:?}");
        assert_eq!((side.pinned.count, side.pinned.places[0].method.as_str()), (1, "[unknown]"));
        assert!(WaitCounts::default().add(b"{}").is_err());
    }
}
