//! Kernel schedulers as text: which there are, and what they counted.

use klatch_record::lab::{SchedulerReport, StatValue};
use klatch_schedulers::Scheduler;

/// A line for each scheduler.
pub fn schedulers(all: &[Scheduler]) -> String {
    let line = |scheduler: &Scheduler| format!("{:<12}{}\n", scheduler.name, scheduler.summary());
    all.iter().map(line).collect()
}

/// The policy, the knobs and the statistics of a scheduler.
pub fn scheduler(scheduler: &Scheduler) -> String {
    let mut text = format!("{}\n\n", scheduler.description());
    for knob in scheduler.knobs() {
        text +=
            &format!("knob {}={} ({} to {}): {}\n", knob.name, knob.default, knob.min, knob.max, knob.what);
    }
    for stat in scheduler.stats() {
        text += &format!("counts {}: {}\n", stat.name, stat.what);
    }
    text
}

/// What a scheduler was, and what it counted.
pub fn scheduler_report(report: &SchedulerReport) -> String {
    let knobs = report.knobs.iter().map(|(name, value)| format!(" {name}={value}"));
    let head = format!("\nscheduler {}{}\n", report.scheduler, knobs.collect::<String>());
    (head + &scheduler_counts(&report.observed.stats)).trim_end().to_owned()
}

/// A line for each statistic.
pub fn scheduler_counts(stats: &[StatValue]) -> String {
    stats.iter().map(|stat| format!("{:>14} {}: {}\n", stat.value, stat.name, stat.what)).collect()
}
