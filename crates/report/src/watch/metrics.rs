//! The state of a run in the text format of Prometheus, version 0.0.4.

use std::fmt::Write;

use klatch_record::Status;

use super::state::LiveState;

impl LiveState {
    /// The current run, and how many have ended, as metrics. Counters are those of the current run, so they begin again with each.
    pub fn metrics(&self) -> String {
        let mut text = Metrics(String::new());
        text.family("runs_total", "counter", "Finished runs by verdict.");
        for (verdict, count) in Status::ALL.iter().zip(self.verdicts) {
            text.value("runs_total", &[("verdict", verdict.name())], count as f64);
        }
        let Some(run) = &self.current else { return text.0 };
        text.family("run_info", "gauge", "The current run: its platform, or the cell of a study.");
        text.value("run_info", &[("platform", &self.title), ("run", &run.name)], 1.0);
        let [server, crowd] = run.cpus;
        let us = |place: usize| run.latency_us.map(|all| all[place] / 1e6);
        let all = [
            ("connections", "gauge", "Connections of the crowd.", Some(run.users as f64)),
            ("joined", "gauge", "Connections that have joined.", Some(run.joined as f64)),
            ("sent_total", "counter", "Messages or requests that were sent.", Some(run.sent as f64)),
            ("due_total", "counter", "Deliveries or replies that are due for them.", Some(run.due as f64)),
            ("received_total", "counter", "Deliveries or replies that arrived.", Some(run.received as f64)),
            ("done_ratio", "gauge", "Share of the run that is done.", run.done),
            ("server_cpus", "gauge", "CPUs that the server uses.", server),
            ("crowd_cpus", "gauge", "CPUs that the crowd uses.", crowd),
            ("latency_p50_seconds", "gauge", "Median latency of the run so far.", us(0)),
            ("latency_p99_seconds", "gauge", "99th percentile of latency of the run so far.", us(1)),
            ("latency_p99_9_seconds", "gauge", "99.9th percentile of latency of the run so far.", us(2)),
            ("latency_max_seconds", "gauge", "Longest latency of the run so far.", us(3)),
        ];
        for (name, kind, help, value) in all {
            let Some(value) = value else { continue };
            text.family(name, kind, help);
            text.value(name, &[], value);
        }
        text.0
    }
}

struct Metrics(String);

impl Metrics {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP klatch_{name} {help}\n# TYPE klatch_{name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "klatch_{name}{labels} {value}");
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use klatch_record::samples::record;
    use klatch_record::{CrowdEvent, Role};

    use super::*;

    #[test]
    fn a_run_and_those_before_it_are_metrics() {
        let mut watch = LiveState::new("a \"b\"\\\nc");
        assert!(watch.metrics().ends_with("klatch_runs_total{verdict=\"unknown\"} 0\n"));
        watch.begin_run(Role::Trial, 1);
        watch.end_run(&record(1, 0, 50_000.0));
        watch.begin_run(Role::Trial, 2);
        watch.crowd(&CrowdEvent::Cpus { server: Some(0.75), crowd: None }, Instant::now());
        let latency_ns = vec![(2_000_000, 380)];
        let progress = CrowdEvent::Progress { sent: 100, received: 90, expected: 400, latency_ns };
        watch.crowd(&progress, Instant::now());
        let text = watch.metrics();
        for line in [
            "klatch_runs_total{verdict=\"valid\"} 1",
            r#"klatch_run_info{platform="a \"b\"\\\nc",run="trial 2"} 1"#,
            "# TYPE klatch_sent_total counter",
            "klatch_sent_total 100",
            "klatch_received_total 90",
            "klatch_done_ratio 0.475",
            "klatch_server_cpus 0.75",
            "klatch_latency_p99_seconds 0.002",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}: {text}");
        }
        assert!(!text.contains("crowd_cpus"), "what is not known is no zero: {text}");
    }
}
