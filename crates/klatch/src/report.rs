//! `klatch report`: reads results, builds the report and writes it in a format.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};
use klatch_record::lab::{Outcome, Study};
use klatch_record::{Duet, FOLDED, Percentiles, save_bytes, save_text};
use klatch_report::{
    Found, HistogramError, Progress, Source, csv, duet_report, find_all, hgrm, hlog, html, json, lab_report,
    markdown, percentile_rows, pprof, read, report_of, report_side_by_side, timeline_csv,
};

use crate::interrupt::{NOTHING_KEPT, end_at_once};
use crate::output::{print, print_as_is, print_error, print_line};

/// The link to the last results.
const LATEST: &str = "results/latest";

/// Write a report of results: a page, Markdown, CSV or JSON
///
/// A report contains the answer, charts with their numbers, run rules, environments and commands. Two folders appear side by
/// side with ratios and intervals. Several records become one report, also those that --json has printed: klatch run --json | klatch
/// report -. A duet, a history of klatch floor and a folder of a study of the lab also have reports.
///
/// Exit status: 0 written, 2 could not write.
#[derive(Args)]
pub(crate) struct Report {
    /// One or two results folders, records or duets in JSON or JSON lines, a history of klatch floor, or - for standard input
    #[arg(default_value = LATEST, value_name = "DIR|RECORD")]
    paths: Vec<PathBuf>,
    /// Format of the report [default: by the name of --out, else html]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Percentiles of latency to add, of all trials of a cell together; of one source
    #[arg(long, value_name = "50,99.9,…")]
    percentiles: Option<Percentiles>,
    /// File to write; - is standard output
    /// [default: report.html in the folder for html, else standard output]
    #[arg(long, value_name = "FILE", verbatim_doc_comment)]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page with charts that needs no network
    Html,
    /// Tables for a mail or an issue
    Md,
    /// Estimates of the cells, one line per metric
    Csv,
    /// Everything, by the schema that `klatch schema report` prints
    Json,
    /// HdrHistogram's log: the latencies of each trial, tagged by operation
    Hlog,
    /// HdrHistogram's percentiles: the latencies of all trials of one cell
    Hgrm,
    /// Deliveries and their latency over the time of each trial, CSV
    Timeline,
    /// A profile for pprof, of a file of folded stacks
    Pprof,
}

/// How a format is written.
enum Writer {
    /// From a report.
    Report(fn(&klatch_report::Report) -> anyhow::Result<String>),
    /// From the runs themselves.
    Runs(fn(&Source) -> Result<String, HistogramError>),
    /// From a file of folded stacks.
    Stacks(fn(&str) -> Option<Vec<u8>>),
}

impl Format {
    fn writer(self) -> Writer {
        match self {
            Format::Html => Writer::Report(|report| Ok(html(report)?)),
            Format::Md => Writer::Report(|report| Ok(markdown(report))),
            Format::Csv => Writer::Report(|report| Ok(csv(report))),
            Format::Json => Writer::Report(|report| Ok(json(report))),
            Format::Hlog => Writer::Runs(hlog),
            Format::Hgrm => Writer::Runs(hgrm),
            Format::Timeline => Writer::Runs(timeline_csv),
            Format::Pprof => Writer::Stacks(pprof),
        }
    }
}

/// The names of these formats.
fn names(is_one: fn(&Format) -> bool) -> String {
    let formats = Format::value_variants().iter().filter(|format| is_one(format));
    let names = formats.filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()));
    names.collect::<Vec<_>>().join(", ")
}

/// The refusal of percentiles in a format that is not made of a report.
fn no_percentiles() -> String {
    let formats = names(|format| matches!(format.writer(), Writer::Report(_)));
    format!("--percentiles is for {formats}")
}

impl Report {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let format = self.format()?;
        // A report is a file as a whole or not at all.
        end_at_once(NOTHING_KEPT.to_owned())?;
        let waiting = Progress::waiting("making the report");
        let bytes = match format.writer() {
            Writer::Report(write) => write(&self.report(format)?)?.into_bytes(),
            Writer::Runs(write) => write(&self.runs()?)?.into_bytes(),
            Writer::Stacks(write) => {
                let (path, text) = self.stacks()?;
                write(&text).with_context(|| format!("{} has no stacks", path.display()))?
            }
        };
        drop(waiting);
        match self.place(format) {
            None if matches!(format, Format::Html | Format::Pprof) => print_as_is(&bytes),
            None => print(String::from_utf8_lossy(&bytes)),
            Some(path) => {
                save_bytes(&bytes, &path)?;
                print_line(path.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The file of folded stacks that was named, and its text.
    fn stacks(&self) -> anyhow::Result<(&Path, String)> {
        anyhow::ensure!(self.percentiles.is_none(), no_percentiles());
        match self.paths.as_slice() {
            [path] if path.extension().is_some_and(|end| end == FOLDED) => {
                let text = std::fs::read_to_string(path);
                Ok((path, text.with_context(|| format!("cannot read {}", path.display()))?))
            }
            _ => anyhow::bail!(
                "a profile of pprof is of one file of stacks: name a .{FOLDED} file, such as those beside a duet with --explain"
            ),
        }
    }

    /// The format that was asked for, or that of the file.
    fn format(&self) -> anyhow::Result<Format> {
        let extension =
            self.out.as_deref().and_then(Path::extension).map(|end| end.to_string_lossy().to_lowercase());
        match (self.format, extension.as_deref()) {
            (Some(format), _) => Ok(format),
            (None, None | Some("html" | "htm")) => Ok(Format::Html),
            (None, Some(end)) => Format::from_str(end, true).map_err(|_| {
                let names = names(|_| true);
                anyhow::anyhow!("there is no format {end}; the end of a file's name is one of {names}, or --format says it")
            }),
        }
    }

    /// What the paths hold; runs of several together.
    fn found(&self) -> anyhow::Result<Found> {
        if let [path] = self.paths.as_slice()
            && path.as_os_str() == LATEST
        {
            anyhow::ensure!(
                path.exists(),
                "there is no {LATEST} here: name a folder, or make results with klatch run"
            );
        }
        Ok(find_all(&self.paths)?)
    }

    fn runs(&self) -> anyhow::Result<Source> {
        anyhow::ensure!(self.percentiles.is_none(), no_percentiles());
        let Found::Runs(source) = self.found()? else {
            anyhow::bail!("only runs have latencies to write in this format")
        };
        warn_skipped(&source);
        Ok(*source)
    }

    fn report(&self, format: Format) -> anyhow::Result<klatch_report::Report> {
        if let [a, b] = self.paths.as_slice()
            && a.is_dir()
            && b.is_dir()
        {
            anyhow::ensure!(self.percentiles.is_none(), "percentiles are of one folder; name one");
            return Ok(report_side_by_side(a, b, warn_skipped)?);
        }
        let (path, found) = (&self.paths[0], self.found()?);
        let what = match &found {
            Found::Runs(source) => return self.with_percentiles(source),
            Found::Duet(_) => None,
            Found::Floor(_) => Some("a history of klatch floor"),
            Found::Lab(..) => Some("a study of the lab"),
        };
        anyhow::ensure!(self.percentiles.is_none(), "--percentiles is for runs and measured studies");
        if let Some(what) = what {
            let is_text = matches!(format, Format::Md | Format::Csv);
            anyhow::ensure!(!is_text, "{what} has charts only; use --format html or json");
        }
        Ok(report_of(path, &found))
    }

    /// The report of runs with the percentiles that were asked for.
    fn with_percentiles(&self, source: &Source) -> anyhow::Result<klatch_report::Report> {
        warn_skipped(source);
        let mut report = klatch_report::report(source);
        if let Some(percentiles) = &self.percentiles {
            report.percentiles = percentile_rows(source, percentiles)?;
            anyhow::ensure!(!report.percentiles.is_empty(), "there are no runs with latencies here");
        }
        Ok(report)
    }

    fn place(&self, format: Format) -> Option<PathBuf> {
        match (&self.out, self.paths.as_slice(), format) {
            (Some(path), ..) if path.as_os_str() == "-" => None,
            (Some(path), ..) => Some(path.clone()),
            (None, [folder], Format::Html) if folder.is_dir() => Some(folder.join("report.html")),
            (None, _, Format::Html) => Some(PathBuf::from("report.html")),
            (None, ..) => None,
        }
    }
}

/// Names the files that are no results.
pub(crate) fn warn_skipped(source: &Source) {
    for skipped in &source.skipped {
        print_error(format_args!("warning: {skipped}"));
    }
}

/// A report that was written to `report.html` in the folder of its results.
pub(crate) struct SavedReport {
    /// Its answer.
    pub(crate) answer: String,
    /// Path of the page.
    pub(crate) path: PathBuf,
    /// The duet that decides what the answer leaves open, as a command.
    pub(crate) undecided: Option<Vec<String>>,
}

fn save_page(folder: &Path, report: klatch_report::Report) -> anyhow::Result<SavedReport> {
    let path = folder.join("report.html");
    save_text(&html(&report)?, &path)?;
    Ok(SavedReport { answer: report.answer, path, undecided: None })
}

/// Writes the report of the results in a folder.
pub(crate) fn save_report(folder: &Path) -> anyhow::Result<SavedReport> {
    let source = read(folder)?;
    let saved = save_page(folder, klatch_report::report(&source))?;
    Ok(SavedReport { undecided: klatch_report::undecided(&source), ..saved })
}

/// Writes the report of a duet.
pub(crate) fn save_duet_report(folder: &Path, duet: &Duet) -> anyhow::Result<SavedReport> {
    save_page(folder, duet_report(folder, duet))
}

/// Writes the report of a study of the lab.
pub(crate) fn save_lab_report(
    folder: &Path,
    study: &Study,
    outcomes: &[Outcome],
) -> anyhow::Result<SavedReport> {
    save_page(folder, lab_report(folder, study, outcomes))
}
