//! `klatch trace`: records scheduler events to a file and prints them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::channel;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use klatch_instruments::{
    Kernel, PerfScript, Recorder, TRACE_BYTES_MAX, TraceFile, event_line, read_perf_script, replay, summary,
    write_perfetto,
};
use klatch_record::{grouped, printable_line};
use klatch_report::{trace_summary, trace_waits};

use crate::INTERRUPTED;
use crate::interrupt::NOTHING_KEPT;
use crate::output::{print, print_error, print_line};
use crate::quantity::Time;

/// Record scheduler events and print them
///
/// Also reads the traces of `klatch run --instrument trace`.
#[derive(Args)]
pub(crate) struct Trace {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Record switches, wake-ups and migrations of all programs until Ctrl-C
    Record {
        /// Stop after this time
        #[arg(long, value_name = "TIME")]
        duration: Option<Time>,
        /// Limit of the file size; later events count as lost
        #[arg(long, default_value_t = TRACE_BYTES_MAX >> 20, value_name = "MB")]
        size: u64,
        /// New file for the trace
        file: PathBuf,
    },
    /// Make a trace of what `perf script` prints of a recording by `perf sched record`
    Import {
        /// Output of `perf script`, or - for standard input
        text: PathBuf,
        /// New file for the trace
        file: PathBuf,
    },
    /// Print the events, one per line
    Show {
        /// File of the trace
        file: PathBuf,
    },
    /// Print counts, the threads that ran longest, and run-queue latencies by group and thread
    Summary {
        /// File of the trace
        file: PathBuf,
    },
    /// Export to another format
    Export {
        /// File of the trace
        file: PathBuf,
        /// New file in the JSON format of https://ui.perfetto.dev and chrome://tracing
        #[arg(long, value_name = "FILE", required_unless_present = "replay")]
        perfetto: Option<PathBuf>,
        /// New file with what each task does in its own CPU time, for `klatch simulate run --replay`
        #[arg(long, value_name = "FILE")]
        replay: Option<PathBuf>,
    },
}

impl Trace {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        // A recording ends with what it has.
        if !matches!(self.action, Action::Record { .. }) {
            crate::interrupt::on_interrupt(|| {
                remove_unfinished();
                print_error(NOTHING_KEPT);
                std::process::exit(INTERRUPTED.into());
            })?;
        }
        match self.action {
            Action::Record { duration, size, file } => record(duration, size, &file)?,
            Action::Import { text, file } => {
                let mut bytes = Vec::new();
                let read = match text.as_os_str().to_str() {
                    Some("-") => std::io::stdin().read_to_end(&mut bytes),
                    _ => File::open(&text).and_then(|mut file| file.read_to_end(&mut bytes)),
                };
                read.map_err(|error| anyhow!("cannot read {}: {error}", text.display()))?;
                // Names of tasks are bytes.
                let script = String::from_utf8_lossy(&bytes);
                let PerfScript { trace, left_out } =
                    read_perf_script(&script).map_err(|error| anyhow!("{}: {error}", text.display()))?;
                create(&file, |out| trace.write(out))?;
                print_line(format_args!("{} events", trace.events.len()));
                for (event, count) in left_out {
                    print_line(format_args!("left out: {count} {event}, for which a trace has no place"));
                }
            }
            Action::Show { file } => {
                let trace = read(&file)?;
                let start_ns = trace.events.first().map_or(0, |event| event.ns);
                let mut out = BufWriter::new(std::io::stdout().lock());
                let mut events = trace.events.iter();
                // A closed pipe is no error: `klatch trace show | head`.
                // Programs choose the names of their threads.
                let _ = events.try_for_each(|event| {
                    writeln!(out, "{}", printable_line(&event_line(&trace, event, start_ns)))
                });
            }
            Action::Summary { file } => {
                let trace = read(&file)?;
                print(trace_summary(summary(&trace)));
                print(trace_waits(&trace));
            }
            Action::Export { file, perfetto, replay: to_replay } => {
                let trace = read(&file)?;
                if let Some(to) = perfetto {
                    create(&to, |out| write_perfetto(&trace, out))?;
                    print_line(format_args!("{}; https://ui.perfetto.dev opens it", to.display()));
                }
                if let Some(to) = to_replay {
                    let replay = replay(&trace);
                    anyhow::ensure!(
                        replay.wake_ups() > 0,
                        "{}: no task is woken in it, and wake-ups are what a replay counts; record again with \
                         `klatch trace record` or `perf sched record`",
                        file.display()
                    );
                    create(&to, |out| Ok(serde_json::to_writer(out, &replay)?))?;
                    print_line(format_args!("{0}; klatch simulate run --replay {0}", to.display()));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The file that is being written.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Names the file that is being written. Returns the one before.
fn now_unfinished(file: Option<PathBuf>) -> Option<PathBuf> {
    std::mem::replace(&mut UNFINISHED.lock().expect("no holder of this lock panics"), file)
}

fn remove_unfinished() {
    if let Some(file) = now_unfinished(None) {
        // A file that cannot be removed stays, as it was.
        let _ = std::fs::remove_file(file);
    }
}

/// Writes a new file, whole or not at all.
fn create(to: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> anyhow::Result<()> {
    let written = File::create_new(to).map(BufWriter::new).and_then(|mut out| {
        now_unfinished(Some(to.to_owned()));
        write(&mut out)?;
        out.flush()?;
        now_unfinished(None);
        Ok(())
    });
    remove_unfinished();
    written.map_err(|error| anyhow!("cannot write {}: {error}", to.display()))
}

fn record(duration: Option<Time>, size: u64, file: &Path) -> anyhow::Result<()> {
    anyhow::ensure!((1..=65_536).contains(&size), "size must be 1 to 65,536 MB, got {size}");
    anyhow::ensure!(!file.exists(), "{} exists; name a new file", file.display());
    let (stop, stopped) = channel();
    crate::interrupt::on_interrupt(move || {
        let _ = stop.send(());
    })?;
    let mut recorder = Recorder::start(&Kernel::detect(), file, size << 20)?;
    print_error(format_args!("recording to {}; Ctrl-C ends it", file.display()));
    // Ctrl-C and the end of the time both stop the recording.
    let _ = match duration {
        Some(duration) => stopped.recv_timeout(duration.0).is_ok(),
        None => stopped.recv().is_ok(),
    };
    let trace = recorder.end()?;
    let [events, lost, bytes] = [trace.events, trace.lost, trace.file_bytes].map(grouped);
    print_line(format_args!("{events} events, {lost} lost, {bytes} bytes"));
    Ok(())
}

fn read(file: &Path) -> anyhow::Result<TraceFile> {
    let opened = File::open(file).map_err(|error| anyhow!("cannot read {}: {error}", file.display()))?;
    let read = TraceFile::read(BufReader::new(opened));
    read.map_err(|error| anyhow!("{}: {error}", file.display()))
}
