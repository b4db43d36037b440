//! `klatch study`: loads a study of any kind, runs or resumes it, and writes its report.

mod computed;
mod measured;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use klatch_platforms::PlatformRequest;
use klatch_record::{CellStatus, ResultKind, StudyResult, error_chain};
use klatch_report::{Ending, judged_study};
use klatch_study::{Preset, Store, StudyFile, StudyHead, load, shipped};

use crate::next;
use crate::output::{print_error, print_line, print_text};
use crate::pager::print_long;
use crate::platforms::PlatformArgs;
use crate::quantity::Time;
use crate::report::SavedReport;
use crate::require::{self, RequireArgs};
use crate::web_view::WebArgs;

pub(crate) use self::measured::base;

const MEASURED: &str = "Measured studies";
const EMULATED: &str = "Studies of the lab";
const SIMULATED: &str = "Simulated studies";
const COMPUTED: &str = "Studies of the lab and simulated studies";

/// Run a study: platforms × workloads × knobs under run rules
///
/// A measured study visits its cells on this machine in random order. A study of the lab boots an emulated machine with a pinned
/// kernel for each trial, and a simulated one computes a machine of any number of CPUs. The file decides the kind. Every record and
/// trial is written as soon as it ends.
///
/// Exit status: 0 every cell has its trials, 1 some cell failed or was left out, 2 could not run, 4 the trials cannot decide a requirement,
/// 5 one is not met in a cell.
#[derive(Args, Default)]
pub(crate) struct Study {
    /// Study that Klatch brings, or a file; lists the studies with their kinds if omitted
    #[arg(value_name = "NAME|FILE")]
    study: Option<String>,
    /// Print the cells and the number of runs without running them
    #[arg(long, conflicts_with = "resume")]
    dry_run: bool,
    /// Continue an interrupted study, from this folder or the newest one of this study
    #[arg(long, value_name = "DIR", num_args = 0..=1)]
    resume: Option<Option<PathBuf>>,
    /// Cells to run: those with this text in the name
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Folder for the results
    #[arg(long, default_value = "results", value_name = "DIR", value_parser = crate::output::folder)]
    out: PathBuf,
    /// Print the result as JSON; without a study, the list
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
    #[command(flatten, next_help_heading = MEASURED)]
    require: RequireArgs,
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Name of the build that is measured, such as its commit, for `klatch history`
    #[arg(long, value_name = "TEXT", value_parser = crate::history::label, help_heading = MEASURED)]
    label: Option<String>,
    /// Allow the study's `[sysctls]` to change the machine during visits
    #[arg(long, help_heading = MEASURED)]
    allow_sysctl: bool,
    /// Run rules in place of those of the file: quick (a first look, in duets of 3 starts), duet, converge, ibm-2000 and others
    #[arg(long, value_name = "PRESET", value_parser = preset(), hide_possible_values = true, help_heading = MEASURED)]
    preset: Option<Preset>,
    /// Seed of the random order of visits [default: 1]
    #[arg(long, help_heading = MEASURED)]
    seed: Option<u64>,
    /// Print lines instead of a view of the whole terminal
    #[arg(long, help_heading = MEASURED)]
    lines: bool,
    #[command(flatten, next_help_heading = MEASURED)]
    web: WebArgs,
    /// Boot each trial twice and compare all output to the last digit
    #[arg(long, help_heading = EMULATED)]
    twice: bool,
    /// Longest time for a boot, on this machine's clock [default: 15m]
    #[arg(long, value_name = "TIME", help_heading = EMULATED)]
    limit: Option<Time>,
    /// Also simulate every cell with each uncertain cost at both ends of its range, and show which claims hold for all of them
    #[arg(long, help_heading = SIMULATED)]
    sensitivity: bool,
    /// Number of trials at a time; does not affect the results [default: number of CPUs, at most 4]
    #[arg(long, value_name = "N", value_parser = crate::quantity::whole::<1, 64>, help_heading = COMPUTED)]
    jobs: Option<u32>,
}

/// Where the results of a study go, and how they are shown.
pub(crate) struct Shown {
    pub(crate) out: PathBuf,
    pub(crate) json: bool,
    pub(crate) web: WebArgs,
    pub(crate) require: RequireArgs,
    pub(crate) label: Option<String>,
}

impl Study {
    /// A measured study that options of another command describe.
    pub(crate) fn of_options(platforms: PlatformArgs, allow_sysctl: bool, seed: u64, shown: Shown) -> Study {
        let Shown { out, json, web, require, label } = shown;
        Study {
            out,
            json,
            require,
            platforms,
            label,
            allow_sysctl,
            seed: Some(seed),
            web,
            ..Study::default()
        }
    }

    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Some(name) = &self.study else {
            list(self.json);
            return Ok(ExitCode::SUCCESS);
        };
        let file = load(name)?;
        self.refuse_options_of_other_kinds(&file)?;
        match file.kind() {
            ResultKind::Measured => self.measure(&file),
            ResultKind::Emulated => self.emulate(&file),
            ResultKind::Simulated => self.simulate(&file),
        }
    }

    /// The options that do not suit every kind of study: name, whether it is given, and the kinds.
    fn options_of_kinds(&self) -> [(&'static str, bool, &'static [ResultKind]); 14] {
        use ResultKind::{Emulated, Measured, Simulated};
        let PlatformRequest { java, catalog, .. } = self.platforms.request();
        [
            ("java", java.is_some(), &[Measured, Emulated]),
            ("catalog", catalog.is_some(), &[Measured]),
            ("label", self.label.is_some(), &[Measured]),
            ("require", !self.require.require.is_empty(), &[Measured]),
            ("junit", self.require.junit.is_some(), &[Measured]),
            ("allow-sysctl", self.allow_sysctl, &[Measured]),
            ("preset", self.preset.is_some(), &[Measured]),
            ("seed", self.seed.is_some(), &[Measured]),
            ("lines", self.lines, &[Measured]),
            ("web", self.web.is_wanted(), &[Measured]),
            ("twice", self.twice, &[Emulated]),
            ("limit", self.limit.is_some(), &[Emulated]),
            ("sensitivity", self.sensitivity, &[Simulated]),
            ("jobs", self.jobs.is_some(), &[Emulated, Simulated]),
        ]
    }

    fn refuse_options_of_other_kinds(&self, file: &StudyFile) -> anyhow::Result<()> {
        for (option, is_given, kinds) in self.options_of_kinds() {
            let owners = kinds.iter().map(|kind| words(*kind).1).collect::<Vec<_>>().join(" and ");
            anyhow::ensure!(
                !is_given || kinds.contains(&file.kind()),
                "--{option} is for {owners}; {} is {}",
                file.name(),
                words(file.kind()).0
            );
        }
        Ok(())
    }

    /// The options that affect the results, except the seed.
    fn options(&self) -> BTreeMap<String, String> {
        let PlatformRequest { java, catalog, .. } = self.platforms.request();
        let path = |path: PathBuf| path.display().to_string();
        let required = self.require.require.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        let all = [
            ("only", self.only.clone()),
            ("require", Some(required).filter(|required| !required.is_empty())),
            ("java", java.map(path)),
            ("catalog", catalog.map(path)),
            ("label", self.label.clone()),
            ("allow-sysctl", self.allow_sysctl.then(String::new)),
            ("sensitivity", self.sensitivity.then(String::new)),
            ("preset", self.preset.map(|preset| preset.name().to_owned())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }

    /// Notes the options in a plan, and removes the cells that are not wanted.
    fn select<C>(&self, head: &mut StudyHead, cells: &mut Vec<C>, id: fn(&C) -> &str) -> anyhow::Result<()> {
        head.options = self.options();
        let Some(only) = &self.only else { return Ok(()) };
        cells.retain(|cell| id(cell).contains(only.as_str()));
        anyhow::ensure!(
            !cells.is_empty(),
            "no cell of {0} has {only} in its name; klatch study {0} --dry-run lists the cells",
            head.name
        );
        Ok(())
    }

    /// A new folder for the study, or that of an interrupted one.
    fn store(&self, file: &StudyFile) -> anyhow::Result<Store> {
        let name = file.name();
        let Some(folder) = &self.resume else {
            return Ok(Store::begin(&self.out, &name, file.text(), self.seed.unwrap_or(1))?);
        };
        let folder = folder.clone().or_else(|| Store::newest(&self.out, &name));
        let folder = folder.with_context(|| {
            format!("no study {name} in {}; start it without --resume", self.out.display())
        })?;
        Ok(Store::resume(&folder, file.text())?)
    }

    /// What an interrupted study prints.
    fn interrupted(&self, store: &Store) -> String {
        let folder = store.folder().display();
        // A study of options has only the file in its folder.
        let study = self.study.clone().unwrap_or_else(|| format!("{folder}/study.toml"));
        format!(
            "klatch: interrupted; finished runs stay in the folder; continue with: klatch study {study} --resume {folder}"
        )
    }

    /// Prints the result and saves its report.
    fn finish(
        &self,
        result: &StudyResult,
        text: &str,
        store: &Store,
        save_report: impl FnOnce() -> anyhow::Result<SavedReport>,
    ) -> ExitCode {
        let folder = store.folder();
        let judged = judged_study(result);
        if !self.json && !judged.is_empty() {
            print_line("");
        }
        self.require.show(&judged, self.json);
        if let Err(error) = self.require.save(&result.name, &judged, false) {
            print_error(format_args!("klatch: {}", error_chain(error.as_ref())));
        }
        match self.json {
            true => print_line(serde_json::to_string(result).expect("a result is plain JSON")),
            false => print_text(format_args!("\n{}\n", text.trim_end())),
        }
        // The results are complete even if the report fails.
        let mut ending = Ending { places: vec![("results", folder.to_owned())], ..Ending::default() };
        match save_report() {
            Ok(saved) => {
                ending.answer = saved.answer;
                ending.places.push(("report", saved.path));
                ending.next = saved.undecided.unwrap_or_else(|| next::open(&self.out));
            }
            Err(error) => print_error(format_args!(
                "klatch: cannot write a report: {}; try klatch report {}",
                error_chain(error.as_ref()),
                folder.display()
            )),
        }
        if !self.json {
            next::print_ending(ending);
        }
        let failed = result.cells.iter().any(|cell| cell.status == CellStatus::Failed);
        match require::exit_code(&judged, false) {
            _ if failed => ExitCode::FAILURE,
            code => code.unwrap_or(ExitCode::SUCCESS),
        }
    }
}

/// The presets by their names.
fn preset() -> impl TypedValueParser<Value = Preset> {
    let find = |name: String| Preset::ALL.into_iter().find(|preset| preset.name() == name);
    PossibleValuesParser::new(Preset::ALL.map(Preset::name))
        .map(move |name| find(name).expect("the parser knows the names"))
}

/// A study of this kind, and such studies.
fn words(kind: ResultKind) -> (&'static str, &'static str) {
    match kind {
        ResultKind::Measured => ("a measured study", "measured studies"),
        ResultKind::Emulated => ("a study of the lab", "studies of the lab"),
        ResultKind::Simulated => ("a simulated study", "simulated studies"),
    }
}

fn list(json: bool) {
    if !json {
        return print_long(format_args!("{}\n", klatch_report::studies(&shipped())));
    }
    for study in shipped() {
        let (name, kind) = (study.name, study.kind.name());
        print_line(serde_json::json!({ "name": name, "kind": kind, "question": study.question() }));
    }
}
