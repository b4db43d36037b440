//! `klatch run`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use klatch_platforms::{Processes, Setting, Wish};
use klatch_record::{InstrumentName, Record, Role, Status};
use klatch_report::{Progress, headline, one_line, trials, warnings};
use klatch_runner::{CrowdKind, Event, Plan, Target, execute, guard_series};
use klatch_schedulers::Wish as Wished;

use crate::INTERRUPTED;
use crate::UNKNOWN;
use crate::build::build;
use crate::crowd::seconds;
use crate::platforms::PlatformArgs;
use crate::spread::SpreadArgs;
use crate::workload::WorkloadArgs;

/// Start a server, send a crowd at it, check every message, print the score and write the record.
///
/// Exit status: 0 valid, 1 invalid, 2 could not run, 3 unknown: no fault, and yet the score may not be the server's.
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Run {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// What to measure, by name or NAME@JAVA-VERSION; `klatch platforms` lists all
    /// [default: java-threads where a Java 17 or newer is found, else native-epoll]
    #[arg(long, conflicts_with = "target", verbatim_doc_comment)]
    platform: Option<String>,
    /// Something to set about the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE", conflicts_with = "target")]
    knobs: Vec<Setting>,
    /// A server that runs already, instead of a platform: irc://, redis://, nats://, mqtt://
    #[arg(long, value_name = "irc://HOST:PORT")]
    target: Option<Target>,
    /// Who talks
    #[arg(long, value_enum, default_value_t = CrowdName::Native)]
    crowd: CrowdName,
    /// Something to set about the crowd; the last lines of `klatch platforms --knobs` tell what it has
    #[arg(long = "crowd-knob", value_name = "NAME=VALUE")]
    crowd_knobs: Vec<Setting>,
    /// Something to set about the whole machine and put back afterwards: vm.nr_hugepages=64, thp=always; docs/reference/knobs.md
    #[arg(long = "sysctl", value_name = "NAME=VALUE", requires = "allow_sysctl")]
    sysctls: Vec<Setting>,
    /// Allow --sysctl to change the machine for as long as this takes
    #[arg(long)]
    allow_sysctl: bool,
    /// A scheduler of history to load for as long as this takes (sched_ext): goodness, o1:yield=2; `klatch sched list`
    #[arg(long, value_name = "NAME[:KNOB=VALUE,…]")]
    scheduler: Option<Wished>,
    #[command(flatten)]
    workload: WorkloadArgs,
    /// What watches the run; `klatch instruments` lists all and how they work here
    #[arg(long = "instrument", value_name = "NAME,…", value_delimiter = ',')]
    instruments: Vec<InstrumentName>,
    /// Runs that do not count, first; the server is not restarted between runs
    #[arg(long, default_value_t = 1, value_name = "N")]
    warmup: u32,
    /// Runs that count
    #[arg(long, default_value_t = 3, value_name = "N")]
    trials: u32,
    /// Folder for the records
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// How long a server may take until it is ready
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    ready_timeout: f64,
    /// Give up after so long without a delivery
    #[arg(long, default_value_t = 60.0, value_name = "SECONDS")]
    timeout: f64,
    /// Give up when a connection takes longer
    #[arg(long, default_value_t = 10.0, value_name = "SECONDS")]
    connect_timeout: f64,
    /// Event loops of the native crowd, each with its own rooms
    #[arg(long, default_value_t = 1, value_name = "N")]
    crowd_loops: usize,
    #[command(flatten)]
    spread: SpreadArgs,
    /// Seed of the schedule under pacing `rate`
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print each record as one line of JSON instead
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum CrowdName {
    /// Event loops: the same crowd for every server, so that servers can be compared
    Native,
    /// The same with two threads a user, as VolanoMark's crowd had them, without Java
    NativeThreads,
    /// VolanoMark's: two threads a user; with a Java server the classic test of a Java platform
    Java,
}

impl Run {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let json = self.json;
        let plan = self.plan()?;
        let all = Processes::default();
        let stopper = all.clone();
        ctrlc::set_handler(move || stopper.interrupt())?;
        let mut show = Show { json, plan: &plan, progress: None };
        let outcome = match execute(&plan, &all, |event| show.tell(event)) {
            Ok(outcome) => outcome,
            Err(_) if all.interrupted() => {
                eprintln!(
                    "klatch: interrupted; server and crowd are stopped, the records of finished runs are kept"
                );
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(error) => return Err(error.into()),
        };
        if !json {
            print!("\n{}", trials(&outcome.records));
            let counted = outcome.records.iter().filter(|record| record.role == Role::Trial);
            print!("{}", warnings(&guard_series(&counted.collect::<Vec<_>>())));
            println!("\nrecords: {}", outcome.folder.display());
        }
        let some = |status| outcome.records.iter().any(|record| record.verdict.status == status);
        Ok(match (some(Status::Invalid), some(Status::Unknown)) {
            (true, _) => ExitCode::FAILURE,
            (false, true) => ExitCode::from(UNKNOWN),
            (false, false) => ExitCode::SUCCESS,
        })
    }

    fn plan(self) -> anyhow::Result<Plan> {
        anyhow::ensure!(
            (1..=1000).contains(&self.trials),
            "trial count must be 1..=1000, got {}",
            self.trials
        );
        anyhow::ensure!(self.warmup <= 1000, "warm-up count must be 0..=1000, got {}", self.warmup);
        anyhow::ensure!(
            (1..=256).contains(&self.crowd_loops),
            "crowd loops must be 1..=256, got {}",
            self.crowd_loops
        );
        Ok(Plan {
            wish: Wish { name: self.platform, settings: self.knobs, ..self.platforms.wish() },
            target: self.target,
            crowd: match self.crowd {
                CrowdName::Native => CrowdKind::Native,
                CrowdName::NativeThreads => CrowdKind::NativeThreads,
                CrowdName::Java => CrowdKind::Java,
            },
            crowd_settings: self.crowd_knobs,
            sysctls: self.sysctls,
            scheduler: self.scheduler,
            workload: self.workload.workload()?,
            shards: self.spread.shards()?,
            servers: self.spread.servers()?,
            listen: self.spread.listen(),
            remote: self.spread.remote()?,
            instruments: self.instruments,
            warmups: self.warmup,
            trials: self.trials,
            out: self.out,
            ready_timeout: seconds("ready timeout", self.ready_timeout)?,
            timeout: seconds("timeout", self.timeout)?,
            connect_timeout: seconds("connect timeout", self.connect_timeout)?,
            crowd_loops: self.crowd_loops,
            seed: self.seed,
            build: build(),
        })
    }
}

/// Shows on the terminal what happens.
struct Show<'a> {
    json: bool,
    plan: &'a Plan,
    progress: Option<Progress>,
}

impl Show<'_> {
    fn tell(&mut self, event: Event<'_>) {
        match event {
            Event::Ready(platform) if !self.json => {
                if !self.plan.sysctls.is_empty() {
                    println!("machine   {}; put back afterwards", listed(&self.plan.sysctls));
                }
                println!("{}", headline(platform, &crowd(self.plan), &self.plan.workload));
            }
            Event::Begins(role, number) => {
                self.progress = Some(Progress::new(klatch_report::role_and_number(role, number)));
            }
            Event::Crowd(event) => self.progress.iter_mut().for_each(|progress| progress.tell(event)),
            Event::Ended(record, _) if self.json => print_json(record),
            Event::Ended(record, _) => println!("{}", one_line(record)),
            Event::Unsaved(record) => print_json(record),
            Event::Ready(_) => {}
        }
    }
}

/// Which crowd, and what is set about it: `native (nice=5)`.
fn crowd(plan: &Plan) -> String {
    let kind = plan.crowd.name();
    match plan.crowd_settings.as_slice() {
        [] => kind.to_owned(),
        set => format!("{kind} ({})", listed(set)),
    }
}

fn listed(settings: &[Setting]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn print_json(record: &Record) {
    println!("{}", serde_json::to_string(record).expect("a record is plain JSON"));
}
