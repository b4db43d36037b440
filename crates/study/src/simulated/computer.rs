//! Simulates the trials of a study.

use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;

use klatch_record::{MESSAGES_PER_S, METRICS, ResultKind};
use klatch_simulator::{Account, Cell, Distance, Outcome, Workload, simulate};
use serde::{Deserialize, Serialize};

use super::job::SimulatedJob;
use crate::computed::Computer;

/// The metrics of simulated trials, in the order of the list of all metrics, each read from an outcome.
fn values(outcome: &Outcome) -> Vec<(String, f64)> {
    let simulated = METRICS.iter().filter(|metric| metric.is_simulated);
    simulated.filter_map(|metric| Some((metric.name.to_owned(), value(metric.name, outcome)?))).collect()
}

/// A metric of an outcome; `None` if simulated trials do not have it.
fn value(metric: &str, outcome: &Outcome) -> Option<f64> {
    let counts = &outcome.counts;
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    Some(match metric {
        MESSAGES_PER_S => outcome.messages_per_s(),
        "run_queue_latency_p50_us" => outcome.latency_us(0.5),
        "run_queue_latency_p90_us" => outcome.latency_us(0.9),
        "run_queue_latency_p99_us" => outcome.latency_us(0.99),
        "run_queue_latency_p999_us" => outcome.latency_us(0.999),
        "run_queue_length" => outcome.queue_length_mean(),
        "idle_share" => outcome.share(Account::Idle),
        "spin_share" => outcome.share(Account::Spin),
        "kernel_share" => outcome.kernel_share(),
        "decisions_per_message" => per_message(outcome, counts.decisions),
        "yields_per_message" => per_message(outcome, counts.yields),
        "wakeups_per_message" => per_message(outcome, counts.wakeups),
        "elements_per_decision" => share(counts.elements, counts.decisions),
        "migrations_per_message" => per_message(outcome, counts.migrations.iter().sum()),
        "lock_contended_share" => share(counts.locks.contended, counts.locks.acquired),
        _ => return None,
    })
}

fn per_message(outcome: &Outcome, count: u64) -> f64 {
    count as f64 / outcome.counts.messages as f64
}

/// The stored result of a simulated run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedTrial {
    /// Always `simulated`: nothing in it is measured.
    pub kind: ResultKind,
    /// The seed of the run.
    pub seed: u32,
    /// SHA-256 of the names and values of the costs.
    pub costs: String,
    /// Metrics by name; `time_us_per_message.ACCOUNT` is the CPU time of all CPUs in an account,
    /// `migrations_per_message.DISTANCE` how often a task changed its CPU by this distance.
    pub metrics: Vec<(String, f64)>,
    /// All counts of the run.
    pub outcome: serde_json::Value,
}

/// Simulates the trials of a study.
pub struct Simulator;

impl Computer for Simulator {
    type Job = SimulatedJob;
    type Trial = SimulatedTrial;
    type Error = Infallible;

    fn compute(&self, job: &SimulatedJob, seed: u32, _folder: &Path) -> Result<SimulatedTrial, Infallible> {
        let cell = Cell {
            scheduler: job.scheduler,
            hardware: job.hardware,
            work: job.work.clone(),
            placement: if job.pinned { shares(job) } else { Vec::new() },
            seed: seed.into(),
        };
        let outcome = simulate(&cell, &job.costs);
        let account = |account: Account| {
            (format!("time_us_per_message.{}", account.name()), outcome.us_per_message(account))
        };
        let moves = |distance: Distance| {
            let count = outcome.counts.migrations[distance as usize];
            (format!("migrations_per_message.{}", distance.name()), per_message(&outcome, count))
        };
        Ok(SimulatedTrial {
            kind: ResultKind::Simulated,
            seed,
            costs: job.costs.hash(),
            metrics: values(&outcome)
                .into_iter()
                .chain(Account::ALL.map(account))
                .chain(Distance::MOVES.map(moves))
                .collect(),
            outcome: serde_json::to_value(&outcome).expect("an outcome is plain JSON"),
        })
    }

    fn failure<'a>(&self, _trial: &'a SimulatedTrial) -> Option<&'a str> {
        None
    }

    fn metrics(&self, trial: &SimulatedTrial) -> Vec<(String, f64)> {
        trial.metrics.clone()
    }
}

/// The CPUs of each process: equal parts of the machine, in order.
fn shares(job: &SimulatedJob) -> Vec<Range<usize>> {
    let processes = match &job.work {
        // Client and server.
        Workload::Chat(_) => 2,
        Workload::Requests(of) => of.servers,
        Workload::Locks(_) | Workload::Hackbench(_) | Workload::Trace(_) => 1,
    };
    let cpus = job.hardware.topology.cpus();
    (0..processes).map(|part| part * cpus / processes..(part + 1) * cpus / processes).collect()
}
