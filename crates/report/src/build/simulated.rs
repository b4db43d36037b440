//! The report of a simulated chat on more and more CPUs: throughput, where the CPU time went, run queue and lock.

use klatch_simulator::{Account, Outcome, ScalingRow};

use crate::model::{
    Axis, Chart, ChartKind, Command, Place, Point, REPORT_SCHEMA_NAME, Report, Section, Standing, Verdict,
};

/// The report of simulated rows. Its title, verdict and every caption say that nothing was measured.
pub fn simulated_scaling(rows: &[ScalingRow], command: &str) -> Report {
    let mut schedulers: Vec<&str> = rows.iter().map(|row| row.scheduler).collect();
    schedulers.dedup();
    let of = |scheduler: &str| rows.iter().filter(|row| row.scheduler == scheduler).collect::<Vec<_>>();
    let throughput = section("throughput", "Throughput", vec![throughput(rows)]);
    let time =
        schedulers.iter().enumerate().map(|(number, name)| cpu_time(number, name, &of(name))).collect();
    let queue = vec![queue_length(rows), locks(rows)];
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: "Simulated: a chat on more CPUs".to_owned(),
        question: "Does a scheduler of 2001 carry more messages with more CPUs?".to_owned(),
        answer: answer(rows),
        verdict: Verdict {
            standing: Standing::Simulated,
            text: "not measured; docs/reference/simulator.md says how far it can be believed".to_owned(),
        },
        warnings: Vec::new(),
        cells: Vec::new(),
        axes: Vec::new(),
        ratios: Vec::new(),
        sections: vec![
            throughput,
            section("cpu-time", "CPU time per message", time),
            section("run-queue", "Run queue and lock", queue),
        ],
        rules: vec!["Three seeds each. Bands are from the lowest to the highest of them.".to_owned()],
        runs: Vec::new(),
        environments: Vec::new(),
        facts: Vec::new(),
        commands: vec![Command { what: "the same simulation".to_owned(), line: command.to_owned() }],
        instruments: Vec::new(),
        footnotes: Vec::new(),
        sources: Vec::new(),
        klatch: None,
        started_at: None,
        ended_at: None,
    }
}

fn section(id: &str, title: &str, charts: Vec<Chart>) -> Section {
    Section { id: id.to_owned(), title: title.to_owned(), lead: None, charts, flames: Vec::new() }
}

/// What the most CPUs carry, compared with half of them, for each scheduler.
fn answer(rows: &[ScalingRow]) -> String {
    let most = rows.iter().map(|row| row.cpus).max().unwrap_or(0);
    let rate = |scheduler: &str, cpus: usize| {
        let row = rows.iter().find(|row| row.scheduler == scheduler && row.cpus == cpus);
        row.map(|row| row.outcome.messages_per_s())
    };
    let with_most = rows.iter().filter(|row| row.cpus == most);
    let changes: Vec<String> = with_most
        .filter_map(|row| {
            let half = rate(row.scheduler, most / 2)?;
            Some(format!("{:.2} times with {}", row.outcome.messages_per_s() / half, row.scheduler))
        })
        .collect();
    match changes.as_slice() {
        [] => format!("No answer: {most} CPUs are compared with half of them, which were not simulated."),
        changes => format!("{most} CPUs carry, compared with {}: {}.", most / 2, changes.join(", ")),
    }
}

fn at(row: &ScalingRow) -> Place {
    Place::At(row.cpus as f64)
}

fn lines(id: &str, title: &str, caption: &str, y: Axis, points: Vec<Point>) -> Chart {
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        kind: ChartKind::Lines,
        x: Axis::linear("CPUs", ""),
        y,
        points,
        marks: Vec::new(),
    }
}

fn throughput(rows: &[ScalingRow]) -> Chart {
    let point = |row: &ScalingRow| Point {
        low: Some(row.seeds.0),
        high: Some(row.seeds.1),
        n: Some(3),
        ..Point::plain(row.scheduler, at(row), row.outcome.messages_per_s())
    };
    let caption = "Simulated messages per second, sent and received.";
    lines(
        "throughput",
        "Throughput",
        caption,
        Axis::linear("throughput", "messages/s"),
        rows.iter().map(point).collect(),
    )
}

fn cpu_time(number: usize, scheduler: &str, rows: &[&ScalingRow]) -> Chart {
    let mut points = Vec::new();
    for account in Account::ALL {
        for row in rows {
            let place = Place::Named(format!("{} CPU{}", row.cpus, if row.cpus == 1 { "" } else { "s" }));
            points.push(Point::plain(&account.to_string(), place, row.outcome.us_per_message(account)));
        }
    }
    Chart {
        id: format!("cpu-time-{number}"),
        title: scheduler.to_owned(),
        caption: "Simulated CPU time of all CPUs per message, idle time included.".to_owned(),
        kind: ChartKind::Stacked,
        x: Axis::words("machine"),
        y: Axis::linear("CPU time per message", "µs"),
        points,
        marks: Vec::new(),
    }
}

fn queue_length(rows: &[ScalingRow]) -> Chart {
    let points = rows.iter().map(|row| Point::plain(row.scheduler, at(row), row.outcome.queue_length_mean()));
    let caption = "Simulated mean number of runnable tasks in the queue of a decision.";
    lines("queue-length", "Length of the run queue", caption, Axis::linear("tasks", ""), points.collect())
}

fn locks(rows: &[ScalingRow]) -> Chart {
    let contended = |outcome: &Outcome| {
        100.0 * outcome.counts.locks.contended as f64 / outcome.counts.locks.acquired.max(1) as f64
    };
    let points = rows.iter().map(|row| Point::plain(row.scheduler, at(row), contended(&row.outcome)));
    let caption = "Simulated share of acquisitions of a run-queue lock for which a CPU had to wait.";
    lines("contention", "Contention of the lock", caption, Axis::linear("contended", "%"), points.collect())
}
