//! `klatch calibrate`: a platform compared with itself, or with instruments on and off.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_compare::{calibrate, instrument_cost};
use klatch_platforms::{PlatformRequest, Processes, Setting};
use klatch_record::{InstrumentName, error_chain};
use klatch_runner::{CrowdKind, Plan, Remote};

use crate::INTERRUPTED;
use crate::crowd::seconds;
use crate::output::{print_error, print_line};
use crate::platforms::PlatformArgs;
use crate::version::build;
use crate::workload::WorkloadArgs;

/// Find the smallest difference that this machine can show
///
/// Compares a platform with itself. Writes the records, and the comparison as calibration.json, to a new folder. Stores the
/// difference between two starts of a server in ~/.local/state/klatch/calibration.json; warnings of later runs use it.
///
/// Exit status: 0 calibrated, 2 could not calibrate.
#[derive(Args)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Platform to measure, by name or NAME@JAVA-VERSION
    #[arg(long, default_value = "native-epoll")]
    platform: String,
    /// Knob of the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    #[command(flatten)]
    workload: WorkloadArgs,
    /// Instruments to measure the cost of: they observe and pause in turns within one run
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    instruments: Vec<InstrumentName>,
    /// Approximate duration of all runs together
    #[arg(long, default_value_t = 300.0, value_name = "SECONDS")]
    time: f64,
    /// Warm-up runs after each start of the server; with --instruments, runs to estimate the duration
    #[arg(long, default_value_t = 1, value_name = "N")]
    warmup: u32,
    /// Folder for the records
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// Seed of the random order within the pairs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the comparison as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (json, time, for_instruments) =
            (self.json, seconds("time", self.time)?, !self.instruments.is_empty());
        let plan = self.plan()?;
        let all = Processes::default();
        let stopper = all.clone();
        crate::interrupt::on_interrupt(move || stopper.interrupt())?;
        let time_s = time.as_secs_f64();
        let done = match for_instruments {
            false => calibrate(&plan, time, &all, |pair, elapsed| {
                if !json {
                    print_error(format_args!("pair {pair}, {:.0} of {time_s:.0} s", elapsed.as_secs_f64()));
                }
            }),
            true => instrument_cost(&plan, time, &all, |pairs, elapsed| {
                // A pair is two seconds.
                if !json && pairs % 10 == 0 {
                    print_error(format_args!("{pairs} pairs, {:.0} of {time_s:.0} s", elapsed.as_secs_f64()));
                }
            }),
        };
        let done = match done {
            Err(_) if all.interrupted() => {
                print_error(
                    "klatch: interrupted; server and crowd are stopped, records of finished runs stay in the folder",
                );
                return Ok(ExitCode::from(INTERRUPTED));
            }
            done => done?,
        };
        let json_text = serde_json::to_string(&done.comparison)?;
        std::fs::write(done.folder.join("calibration.json"), &json_text)?;
        if let Some(Err(error)) = &done.saved {
            print_error(format_args!(
                "klatch: cannot store the calibration, so warnings of later runs will not use it: {}",
                error_chain(error)
            ));
        }
        if json {
            print_line(json_text);
        } else {
            let summary = match for_instruments {
                true => klatch_report::comparison(&done.comparison),
                false => klatch_report::calibration(&done.comparison, done.elapsed),
            };
            print_line(format_args!("{summary}records: {}", done.folder.display()));
            if let Some(Ok(path)) = &done.saved {
                print_line(format_args!("stored for the warnings of later runs: {}", path.display()));
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn plan(self) -> anyhow::Result<Plan> {
        anyhow::ensure!(self.warmup <= 1000, "warm-up count must be 0..=1000, got {}", self.warmup);
        Ok(Plan {
            platform: PlatformRequest {
                name: Some(self.platform),
                settings: self.knobs,
                ..self.platforms.request()
            },
            target: None,
            crowd: CrowdKind::Native,
            crowd_settings: Vec::new(),
            sysctls: Vec::new(),
            scheduler: None,
            workload: self.workload.workload()?,
            shards: 1,
            servers: 1,
            listen: Ipv4Addr::LOCALHOST.into(),
            remote: Remote::default(),
            instruments: self.instruments,
            warmups: self.warmup,
            trials: 1,
            out: self.out,
            ready_timeout: seconds("ready timeout", 60.0)?,
            timeout: seconds("timeout", 60.0)?,
            connect_timeout: seconds("connect timeout", 10.0)?,
            crowd_loops: 1,
            seed: self.seed,
            build: build(),
        })
    }
}
