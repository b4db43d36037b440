//! `klatch calibrate`.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use klatch_compare::{calibrate, watch_cost};
use klatch_platforms::{Processes, Setting, Wish};
use klatch_record::{InstrumentName, error_chain};
use klatch_runner::{CrowdKind, Plan, Remote};

use crate::INTERRUPTED;
use crate::build::build;
use crate::crowd::seconds;
use crate::platforms::PlatformArgs;
use crate::workload::WorkloadArgs;

/// Compare a platform with itself on this machine: its noise, and the smallest difference that can be shown in the time.
///
/// Its records, and the comparison as calibration.json, are kept in a folder of their own; what two starts of a server
/// differ by is kept in ~/.local/state/klatch/calibration.json, and told in the warnings of later runs.
/// Exit status: 0 calibrated, 2 could not.
#[derive(Args)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// What to measure, by name or NAME@JAVA-VERSION
    #[arg(long, default_value = "native-epoll")]
    platform: String,
    /// Something to set about the platform; `klatch platforms --knobs` lists all
    #[arg(long = "knob", value_name = "NAME=VALUE")]
    knobs: Vec<Setting>,
    #[command(flatten)]
    workload: WorkloadArgs,
    /// What these cost: within one run they watch and look away by turns of some seconds
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    instruments: Vec<InstrumentName>,
    /// About how long it may take
    #[arg(long, default_value_t = 300.0, value_name = "SECONDS")]
    time: f64,
    /// Runs that do not count, after each start of the server; with --instruments, runs that tell how long it takes
    #[arg(long, default_value_t = 1, value_name = "N")]
    warmup: u32,
    /// Folder for the records
    #[arg(long, default_value = "results", value_name = "DIR")]
    out: PathBuf,
    /// Seed of the order within the pairs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the comparison as one line of JSON instead
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let (json, time, watched) = (self.json, seconds("time", self.time)?, !self.instruments.is_empty());
        let plan = self.plan()?;
        let all = Processes::default();
        let stopper = all.clone();
        ctrlc::set_handler(move || stopper.interrupt())?;
        let of_all = time.as_secs_f64();
        let done = match watched {
            false => calibrate(&plan, time, &all, |pair, elapsed| {
                if !json {
                    eprintln!("pair {pair}, {:.0} of {of_all:.0} s", elapsed.as_secs_f64());
                }
            }),
            true => watch_cost(&plan, time, &all, |pairs, elapsed| {
                // A pair is two seconds.
                if !json && pairs % 10 == 0 {
                    eprintln!("{pairs} pairs, {:.0} of {of_all:.0} s", elapsed.as_secs_f64());
                }
            }),
        };
        let done = match done {
            Err(_) if all.interrupted() => {
                eprintln!(
                    "klatch: interrupted; server and crowd are stopped, the records of finished runs are kept"
                );
                return Ok(ExitCode::from(INTERRUPTED));
            }
            done => done?,
        };
        let text = serde_json::to_string(&done.comparison)?;
        std::fs::write(done.folder.join("calibration.json"), &text)?;
        if let Some(Err(error)) = &done.kept {
            eprintln!(
                "klatch: warnings of later runs will not know of this, it cannot be kept: {}",
                error_chain(error)
            );
        }
        if json {
            println!("{text}");
        } else {
            let told = match watched {
                true => klatch_report::comparison(&done.comparison),
                false => klatch_report::calibration(&done.comparison, done.elapsed),
            };
            println!("{told}records: {}", done.folder.display());
            if let Some(Ok(path)) = &done.kept {
                println!("kept for the warnings of later runs: {}", path.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn plan(self) -> anyhow::Result<Plan> {
        anyhow::ensure!(self.warmup <= 1000, "warm-up count must be 0..=1000, got {}", self.warmup);
        Ok(Plan {
            wish: Wish { name: Some(self.platform), settings: self.knobs, ..self.platforms.wish() },
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
