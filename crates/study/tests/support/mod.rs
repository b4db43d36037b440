//! What the tests of studies share: plans without a machine, and records without a run.

#![allow(dead_code, reason = "each test program uses its own part of this")]

use std::path::Path;
use std::time::Duration;

use klatch_platforms::Wish;
use klatch_record::{
    Build, Checks, Class, CrowdInfo, Environment, Limits, Pacing, Platform, Record, Role, Score, Status,
    UsageOfBoth, Verdict, WireName, Workload,
};
use klatch_study::{CrowdKind, Executor, Plan, RunError, StudyPlan, Visiting, load};

/// What no study file says.
pub(crate) fn base() -> Plan {
    let patience = Duration::from_secs(1);
    Plan {
        wish: Wish::default(),
        target: None,
        crowd: CrowdKind::Native,
        crowd_settings: Vec::new(),
        workload: workload(),
        warmups: 0,
        trials: 1,
        out: "results".into(),
        ready_timeout: patience,
        timeout: patience,
        connect_timeout: patience,
        crowd_loops: 1,
        seed: 1,
        build: Build { version: "0".into(), commit: None },
    }
}

fn workload() -> Workload {
    let pacing = Pacing::Turns;
    Workload { rooms: 10, users: 20, count: 100, size_bytes: 60, start: 1, pacing, pause_s: 0.0 }
}

/// The study of this text, in a file of its own in `folder`.
pub(crate) fn study(folder: &Path, text: &str) -> Result<StudyPlan, String> {
    let path = folder.join("mine.toml");
    std::fs::write(&path, text).unwrap();
    load(path.to_str().unwrap(), &base(), 7).map_err(|error| error.to_string())
}

/// A valid run with this score.
pub(crate) fn record(plan: &Plan, role: Role, number: u32, messages_per_s: f64) -> Record {
    let limits = Limits {
        open_files: None,
        user_processes: None,
        threads_max: None,
        pid_max: None,
        max_map_count: None,
    };
    Record {
        schema: "klatch-record/1".into(),
        klatch: plan.build.clone(),
        started_at: "2026-11-21T00:00:00Z".into(),
        role,
        number,
        platform: Platform {
            name: plan.wish.name.clone().unwrap(),
            class: Some(Class::Classic),
            wire: WireName::Irc,
            knobs: Default::default(),
            version: None,
            address: "127.0.0.1:1".into(),
            chosen_because: None,
            command: None,
            runtime: None,
        },
        crowd: CrowdInfo {
            kind: "native".into(),
            knobs: Default::default(),
            command: Vec::new(),
            runtime: None,
        },
        workload: plan.workload.clone(),
        verdict: Verdict { status: Status::Valid, reasons: Vec::new() },
        warnings: Vec::new(),
        score: Score {
            sent: 1,
            received: 1,
            total: 2,
            elapsed_s: 1.0,
            messages_per_s,
            cpu_us_per_message: Some(1e6 / messages_per_s),
            switches_per_message: None,
            cores_obtained: None,
            join_s: 0.0,
        },
        latency: None,
        send_lag: None,
        checks: Checks {
            lost: 0,
            unsaid: 0,
            repeated: 0,
            reordered: 0,
            altered: 0,
            faults: Vec::new(),
            strangers: Vec::new(),
            failure: None,
        },
        usage: UsageOfBoth { server: None, crowd: None },
        environment: Environment {
            kernel: String::new(),
            kernel_build: String::new(),
            distribution: None,
            cpu_model: None,
            cpus: 1,
            memory_bytes: None,
            load_1min: None,
            steal_share_since_boot: None,
            steal_share_in_run: None,
            limits,
        },
    }
}

/// What a scripted run gives: a score, or why it fails.
pub(crate) type Script<'a> = Box<dyn FnMut(&Plan, Role, u32) -> Result<f64, &'static str> + 'a>;

/// Runs by a script instead of by a machine.
pub(crate) struct Scripted<'a> {
    pub(crate) script: Script<'a>,
    /// Every run made: platform, rooms, role, number.
    pub(crate) made: Vec<(String, u32, Role, u32)>,
    /// Stops as kill -9 would after so many runs, in the middle of the next.
    pub(crate) runs_left: Option<usize>,
}

impl<'a> Scripted<'a> {
    pub(crate) fn new(
        script: impl FnMut(&Plan, Role, u32) -> Result<f64, &'static str> + 'a,
    ) -> Scripted<'a> {
        Scripted { script: Box::new(script), made: Vec::new(), runs_left: None }
    }
}

impl Executor for Scripted<'_> {
    fn visit(
        &mut self,
        plan: &Plan,
        runs: &[(Role, u32)],
        tell: &mut dyn FnMut(Visiting<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        for &(role, number) in runs {
            match &mut self.runs_left {
                Some(0) => return Err(RunError::Interrupted),
                Some(left) => *left -= 1,
                None => {}
            }
            self.made.push((plan.wish.name.clone().unwrap(), plan.workload.rooms, role, number));
            match (self.script)(plan, role, number) {
                Ok(score) => tell(Visiting::Ended(&record(plan, role, number, score)))?,
                Err("the server died") => {
                    let mut invalid = record(plan, role, number, 1.0);
                    invalid.verdict =
                        Verdict { status: Status::Invalid, reasons: vec!["the server died".into()] };
                    tell(Visiting::Ended(&invalid))?;
                    return Ok(());
                }
                Err(words) => return Err(RunError::CrowdDied { words: words.into() }),
            }
        }
        Ok(())
    }
}
