//! `klatch duet`: two servers or crowds, compared in slices of time.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use klatch_lab::BootKernel;
use klatch_platforms::{PlatformRequest, Setting, check_name};
use klatch_record::lab::DEFAULT_KERNEL;
use klatch_record::{Duet as DuetResult, DuetEnd, Workload, error_chain, save_json};
use klatch_report::{DuetLine, Ending, Gate, Progress, about, judged_duet, longer_duet, preparing};
use klatch_runner::duet::{DuetOutcome, DuetPlan, DuetProgress, DuetSchedule as Schedule, duet};
use klatch_runner::{Plan, PlatformPlan, Subject, TargetPlan};
use klatch_study::ExactCounter;

use crate::duet_side::DuetSideName;
use crate::interrupt::flag_on_interrupt;
use crate::lab::notice;
use crate::login::with_password;
use crate::next;
use crate::output::{print_error, print_line, print_text};
use crate::quantity::{Percent, Time};
use crate::report::save_duet_report;
use crate::require::{self, RequireArgs};
use crate::run::CrowdName;
use crate::version::build;
use crate::workload::{OfDuet, WorkloadArgs};
use crate::{BLIND, INTERRUPTED};

/// Compare two servers in slices of time
///
/// Starts both servers and a crowd for each. In each pair of slices A and B run once, in random order, while the other is paused
/// at a moment without messages in flight. So both see nearly the same machine, and the ratio of a pair is free of most of its
/// noise. The interval is over the starts. After the first start Klatch says which difference this machine will show in the time of
/// --duration, and how long a smaller one takes.
///
/// A side is NAME[@VERSION][:KNOB=VALUE,…], FILE.toml or irc://HOST:PORT. VERSION is that of a Java, or the path of one.
///
/// Exit status: 0 compared, 1 B is shown to be slower by more than --fail-if-slower, 2 could not compare, 4 this data could not show
/// a difference of --fail-if-slower or cannot decide a --require, 5 a --require is not met.
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Duet {
    /// Base of the ratios
    a: DuetSideName,
    /// What to compare with it; for two crowds, the same server
    b: DuetSideName,
    /// Name of A in texts [default: platform and knobs; of two builds of one server: base]
    #[arg(long, value_name = "NAME", value_parser = side_name, help_heading = SIDES)]
    name_a: Option<String>,
    /// Name of B in texts [default: platform and knobs; of two builds of one server: change]
    #[arg(long, value_name = "NAME", value_parser = side_name, help_heading = SIDES)]
    name_b: Option<String>,
    /// Folder with platform files for A, in addition to those that Klatch brings
    #[arg(long, value_name = "DIR", help_heading = SIDES)]
    catalog_a: Option<PathBuf>,
    /// Folder with platform files for B: another build of the same server
    #[arg(long, value_name = "DIR", help_heading = SIDES)]
    catalog_b: Option<PathBuf>,
    /// Java program for Java servers and crowds [default: from JAVA_HOME, PATH, /usr/lib/jvm]
    #[arg(long, value_name = "PATH", help_heading = SIDES)]
    java: Option<PathBuf>,
    /// Load generator of both sides
    #[arg(long, value_enum, default_value_t = CrowdName::Native, help_heading = SIDES)]
    crowd: CrowdName,
    /// Load generator of side B, if it differs
    #[arg(long, value_enum, help_heading = SIDES)]
    crowd_b: Option<CrowdName>,
    /// Longest time without a delivery
    #[arg(long, default_value = "10s", value_name = "TIME", help_heading = SIDES)]
    timeout: Time,
    /// Knob of both crowds
    #[arg(long = "crowd-knob", value_name = "NAME=VALUE", help_heading = SIDES)]
    crowd_knobs: Vec<Setting>,
    #[command(flatten)]
    workload: WorkloadArgs<OfDuet>,
    #[command(flatten)]
    schedule: DuetSchedule,
    /// Show why they differ: CPU time per message by area, system call and routine, and what each side does per message. Takes samples of
    /// both sides in the slices; as root
    #[arg(long, help_heading = RESULT)]
    explain: bool,
    /// Count the instructions of both sides by routine too, exactly: a short run of each in the lab, which needs QEMU
    #[arg(long, help_heading = RESULT)]
    exact: bool,
    /// Fail if B is shown to be slower by more than this, in throughput or in CPU time of the server per message
    #[arg(long, value_name = "PERCENT", help_heading = RESULT)]
    fail_if_slower: Option<Percent>,
    /// Pass, too, if this data could not show a difference of --fail-if-slower, or cannot decide a --require
    #[arg(long, help_heading = RESULT)]
    blind_passes: bool,
    #[command(flatten, next_help_heading = RESULT)]
    require: RequireArgs,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder, help_heading = RESULT)]
    out: PathBuf,
    /// Print the result as one line of JSON
    #[arg(long, help_heading = RESULT)]
    json: bool,
}

/// How long to measure, and how.
#[derive(Args)]
pub(crate) struct DuetSchedule {
    /// Time for the whole duet, starts of servers and warm-ups included: 90s, 5m. Only the first start may exceed it, if servers must
    /// be built, trained or filled with data first [default: 2m; with --within, up to 1h]
    #[arg(long, value_name = "TIME", help_heading = SCHEDULE)]
    duration: Option<Time>,
    /// Take as long as it needs until the interval of the server's CPU time per message is this narrow, on each side of the ratio, and
    /// end early if that is hopeless in the time of --duration
    #[arg(long, value_name = "PERCENT", value_parser = above_zero, help_heading = SCHEDULE)]
    within: Option<Percent>,
    /// Starts of both servers, which share the time; with --within, the most [default: one per 6 s, or 20 s with Java]
    #[arg(long, value_name = "N", value_parser = crate::quantity::whole::<1, 1000>, help_heading = SCHEDULE)]
    starts: Option<u32>,
    /// Length of a slice [default: 50ms; under instruments, 400ms]
    #[arg(long, value_name = "TIME", help_heading = SCHEDULE)]
    slice: Option<Time>,
    /// Time after each start that does not count [default: 1s, or 6s with Java]
    #[arg(long, value_name = "TIME", help_heading = SCHEDULE)]
    warmup: Option<Time>,
    /// Run both sides at the same time, each on half of the cores, instead of in turns
    #[arg(long, help_heading = SCHEDULE)]
    together: bool,
    /// Seed of the order within the pairs
    #[arg(long, default_value_t = 1, help_heading = SCHEDULE)]
    seed: u64,
}

const SIDES: &str = "Sides";
const SCHEDULE: &str = "Schedule";
const RESULT: &str = "Result";

/// A difference that matters to nobody unless a gate asks for it.
const SMALL: f64 = 0.02;

/// A duet that took this much longer than its time says so.
const LATE: f64 = 1.1;

impl DuetSchedule {
    /// The plan of a duet of these sides; `slice` is the default length of a slice if it is not the usual one.
    pub(crate) fn plan(
        &self,
        sides: [Plan; 2],
        slice: Option<Duration>,
        folder_name: &str,
    ) -> anyhow::Result<DuetPlan> {
        let asked = self.asked();
        let plan = DuetPlan::scheduled(sides, &Schedule { slice: asked.slice.or(slice), ..asked })?;
        Ok(DuetPlan { together: self.together, folder_name: folder_name.to_owned(), ..plan })
    }

    fn asked(&self) -> Schedule {
        Schedule {
            time: self.duration.map(|time| time.0),
            within: self.within.map(|within| within.0 / 100.0),
            starts: self.starts,
            slice: self.slice.map(|time| time.0),
            warmup: self.warmup.map(|time| time.0),
        }
    }

    pub(crate) fn time(&self) -> Duration {
        self.asked().time()
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }
}

impl Duet {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        self.require.check()?;
        anyhow::ensure!(
            !self.blind_passes || self.fail_if_slower.is_some() || !self.require.require.is_empty(),
            "--blind-passes belongs to --fail-if-slower or --require"
        );
        let sides = [
            self.side(&self.a, self.catalog_a.clone(), self.crowd)?,
            self.side(&self.b, self.catalog_b.clone(), self.crowd_b.unwrap_or(self.crowd))?,
        ];
        let names = [self.name_a.clone(), self.name_b.clone()];
        let plan = DuetPlan { names, ..self.schedule.plan(sides, None, "duet")? };
        let asked = self.fail_if_slower.map_or(plan.asked, |limit| limit.0 / 100.0);
        let plan = DuetPlan { asked, explain: self.explain, require: self.require.require.clone(), ..plan };
        // What cannot be counted is refused before anything is measured.
        let counter = self.exact.then(|| exact_counter(&plan)).transpose()?;
        let all = crate::interrupt::interruptible_processes()?;
        let outcome = match duet(plan, &all, show_progress(self.json, self.schedule.time())) {
            Err(_) if all.interrupted() => {
                print_error(
                    "klatch: interrupted before anything was measured; servers and crowds are stopped",
                );
                return Ok(ExitCode::from(INTERRUPTED));
            }
            outcome => outcome?,
        };
        self.schedule.show_end(&outcome);
        let outcome = match counter {
            Some(counter) => self.counted(outcome, &counter)?,
            None => outcome,
        };
        let judged = judged_duet(&outcome.duet);
        self.require.show(&judged, self.json);
        self.show(&outcome)?;
        self.require.save(&names_of(&outcome.duet), &judged, self.blind_passes)?;
        if !matches!(outcome.duet.end, DuetEnd::Complete | DuetEnd::Hopeless { .. }) {
            return Ok(exit_code(&outcome.duet));
        }
        if all.interrupted() {
            // While both sides were counted: the duet itself is whole.
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let gate = self.fail_if_slower.map(|limit| judge(&outcome.duet, limit));
        Ok(match (gate, require::exit_code(&judged, self.blind_passes)) {
            (Some(Gate::Closed), _) => ExitCode::FAILURE,
            (Some(Gate::NotCompared), _) => ExitCode::from(crate::COULD_NOT_RUN),
            (Some(Gate::Blind), None) if !self.blind_passes => ExitCode::from(BLIND),
            (_, required) => required.unwrap_or(ExitCode::SUCCESS),
        })
    }

    /// The outcome with the lab's count of both sides, if the duet itself came to an end. A count that fails costs no result.
    fn counted(&self, outcome: DuetOutcome, counter: &ExactCounter) -> anyhow::Result<DuetOutcome> {
        if !matches!(outcome.duet.end, DuetEnd::Complete | DuetEnd::Hopeless { .. }) {
            return Ok(outcome);
        }
        let interrupted = flag_on_interrupt()?;
        let waiting = (!self.json).then(|| Progress::waiting("counting both sides in the lab"));
        let (exact, uncounted) = match counter.count(&interrupted, notice) {
            Ok(count) => (Some(count), None),
            Err(error) => (None, Some(error_chain(&error))),
        };
        drop(waiting);
        let duet = DuetResult { exact, uncounted, ..outcome.duet };
        save_json(&duet, &outcome.folder.join("duet.json"))?;
        Ok(DuetOutcome { duet, ..outcome })
    }

    fn show(&self, outcome: &DuetOutcome) -> anyhow::Result<()> {
        if self.json {
            print_line(serde_json::to_string(&outcome.duet)?);
        } else {
            print_text(klatch_report::duet(&outcome.duet));
            if let Some(why) = klatch_report::why(&outcome.duet) {
                print_text(format_args!("\n{why}"));
            }
            if let Some(exact) = klatch_report::exact(&outcome.duet) {
                print_text(format_args!("\n{exact}"));
            }
            let saved = save_duet_report(&outcome.folder, &outcome.duet)?;
            next::print_ending(Ending {
                answer: saved.answer,
                places: vec![("results", outcome.folder.clone()), ("report", saved.path)],
                next: self.next(&outcome.duet),
            });
        }
        Ok(())
    }

    /// The report, or a longer duet if this one shows no difference and could not have shown one that matters.
    fn next(&self, duet: &DuetResult) -> Vec<String> {
        let asked = self.fail_if_slower.map_or(SMALL, |limit| limit.0 / 100.0);
        match longer_duet(duet, self.schedule.time(), asked) {
            Some(minutes) => next::again(&[("--duration", &format!("{minutes}m"))]),
            None => next::open(&self.out),
        }
    }

    fn side(&self, name: &DuetSideName, catalog: Option<PathBuf>, crowd: CrowdName) -> anyhow::Result<Plan> {
        let java = self.java.clone();
        let subject = match name.clone() {
            DuetSideName::Platform(request) => {
                let catalog = catalog.or(request.catalog);
                let request = PlatformRequest { java, catalog, ..request };
                check_name(&request)?;
                Subject::Platform(PlatformPlan::new(request))
            }
            DuetSideName::Target(target) => {
                Subject::Target(TargetPlan { target: with_password(target, None)?, java })
            }
        };
        let target = match &subject {
            Subject::Target(plan) => Some(&plan.target),
            Subject::Platform(_) => None,
        };
        let workload = self.workload.workload_at(target)?;
        Ok(Plan {
            header_values: self.workload.header_values(),
            crowd: crowd.kind(),
            crowd_settings: self.crowd_knobs.clone(),
            timeout: self.timeout.0,
            ..duet_plan(subject, workload, &self.out, self.schedule.seed())
        })
    }
}

/// The machines in which both sides are counted.
fn exact_counter(plan: &DuetPlan) -> anyhow::Result<ExactCounter> {
    // Without QEMU no kernel is downloaded, and without a side that the lab can run neither.
    ExactCounter::check(plan)?;
    Ok(ExactCounter::new(plan, BootKernel::find_bootable(DEFAULT_KERNEL, None, preparing())?, preparing())?)
}

/// What the gate found, which is printed last.
fn judge(duet: &DuetResult, limit: Percent) -> Gate {
    let (gate, line) = klatch_report::gate(duet, limit.0 / 100.0);
    print_error(line);
    gate
}

/// The names of both sides.
fn names_of(duet: &DuetResult) -> String {
    format!("{} against {}", duet.b.name, duet.a.name)
}

/// The name of a side.
///
/// # Errors
/// It is empty, or too long for a table.
fn side_name(text: &str) -> Result<String, String> {
    let name = text.trim();
    match name.chars().count() {
        1..=40 => Ok(name.to_owned()),
        _ => Err(format!("a name has 1 to 40 characters, got {text:?}")),
    }
}

impl DuetSchedule {
    /// Prints how the duet ended, if it was not as planned.
    pub(crate) fn show_end(&self, outcome: &DuetOutcome) {
        let (asked, took) = (self.time().as_secs_f64(), outcome.took.as_secs_f64());
        if took > asked * LATE {
            let why = match outcome.duet.starts.len() {
                0 | 1 => "the first start alone needs so long; later starts fit into --duration",
                _ => "the last start took longer than those before it; other programs slow servers down too",
            };
            print_error(format_args!("klatch: took {took:.0} s instead of {asked:.0} s: {why}"));
        }
        show_end(&outcome.duet, self.within, self.time());
    }
}

fn show_end(duet: &DuetResult, within: Option<Percent>, time: Duration) {
    match &duet.end {
        DuetEnd::Complete => {}
        DuetEnd::Hopeless { needed_s } => {
            let within = within.map_or(0.0, |within| within.0);
            print_error(format_args!(
                "klatch: hopeless: at this noise ±{within} % takes {}, and there is {}; ended after {} starts; ask for more, raise --duration, or \
                 use a quieter machine",
                about(*needed_s),
                about(time.as_secs_f64()).trim_start_matches("about "),
                duet.starts.len()
            ));
        }
        DuetEnd::Interrupted => {
            print_error("klatch: interrupted; servers and crowds are stopped, finished starts count");
        }
        DuetEnd::Failed { side, reasons } => {
            let side = duet.side(*side);
            let platform = match side.platform.split(" (").next() {
                Some(platform) if side.name.starts_with(platform) => String::new(),
                _ => format!(" ({})", side.platform),
            };
            print_error(format_args!("klatch: {}{platform}: {reasons}", side.name));
        }
    }
}

pub(crate) fn exit_code(duet: &DuetResult) -> ExitCode {
    match duet.end {
        DuetEnd::Complete | DuetEnd::Hopeless { .. } => ExitCode::SUCCESS,
        DuetEnd::Interrupted => ExitCode::from(INTERRUPTED),
        DuetEnd::Failed { .. } => ExitCode::from(crate::COULD_NOT_RUN),
    }
}

/// A plan on this machine, with one server and one crowd. A crowd that waits for a lost message gives up after 10 s.
pub(crate) fn duet_plan(subject: Subject, workload: Workload, out: &Path, seed: u64) -> Plan {
    let timeout = Duration::from_secs(10);
    Plan { workload, seed, timeout, ..Plan::new(subject, out.to_owned(), build()) }
}

/// A share above 0.
///
/// # Errors
/// It is 0, or no percentage.
fn above_zero(text: &str) -> Result<Percent, String> {
    let percent: Percent = text.parse()?;
    if percent.0 > 0.0 { Ok(percent) } else { Err(format!("must be above 0 and up to 100 %, got {text}")) }
}

/// Shows how far the duet is.
pub(crate) fn show_progress(quiet: bool, time: Duration) -> impl FnMut(DuetProgress) {
    let shown = (!quiet).then(|| DuetLine::new(time));
    move |progress| shown.iter().filter_map(|shown| shown.update(progress)).for_each(print_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_is_above_zero() {
        assert!(above_zero("0").is_err() && above_zero("0.5%").is_ok());
    }
}
