//! `klatch trace`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::channel;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use klatch_instruments::{Kernel, Recorder, TRACE_BYTES_MAX, TraceFile, perfetto, show, summary};

use crate::crowd::seconds;

/// Record what the scheduler does, and look at records: those made here, and those of `klatch run --instrument trace`.
#[derive(Args)]
pub(crate) struct Trace {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Record switches, wakings and migrations of all programs, until Ctrl-C or for some seconds
    Record {
        /// Stop by itself after so long
        #[arg(long, value_name = "SECONDS")]
        seconds: Option<f64>,
        /// Most that the file may take, MB; what comes then is counted as lost
        #[arg(long, default_value_t = TRACE_BYTES_MAX >> 20, value_name = "MB")]
        size: u64,
        /// A new file for it
        file: PathBuf,
    },
    /// Print the events, one a line
    Show {
        /// The trace
        file: PathBuf,
        #[command(flatten)]
        part: Part,
    },
    /// Print counts, and which threads ran longest
    Summary {
        /// The trace
        file: PathBuf,
        #[command(flatten)]
        part: Part,
    },
    /// Write it in the JSON format that https://ui.perfetto.dev and chrome://tracing open
    Export {
        /// The trace
        file: PathBuf,
        /// A new file for it
        #[arg(long, value_name = "FILE")]
        perfetto: PathBuf,
        #[command(flatten)]
        part: Part,
    },
}

/// A part of a trace.
#[derive(Args)]
struct Part {
    /// Leave out what came before, seconds from its beginning
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    from: f64,
    /// Leave out what came after
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
}

impl Trace {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        match self.action {
            Action::Record { seconds: wanted, size, file } => record(wanted, size, &file)?,
            Action::Show { file, part } => {
                let (trace, start_ns) = part.read(&file)?;
                let mut out = BufWriter::new(std::io::stdout().lock());
                let mut events = trace.events.iter();
                // Who reads may have seen enough: a closed pipe is no error.
                let _ = events.try_for_each(|event| writeln!(out, "{}", show(&trace, event, start_ns)));
            }
            Action::Summary { file, part } => print!("{}", summary(&part.read(&file)?.0)),
            Action::Export { file, perfetto: to, part } => {
                let failed = |error| anyhow!("cannot write {}: {error}", to.display());
                let trace = part.read(&file)?.0;
                let out = File::create_new(&to).map_err(failed)?;
                perfetto(&trace, BufWriter::new(out)).map_err(failed)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn record(wanted: Option<f64>, size: u64, file: &Path) -> anyhow::Result<()> {
    anyhow::ensure!((1..=65_536).contains(&size), "size must be 1..=65536 MB, got {size}");
    let limit = wanted.map(|wanted| seconds("seconds", wanted)).transpose()?;
    anyhow::ensure!(!file.exists(), "{} is there already; name a new file", file.display());
    let (stop, stopped) = channel();
    ctrlc::set_handler(move || {
        let _ = stop.send(());
    })?;
    let mut recorder = Recorder::start(&Kernel::here(), file, size << 20)?;
    eprintln!("recording to {}; Ctrl-C ends it", file.display());
    // Either way it is time to stop.
    let _ = match limit {
        Some(limit) => stopped.recv_timeout(limit).is_ok(),
        None => stopped.recv().is_ok(),
    };
    let trace = recorder.end()?;
    println!("{} events, {} lost, {} bytes", trace.events, trace.lost, trace.file_bytes);
    Ok(())
}

impl Part {
    /// That part, and when the whole begins.
    fn read(&self, file: &Path) -> anyhow::Result<(TraceFile, u64)> {
        let opened = File::open(file).map_err(|error| anyhow!("cannot read {}: {error}", file.display()))?;
        let read = TraceFile::read(BufReader::new(opened));
        let mut trace = read.map_err(|error| anyhow!("{}: {error}", file.display()))?;
        let start_ns = trace.events.first().map_or(0, |event| event.ns);
        let at_s = |ns: u64| (ns - start_ns) as f64 / 1e9;
        trace
            .events
            .retain(|event| at_s(event.ns) >= self.from && self.to.is_none_or(|to| at_s(event.ns) <= to));
        Ok((trace, start_ns))
    }
}
