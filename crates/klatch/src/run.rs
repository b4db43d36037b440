//! `klatch run`: one platform, one workload, warm-ups and trials.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use klatch_platforms::{PlatformRequest, Setting, TRANSPORT_KNOB, resolve};
use klatch_record::{
    Authorities, ChatWorkload, InstrumentName, JudgementStatus, Pacing, Percentiles, ProtocolName, Record,
    Role, RunOptions, Status, Subprotocol, Transport, Workload, WorkloadKind,
};
use klatch_report::{
    Ending, Report, RunsProgress, conformance_of, percentile_table, trials, warnings, worst,
};
use klatch_runner::{
    Conflict, CrowdKind, Outcome, Plan, PlatformPlan, Subject, Target, TargetPlan, execute, guard_series,
    load_failed_musts, make_volanomark,
};
use klatch_schedulers::SchedulerSpec;
use klatch_study::SmallStudy;

use crate::INTERRUPTED;
use crate::UNKNOWN;
use crate::hdr::HdrFile;
use crate::login;
use crate::next;
use crate::output::{print, print_error, print_line, print_text};
use crate::platforms::{PlatformArgs, SERVER};
use crate::quantity::Time;
use crate::require::{self, RequireArgs};
use crate::spread::SpreadArgs;
use crate::study::{Shown, Study};
use crate::transport::ConnectingArgs;
use crate::version::build;
use crate::web_view::WebArgs;
use crate::workload::{OfRun, WorkloadArgs, show_only};

/// Measure a server with a crowd and write a record of each run
///
/// Starts the server, connects the crowd, checks every message, prints the score and stops the server.
///
/// With --starts or several platforms it is a study, in random order, with the exit status of `klatch study`.
///
/// Exit status: 0 valid, 1 invalid, 2 could not run, 3 unknown (no fault, but the score may not be the server's), 4 the trials cannot
/// decide a --require, 5 a --require is not met.
#[derive(Args)]
#[command(args_override_self = true)]
pub(crate) struct Run {
    /// Platform to measure, by name or NAME@JAVA-VERSION; `klatch platforms` lists all; several, as in redis,nats, are a study
    /// [default: java-threads with Java 17 or newer, else native-epoll]
    #[arg(long, conflicts_with = "target", verbatim_doc_comment, help_heading = SERVER)]
    platform: Option<String>,
    /// The VolanoMark test: two threads for each connection at both ends, in Java unless the platform is native-threads, and
    /// yields where VolanoMark had them; 10 rooms of 20 users, turns
    #[arg(long, conflicts_with_all = ["target", "crowd", "pacing", "workload", "transport"], help_heading = SERVER)]
    volanomark: bool,
    /// Knob of the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE", conflicts_with = "target", help_heading = SERVER)]
    knobs: Vec<Setting>,
    /// What lies between the platform's protocol and TCP: plain (nothing), ws (WebSocket), tls (TLS 1.3), wss (both);
    /// the same as --knob transport=NAME
    #[arg(long, conflicts_with = "target", help_heading = SERVER)]
    transport: Option<Transport>,
    /// Running server to measure instead of a platform: irc://, ircs://, ws:// and wss:// (with a path), redis://, nats://, mqtt://, also with USER:PASSWORD@; of workload rr: echo://, redis://,
    /// http:// and https:// (with a path: requests for that URL), postgres://; of web: http://, https://; of trade and orders: http://; trade on a
    /// DayTrader: http://HOST:PORT/daytrader
    #[arg(long, value_name = "irc://HOST:PORT", help_heading = SERVER)]
    target: Option<Target>,
    /// File with the password of a target with a user or an @: redis://alice@HOST:PORT. KLATCH_PASSWORD is one too
    #[arg(long, value_name = "FILE", requires = "target", help_heading = SERVER)]
    password_file: Option<PathBuf>,
    /// File with the authorities that may have signed the certificate of an ircs://, wss:// or https:// target, in PEM
    /// [default: those of SSL_CERT_FILE and SSL_CERT_DIR, or of the system]
    #[arg(long, value_name = "FILE", requires = "target", help_heading = SERVER)]
    ca: Option<PathBuf>,
    /// ws, wss: subprotocol that the server must agree to, or none [default: text.ircv3.net for IRC, else none]
    #[arg(long, value_name = "NAME", help_heading = SERVER)]
    subprotocol: Option<Subprotocol>,
    #[command(flatten, next_help_heading = SERVER)]
    connecting: ConnectingArgs,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Load generator to use
    #[arg(long, value_enum, default_value_t = CrowdName::Native, help_heading = CROWD)]
    crowd: CrowdName,
    /// Knob of the crowd; the last lines of `klatch platforms --knobs` list all
    #[arg(long = "crowd-knob", value_name = "NAME=VALUE", help_heading = CROWD)]
    crowd_knobs: Vec<Setting>,
    /// Event loops of each process of the native crowd, each with rooms of its own; at most one for each room
    #[arg(long, default_value_t = RunOptions::default().crowd_loops as usize, value_name = "N", help_heading = CROWD)]
    crowd_loops: usize,
    #[command(flatten)]
    workload: WorkloadArgs<OfRun>,
    /// Seed of the schedule under pacing `rate`
    #[arg(long, default_value_t = RunOptions::default().seed, help_heading = MEASUREMENT)]
    seed: u64,
    /// Instruments that observe the runs; `klatch instruments` lists all
    #[arg(long = "instrument", value_name = "NAME,…", value_delimiter = ',', help_heading = MEASUREMENT)]
    instruments: Vec<InstrumentName>,
    /// Warm-up runs before the measured trials, without a restart of the server
    #[arg(long, default_value_t = RunOptions::default().warmups, value_name = "N", help_heading = MEASUREMENT)]
    warmups: u32,
    /// Length of one warm-up run, in place of runs that are as long as the trials
    #[arg(long, value_name = "TIME", conflicts_with = "warmups", help_heading = MEASUREMENT)]
    warmup: Option<Time>,
    /// Measured trials, after the warm-up runs
    #[arg(long, default_value_t = RunOptions::default().trials, value_name = "N", help_heading = MEASUREMENT)]
    trials: u32,
    /// Starts of the server, each with its warm-up runs and trials, as a study; more than one shows how starts differ
    /// [default: 1, or 3 of each of several platforms]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), verbatim_doc_comment, help_heading = MEASUREMENT)]
    starts: Option<u32>,
    /// Name of the build that is measured, such as its commit, for `klatch history`
    #[arg(long, value_name = "TEXT", value_parser = crate::history::label, help_heading = MEASUREMENT)]
    label: Option<String>,
    #[command(flatten, next_help_heading = MEASUREMENT)]
    require: RequireArgs,
    /// Folder for the records
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder, help_heading = MEASUREMENT)]
    out: PathBuf,
    /// Percentiles of latency to print, of all trials together
    #[arg(long, value_name = "50,99.9,…", help_heading = MEASUREMENT)]
    percentiles: Option<Percentiles>,
    /// File for the latencies as HdrHistogram writes them: a log (.hlog) or percentiles (.hgrm)
    #[arg(long, value_name = "FILE", value_parser = HdrFile::parse, help_heading = MEASUREMENT)]
    hdr: Option<HdrFile>,
    /// Print each record as one line of JSON
    #[arg(long, help_heading = MEASUREMENT)]
    json: bool,
    #[command(flatten, next_help_heading = MEASUREMENT)]
    web: WebArgs,
    /// Scheduler to load for the runs (sched_ext): goodness, o1:yield=2, others of `klatch sched list`, or a command that loads one, such as
    /// `./scx_mine --slice-us 5000`
    #[arg(long, value_name = "SCHEDULER", help_heading = MACHINE)]
    scheduler: Option<SchedulerSpec>,
    /// Setting of the whole machine to change for the runs and restore afterwards: vm.nr_hugepages=64, thp=always
    #[arg(long = "sysctl", value_name = "NAME=VALUE", requires = "allow_sysctl", help_heading = MACHINE)]
    sysctls: Vec<Setting>,
    /// Allow --sysctl to change the machine
    #[arg(long, help_heading = MACHINE)]
    allow_sysctl: bool,
    #[command(flatten)]
    spread: SpreadArgs,
    /// Longest time until the server is ready
    #[arg(long, default_value_t = Time::of_seconds(RunOptions::default().ready_timeout_s), value_name = "TIME", conflicts_with = "target", help_heading = LIMITS)]
    ready_timeout: Time,
    /// Longest time without a delivery
    #[arg(long, default_value_t = Time::of_seconds(RunOptions::default().timeout_s), value_name = "TIME", help_heading = LIMITS)]
    timeout: Time,
    /// Longest time to connect
    #[arg(long, default_value_t = Time::of_seconds(RunOptions::default().connect_timeout_s), value_name = "TIME", help_heading = LIMITS)]
    connect_timeout: Time,
}

/// `klatch run`, or `klatch run WORKLOAD`, which offers the options of that workload.
pub(crate) struct RunOfWorkload(pub(crate) Run);

impl Args for RunOfWorkload {
    fn augment_args(command: Command) -> Command {
        // Its options are only made when it is asked for: every server and crowd is a start of this program.
        let of_kind = |kind: WorkloadKind| {
            Command::default().name(kind.name()).about(kind.summary()).defer(with_options_of_its_workload)
        };
        // The others' options are accepted here too, after --workload, and so refused with a reason where they do not fit.
        show_only(WorkloadKind::Chat, false, options(command))
            .args_conflicts_with_subcommands(true)
            .disable_help_subcommand(true)
            .subcommand_value_name("WORKLOAD")
            .subcommand_help_heading("Workloads, with options of their own")
            .subcommands(WorkloadKind::ALL.map(of_kind))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Adds the options. Other commands with a catalog have no target.
fn options(command: Command) -> Command {
    Run::augment_args(command).mut_args(|option| match option.get_id() == "catalog" {
        true => option.conflicts_with("target"),
        false => option,
    })
}

/// Adds the options to a command that has the name of a workload.
fn with_options_of_its_workload(command: Command) -> Command {
    let kind: WorkloadKind = command.get_name().parse().unwrap_or_default();
    show_only(kind, true, options(command)).about(kind.summary()).long_about(kind.summary())
}

impl FromArgMatches for RunOfWorkload {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let Some((name, own)) = matches.subcommand() else {
            return Run::from_arg_matches(matches).map(RunOfWorkload);
        };
        let run = Run::from_arg_matches(own)?;
        match run.workload.kind().name() {
            kind if kind == name => Ok(RunOfWorkload(run)),
            other => Err(clap::Error::raw(
                ErrorKind::ArgumentConflict,
                format!(
                    "klatch run {name} has the workload {name}: leave out --workload {other}, or use klatch run {other}\n"
                ),
            )),
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Help headings of the options of this command alone.
/// Starts of each of several platforms by default.
const STARTS: u32 = 3;

const CROWD: &str = "Crowd";
const MEASUREMENT: &str = "Measurement";
const MACHINE: &str = "Machine";
const LIMITS: &str = "Time limits";

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum CrowdName {
    /// Event loops: the same crowd for every server, so that servers compare
    Native,
    /// Two threads per user, as in VolanoMark, without Java
    NativeThreads,
    /// Two threads per user in Java, as in VolanoMark: with a Java server, the VolanoMark test
    Java,
}

impl CrowdName {
    pub(crate) fn kind(self) -> CrowdKind {
        match self {
            CrowdName::Native => CrowdKind::Native,
            CrowdName::NativeThreads => CrowdKind::NativeThreads,
            CrowdName::Java => CrowdKind::Java,
        }
    }
}

impl Run {
    pub(crate) fn execute(mut self) -> anyhow::Result<ExitCode> {
        if let Some(starts) = self.starts_of_study() {
            return self.study(starts);
        }
        let json = self.json;
        self.require.check()?;
        let (web, title, volanomark, require) =
            (self.web, self.title(), self.volanomark, self.require.clone());
        let (percentiles, hdr) = (self.percentiles.take(), self.hdr.take());
        hdr.as_ref().map_or(Ok(()), HdrFile::check)?;
        let plan = self.plan()?;
        let web = web.start(&title, &plan.out)?;
        let all = crate::interrupt::interruptible_processes()?;
        let mut display = RunsProgress::new(&plan, json, volanomark, web);
        let made = execute(&plan, &all, |event| display.update(event).iter().for_each(print));
        display.end(made.is_ok());
        let outcome = match made {
            Ok(outcome) => outcome,
            Err(_) if all.interrupted() => {
                print_error(interrupted(&plan.out, display.finished()));
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(error) => return Err(error.into()),
        };
        // Records as JSON need no report, and no folder that can be read.
        let is_needed = !json || !require.require.is_empty() || hdr.is_some();
        let source = is_needed.then(|| klatch_report::read(&outcome.folder)).transpose()?;
        if let Some((source, hdr)) = source.as_ref().zip(hdr) {
            hdr.save(source)?;
        }
        let report = source.as_ref().map(klatch_report::report);
        let judged = report.as_ref().map(|report| report.requirements.clone()).unwrap_or_default();
        if !judged.is_empty() && !json {
            print_line("");
        }
        require.show(&judged, json);
        require.save(&title, &judged, false)?;
        let required = require::exit_code(&judged, false);
        if let Some(report) = report.filter(|_| !json) {
            let trials = trials(&outcome.records);
            if !trials.is_empty() {
                print_text(format_args!("\n{trials}"));
            }
            if let Some(percentiles) = &percentiles {
                print_text(format_args!("\n{}\n", percentile_table(&outcome.records, percentiles)?));
            }
            let counted = outcome.records.iter().filter(|record| record.role == Role::Trial);
            print_text(warnings(&guard_series(&counted.collect::<Vec<_>>())));
            print(hints(&plan, &outcome.records));
            next::print_ending(ending(report, &outcome, &plan));
        }
        let any = |status| outcome.records.iter().any(|record| record.verdict.status == status);
        // A requirement that is not met is known; that of an unknown score is not.
        let not_met = worst(&judged) == Some(JudgementStatus::NotMet);
        Ok(match (any(Status::Invalid), any(Status::Unknown), required) {
            (true, ..) => ExitCode::FAILURE,
            (false, true, Some(code)) if not_met => code,
            (false, true, _) => ExitCode::from(UNKNOWN),
            (false, false, code) => code.unwrap_or(ExitCode::SUCCESS),
        })
    }

    /// Starts of each platform, if this is a study: more than one start, or several platforms.
    fn starts_of_study(&self) -> Option<u32> {
        let several = self.platform.as_ref().is_some_and(|names| names.contains(','));
        let starts = self.starts.unwrap_or(if several { STARTS } else { 1 });
        (several || starts > 1).then_some(starts)
    }

    /// Measures several starts or platforms as a study.
    fn study(mut self, starts: u32) -> anyhow::Result<ExitCode> {
        let usual = RunOptions::default();
        let others = [
            ("--target", self.target.is_some()),
            ("--hosts or --host-address", !self.spread.is_local()),
            ("--ready-timeout", self.ready_timeout != Time::of_seconds(usual.ready_timeout_s)),
            ("--timeout", self.timeout != Time::of_seconds(usual.timeout_s)),
            ("--percentiles; its report takes them", self.percentiles.is_some()),
            ("--hdr; klatch report --format hlog writes it", self.hdr.is_some()),
            ("--connect-timeout", self.connect_timeout != Time::of_seconds(usual.connect_timeout_s)),
        ];
        if let Some((option, _)) = others.into_iter().find(|(_, is_given)| *is_given) {
            anyhow::bail!(
                "several starts or platforms are a study, which has no {option}; run one start of one platform"
            );
        }
        anyhow::ensure!(
            (2..=1000).contains(&self.trials),
            "with several starts or platforms, the trial count must be 2 to 1,000, got {}",
            self.trials
        );
        let pair = |setting: &Setting| (setting.name.clone(), setting.value.clone());
        let number = |name: &str, value: u32| (name.to_owned(), value.to_string());
        let mut workload = self.workload.table()?;
        let (mut server, mut crowd): (Vec<_>, Vec<_>) =
            (self.knobs.iter().map(pair).collect(), self.crowd_knobs.iter().map(pair).collect());
        server.extend(self.transport.map(transport_setting).iter().map(pair));
        if self.spread.servers()? > 1 {
            server.push(number("processes", self.spread.servers()?));
        }
        match self.volanomark {
            true => workload.push(("preset".to_owned(), "volanomark".to_owned())),
            false => crowd.push(("kind".to_owned(), self.crowd.kind().name().to_owned())),
        }
        let (shards, loops) = (self.spread.shards()?, self.crowd_loops as u32);
        let changed = [("shards", shards, usual.shards), ("loops", loops, usual.crowd_loops)];
        crowd.extend(
            changed
                .into_iter()
                .filter(|(_, value, usual)| value != usual)
                .map(|(name, value, _)| number(name, value)),
        );
        let subprotocol = self.subprotocol.as_ref().and_then(Subprotocol::word);
        let subprotocol = subprotocol.map(|word| ("subprotocol".to_owned(), word.to_owned()));
        let connecting =
            self.connecting.0.settings().into_iter().map(|(setting, value)| (setting.name.to_owned(), value));
        let connecting = connecting.chain(subprotocol).collect();
        let names = match &self.platform {
            Some(names) => names.clone(),
            None => resolve(&self.platforms.request(), &self.workload.workload()?)?.name,
        };
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        self.platforms.take_files(&mut names)?;
        let file = SmallStudy {
            name: names.join("-"),
            platforms: names,
            workload,
            server,
            crowd,
            connecting,
            sysctls: self.sysctls.iter().map(pair).collect(),
            scheduler: self.scheduler.as_ref().map(ToString::to_string),
            instruments: self.instruments,
            warmups: self.warmups,
            warmup: self.warmup.map(|time| time.to_string()),
            trials: self.trials,
            starts,
            require: std::mem::take(&mut self.require.require),
        };
        let shown =
            Shown { out: self.out, json: self.json, web: self.web, require: self.require, label: self.label };
        Study::of_options(self.platforms, self.allow_sysctl, self.seed, shown).measure(&file.file())
    }

    /// What is measured, before it is known in full.
    fn title(&self) -> String {
        let target = self.target.as_ref().map(|target| target.endpoint.to_string());
        self.platform.clone().or(target).unwrap_or_else(|| "the usual platform".to_owned())
    }

    pub(crate) fn plan(mut self) -> anyhow::Result<Plan> {
        self.knobs.extend(self.transport.map(transport_setting));
        anyhow::ensure!(
            (1..=1000).contains(&self.trials),
            "trial count must be 1 to 1,000, got {}",
            self.trials
        );
        let workload = self.workload.workload_at(self.target.as_ref())?;
        let kind = workload.kind();
        self.require.require.iter().try_for_each(|one| one.metric_of(kind).map(drop))?;
        anyhow::ensure!(self.warmups <= 1000, "warm-up count must be 0 to 1,000, got {}", self.warmups);
        anyhow::ensure!(
            (1..=256).contains(&self.crowd_loops),
            "crowd loops must be 1 to 256, got {}",
            self.crowd_loops
        );
        let request =
            PlatformRequest { name: self.platform, settings: self.knobs, ..self.platforms.request() };
        let mut request = request.with_file()?;
        let crowd = match self.volanomark {
            true => make_volanomark(&mut request, &mut self.crowd_knobs)?,
            false => self.crowd.kind(),
        };
        let subject = match self.target {
            Some(target) => {
                let mut target = with_options(target, self.subprotocol, self.ca)?;
                target.endpoint.connecting = self.connecting.0;
                let target = login::with_password(target, self.password_file.as_deref())?;
                Subject::Target(TargetPlan { target, java: request.java })
            }
            None => Subject::Platform(PlatformPlan {
                request,
                servers: self.spread.servers()?,
                listen: self.spread.listen(),
                ready_timeout: self.ready_timeout.0,
                subprotocol: self.subprotocol.unwrap_or_default(),
                connecting: self.connecting.0,
            }),
        };
        Ok(Plan {
            subject,
            label: self.label,
            crowd,
            crowd_settings: self.crowd_knobs,
            sysctls: self.sysctls,
            scheduler: self.scheduler,
            header_values: self.workload.header_values(),
            workload,
            shards: self.spread.shards()?,
            remote: self.spread.remote()?,
            instruments: self.instruments,
            warmups: if self.warmup.is_some() { 1 } else { self.warmups },
            warmup: self.warmup.map(|time| time.0),
            trials: self.trials,
            require: self.require.require,
            out: self.out,
            timeout: self.timeout.0,
            connect_timeout: self.connect_timeout.0,
            crowd_loops: self.crowd_loops,
            seed: self.seed,
            build: build(),
        })
    }
}

/// What an interrupted command says; `finished`: number of runs whose records it has saved in a folder in `out`.
fn interrupted(out: &Path, finished: usize) -> String {
    // The link leads to the folder of the last record.
    let folder = std::fs::read_link(out.join("latest")).map(|folder| out.join(folder)).ok();
    match folder.filter(|_| finished > 0) {
        Some(folder) => {
            let runs = if finished == 1 { "the finished run is" } else { "the finished runs are" };
            format!(
                "klatch: interrupted; server and crowd are stopped, {runs} in {0}: klatch report {0}",
                folder.display()
            )
        }
        None => "klatch: interrupted before a run was finished; server and crowd are stopped".to_owned(),
    }
}

/// What the user should know of the server beside its records.
fn hints(plan: &Plan, records: &[Record]) -> String {
    let mut text = String::new();
    if let (Subject::Platform(_), WorkloadKind::Chat, Some(record)) =
        (&plan.subject, plan.workload.kind(), records.first())
    {
        let failed = load_failed_musts(record.platform.name.split('@').next().unwrap_or_default());
        if !failed.is_empty() {
            text += &format!(
                "warning: the last klatch conformance of this platform failed {}, and a score counts on it; run it again after a change\n",
                failed.join(", ")
            );
        }
    }
    let fails_with = |record: &Record, text: &str| {
        let detail = record.checks.failure.as_ref().map(|failure| failure.detail.as_str());
        let first = record.verdict.reasons.first().map(|reason| reason.message.as_str());
        detail.or(first).is_some_and(|detail| detail.contains(text))
    };
    if let Workload::Chat(chat) = &plan.workload
        && records.iter().any(|record| fails_with(record, SEND_QUEUE_FULL))
    {
        text += &send_queue_tip(chat, records.first());
    }
    if let Subject::Target(TargetPlan { target, .. }) = &plan.subject
        && let Some(tip) = records.iter().find_map(|record| other_protocol(record, target))
    {
        text += &tip;
    }
    let lacks_files = |record: &Record| fails_with(record, "status 404");
    if let Workload::Web(web) = &plan.workload
        && records.iter().any(lacks_files)
    {
        text += &format!(
            "tip: the server has not all files of the site: klatch web-files DIR --directories {} writes them for the root of the server\n",
            web.directories
        );
    }
    text
}

/// How the answers of servers to a stranger begin, and the protocol.
const FIRST_WORDS: [(&str, &str); 8] = [
    ("HTTP/", "http"),
    ("SSH-", "ssh"),
    ("-ERR '", "nats"),
    ("-ERR", "redis"),
    ("-NOAUTH", "redis"),
    ("INFO {", "nats"),
    ("220 ", "smtp or ftp"),
    ("ERROR :", "irc"),
];

/// A tip if the server of a run has answered in another protocol than that of its address.
fn other_protocol(record: &Record, target: &Target) -> Option<String> {
    let failure = &record.checks.failure.as_ref()?.detail;
    let (_, words) = failure.split_once("the server answered")?;
    let (_, words) = words.split_once(": ")?;
    let (_, spoken) = FIRST_WORDS.iter().find(|(start, _)| words.starts_with(start))?;
    let asked = target.endpoint.protocol.name();
    let address = format!("{}:{}", target.endpoint.host, target.endpoint.port);
    let instead = match spoken.parse::<ProtocolName>().ok().filter(|protocol| protocol.name() != asked) {
        Some(protocol) => {
            format!("use --target {spoken}://{address}, which carries {}", protocol.workloads().join(", "))
        }
        None if *spoken == asked => return None,
        None => "Klatch does not measure that: check the port".to_owned(),
    };
    Some(format!("tip: the server at {address} speaks {spoken}, not {asked}; {instead}\n"))
}

/// What servers say to a user whose send queue is full.
const SEND_QUEUE_FULL: &str = "SendQ exceeded";

/// What to change when a server closed a user who read too slowly.
fn send_queue_tip(chat: &ChatWorkload, record: Option<&Record>) -> String {
    let set = record.and_then(|record| record.platform.knobs.get("sendq"));
    let limit = match set {
        Some(bytes) => format!("raise the knob sendq, which is {bytes}"),
        None => {
            "give it a longer queue (--knob sendq=16777216 if klatch platforms --knobs has it)".to_owned()
        }
    };
    let fewer = match chat.pacing {
        Pacing::Flood => "make less wait: --pacing rounds, or a lower --count",
        _ => "make less wait: a lower --rate, or smaller --rooms",
    };
    format!("tip: users got more than the server's send queue holds; {limit}, or {fewer}\n")
}

/// The answer of the report of these runs, their records, and the next command.
fn ending(report: Report, outcome: &Outcome, plan: &Plan) -> Ending {
    let target = match &plan.subject {
        Subject::Target(plan) => Some(&plan.target),
        Subject::Platform(_) => None,
    };
    let out = &plan.out;
    let is_invalid = outcome.records.iter().all(|record| record.verdict.status == Status::Invalid);
    let checks = target.filter(|_| is_invalid).and_then(|target| conformance_of(target, &plan.workload));
    let next = checks.unwrap_or_else(|| next::after_runs(&report, &outcome.records, out));
    Ending { answer: report.answer, places: vec![("results", outcome.folder.clone())], next }
}

/// A target with the options of its transport.
fn with_options(
    mut target: Target,
    subprotocol: Option<Subprotocol>,
    ca: Option<PathBuf>,
) -> anyhow::Result<Target> {
    if let Some(subprotocol) = subprotocol {
        let websocket = target.endpoint.websocket.as_mut();
        websocket.ok_or(Conflict::SubprotocolAndTransport)?.subprotocol = subprotocol;
    }
    if let Some(file) = ca {
        let tls = target.endpoint.tls.as_mut();
        *tls.context("--ca belongs to the transports tls and wss")? = Authorities::File(file);
    }
    Ok(target)
}

/// The knob that selects a transport.
pub(crate) fn transport_setting(transport: Transport) -> Setting {
    Setting { name: TRANSPORT_KNOB.to_owned(), value: transport.to_string() }
}

#[cfg(test)]
#[path = "run_tests.rs"]
pub(crate) mod tests;
