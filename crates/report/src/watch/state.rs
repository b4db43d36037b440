//! What is known of a run that is being made, and of those before it.

use std::time::Instant;

use klatch_record::{CrowdEvent, Platform, Record, Role, Status, Workload};
use serde::Serialize;

use super::talk::Talk;
use super::timeline::Timeline;
use crate::number::{grouped, three_digits, time};
use crate::summary::role_and_number;
use crate::workload_text::describe;

/// Most finished runs that are listed; of a long study these are the last.
const FINISHED_MAX: usize = 100;

/// The state of the runs of one call, from which the page is drawn. Its JSON is complete, so a page that was opened late or missed some
/// changes shows the same as any other.
#[derive(Clone, Debug, Serialize)]
pub struct LiveState {
    /// The platform, or the study with its current cell.
    pub(super) title: String,
    /// The cell of a study that is visited.
    #[serde(skip)]
    cell: Option<String>,
    /// The workload in words; empty until a server is ready.
    workload: String,
    /// Name of one operation: `message`, `request`.
    unit: String,
    talk: Option<Talk>,
    pub(super) current: Option<CurrentRun>,
    /// In the order of their ends.
    finished: Vec<FinishedRun>,
    /// Number of finished runs by verdict, in the order of [`Status::ALL`].
    #[serde(skip)]
    pub(super) verdicts: [u64; 3],
    /// Why nothing follows; `None` while something does.
    end: Option<String>,
    /// Connections of the crowd.
    #[serde(skip)]
    users: u64,
    /// Deliveries of a message, or replies to a request.
    #[serde(skip)]
    due_per_sent: u64,
}

/// The run that is being made, or was made last.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CurrentRun {
    pub(super) name: String,
    phase: Phase,
    pub(super) joined: u64,
    pub(super) users: u64,
    /// How long it took all users to join, s.
    join_s: Option<f64>,
    pub(super) sent: u64,
    pub(super) due: u64,
    pub(super) received: u64,
    /// Share of the run that is done, 0 to 1; `None` if its end is not known in advance.
    pub(super) done: Option<f64>,
    /// CPUs that server and crowd use.
    pub(super) cpus: [Option<f64>; 2],
    /// Of the whole run so far: p50, p99, p99.9 and longest, µs.
    pub(super) latency_us: Option<[f64; 4]>,
    timeline: Timeline,
    #[serde(skip)]
    opened: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Phase {
    Joining,
    Running,
    /// The last delivery is verified, or the crowd gave up; the record is being made.
    Checking,
    Ended,
}

/// A run with its verdict, in words.
#[derive(Clone, Debug, Serialize)]
struct FinishedRun {
    name: String,
    score: String,
    latency_p99: Option<String>,
    server_cpu: Option<String>,
    crowd_cpu: Option<String>,
    verdict: Status,
    /// The reasons of the verdict, then the warnings.
    remarks: Vec<String>,
}

impl LiveState {
    /// The state before a server is ready.
    pub fn new(title: &str) -> LiveState {
        LiveState {
            title: title.to_owned(),
            cell: None,
            workload: String::new(),
            unit: "message".to_owned(),
            talk: None,
            current: None,
            finished: Vec::new(),
            verdicts: [0; 3],
            end: None,
            users: 0,
            due_per_sent: 1,
        }
    }

    /// Takes over a server that is ready; `cell` is that of a study.
    pub fn ready(&mut self, platform: &Platform, workload: &Workload, cell: Option<&str>, talk: Talk) {
        self.cell = cell.map(str::to_owned);
        self.title = self.cell.clone().unwrap_or_else(|| platform.name.clone());
        self.workload = describe(workload);
        self.talk = Some(talk);
        self.unit = workload.kind().operation_name().to_owned();
        self.users = workload.connections();
        self.due_per_sent = match workload {
            Workload::Chat(chat) => u64::from(chat.users.saturating_sub(1)),
            _ => 1,
        };
    }

    /// Shows a new run from its beginning.
    pub fn begin_run(&mut self, role: Role, number: u32) {
        self.current = Some(CurrentRun {
            name: role_and_number(role, number),
            phase: Phase::Joining,
            joined: 0,
            users: self.users,
            join_s: None,
            sent: 0,
            due: 0,
            received: 0,
            done: None,
            cpus: [None; 2],
            latency_us: None,
            timeline: Timeline::new(),
            opened: None,
        });
    }

    /// Applies an event that the crowd sent at this time.
    pub fn crowd(&mut self, event: &CrowdEvent, now: Instant) {
        let due_per_sent = self.due_per_sent;
        let Some(run) = &mut self.current else { return };
        match event {
            CrowdEvent::Joining { joined, users } => (run.joined, run.users) = (*joined, *users),
            CrowdEvent::Joined { join_s } => {
                run.join_s = Some(*join_s);
                run.joined = run.users;
                // The gate opens at once.
                run.opened = Some(now);
            }
            CrowdEvent::Open => {
                run.phase = Phase::Running;
                run.opened = Some(now);
            }
            CrowdEvent::Progress { sent, received, expected, latency_ns } => {
                run.phase = Phase::Running;
                let opened = *run.opened.get_or_insert(now);
                (run.sent, run.due, run.received) = (*sent, sent * due_per_sent, *received);
                run.done = (*expected > 0).then(|| ((sent + received) as f64 / *expected as f64).min(1.0));
                let at_s = now.duration_since(opened).as_secs_f64();
                run.timeline.add(at_s, (run.due, run.received), latency_ns, run.cpus);
                run.latency_us = run.timeline.latency_us();
            }
            CrowdEvent::Cpus { server, crowd } => run.cpus = [*server, *crowd],
            CrowdEvent::Done => run.phase = Phase::Checking,
            CrowdEvent::Gate { .. }
            | CrowdEvent::Paused(_)
            | CrowdEvent::SelfReport(_)
            | CrowdEvent::Result(_) => {}
        }
    }

    /// Adds the result of the current run.
    pub fn end_run(&mut self, record: &Record) {
        if let Some(run) = &mut self.current {
            run.phase = Phase::Ended;
        }
        self.verdicts[record.verdict.status as usize] += 1;
        let cpu = |usage: &Option<klatch_record::Usage>| {
            usage.as_ref().map(|usage| format!("{} µs", three_digits(usage.cpu_us_per_message)))
        };
        let reasons = record.verdict.reasons.iter().map(ToString::to_string);
        let warnings =
            record.warnings.iter().map(|warning| format!("{}; {}", warning.message, warning.advice));
        let run = role_and_number(record.role, record.number);
        self.finished.push(FinishedRun {
            name: self.cell.as_ref().map_or_else(|| run.clone(), |cell| format!("{cell}: {run}")),
            score: format!("{} {}s/s", grouped(record.throughput_per_s().round() as u64), record.unit()),
            latency_p99: record.latency.as_ref().map(|latency| time(latency.p99_us)),
            server_cpu: cpu(&record.usage.server),
            crowd_cpu: cpu(&record.usage.crowd),
            verdict: record.verdict.status,
            remarks: reasons.chain(warnings).collect(),
        });
        let extra = self.finished.len().saturating_sub(FINISHED_MAX);
        self.finished.drain(..extra);
    }

    /// Marks the end of all runs, with its reason.
    pub fn end(&mut self, why: &str) {
        self.end = Some(why.to_owned());
    }

    /// The state as JSON, in the form that the page reads.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("the state is plain JSON")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use klatch_record::ChatWorkload;
    use klatch_record::samples::record;
    use serde_json::Value;

    use super::*;

    fn shown(watch: &LiveState) -> Value {
        serde_json::from_str(&watch.json()).unwrap()
    }

    #[test]
    fn a_run_from_its_first_join_to_its_verdict() {
        let mut watch = LiveState::new("native-epoll");
        watch.crowd(&CrowdEvent::Done, Instant::now());
        assert!(shown(&watch)["current"].is_null(), "no run has begun");
        let mut record = record(1, 0, 50_000.0);
        let workload = Workload::Chat(ChatWorkload { rooms: 2, users: 5, ..ChatWorkload::default() });
        let talk = Talk::Nowhere("no IRC".to_owned());
        watch.ready(&record.platform, &workload, None, talk);
        watch.begin_run(Role::Trial, 1);
        let began = Instant::now();
        watch.crowd(&CrowdEvent::Joining { joined: 3, users: 10 }, began);
        assert_eq!(
            (&shown(&watch)["current"]["joined"], &shown(&watch)["current"]["phase"]),
            (&3.into(), &"joining".into())
        );
        watch.crowd(&CrowdEvent::Joined { join_s: 0.25 }, began);
        watch.crowd(&CrowdEvent::Open, began);
        watch.crowd(&CrowdEvent::Cpus { server: Some(0.75), crowd: Some(0.5) }, began);
        let progress = CrowdEvent::Progress {
            sent: 100,
            received: 380,
            expected: 1_000,
            latency_ns: vec![(1_000_000, 380)],
        };
        watch.crowd(&progress, began + Duration::from_millis(500));
        let run = &shown(&watch)["current"];
        // Each of the 100 messages has four deliveries; 20 of these are in flight.
        assert_eq!((&run["due"], &run["received"], &run["done"]), (&400.into(), &380.into(), &0.48.into()));
        assert_eq!(
            run["timeline"][0],
            serde_json::json!([0.5, 800.0, 760.0, 1000.0, 1000.0, 1000.0, 0.75, 0.5])
        );
        assert_eq!(run["joined"], 10);
        watch.crowd(&CrowdEvent::Done, began);
        record.warnings = vec![klatch_record::Warning {
            kind: klatch_record::WarningKind::Stranger,
            message: "ann was in room 1".to_owned(),
            advice: "leave".to_owned(),
        }];
        watch.end_run(&record);
        watch.end("all runs are made");
        assert_eq!(watch.verdicts, [1, 0, 0]);
        let all = shown(&watch);
        assert_eq!(all["finished"][0]["remarks"], serde_json::json!(["ann was in room 1; leave"]));
        assert_eq!((&all["current"]["phase"], &all["end"]), (&"ended".into(), &"all runs are made".into()));
    }
}
