//! The plan of a study: its cells, and the run rules for all of them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use klatch_platforms::PlatformRequest;
use klatch_record::{Build, InstrumentName, Requirement, RequirementError, StudyAxis};
use klatch_runner::duet::DuetPlan;
use klatch_runner::{CrowdKind, Plan};

use crate::search::Search;
use crate::series::{Preset, Rules};

/// What a study file does not set.
#[derive(Clone, Debug)]
pub struct StudyBase {
    /// Java and catalog of all platforms.
    pub platforms: PlatformRequest,
    /// Name of the build that is measured, for its records; `None` if it has none.
    pub label: Option<String>,
    /// Folder below which results are written.
    pub out: PathBuf,
    /// Version and commit of this Klatch.
    pub build: Build,
    /// Run rules in place of those of the file.
    pub preset: Option<Preset>,
}

/// What the result of a study repeats of its plan.
#[derive(Clone, Debug)]
pub struct StudyHead {
    /// Name of its file without extension.
    pub name: String,
    /// The question that the study answers, in words.
    pub question: String,
    /// What the cells differ in, and the platform or scheduler.
    pub axes: Vec<StudyAxis>,
    /// Options of the command that affect the results, by name, but for the seed; a flag has an empty value.
    pub options: BTreeMap<String, String>,
    /// Version and commit of this Klatch.
    pub build: Build,
}

/// A measured study with all its cells, ready to run.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// What its result repeats.
    pub head: StudyHead,
    /// All cells, including those that cannot run on this machine.
    pub cells: Vec<Cell>,
    /// Run rules of every cell.
    pub rules: Rules,
    /// In a study of duets: the axis whose first value is the reference of the others.
    pub(crate) compared: Option<String>,
    /// The search in each cell, if the study is one.
    pub(crate) search: Option<Search>,
    /// Limits by which every cell, or every pair of duets, is judged.
    pub(crate) requirements: Vec<Requirement>,
    /// Seed of the order of cells within a block.
    pub seed: u64,
}

/// One combination of the axes.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name, which is also the name of its folder.
    pub id: String,
    /// Its value on every axis, by the name of the axis.
    pub at: BTreeMap<String, String>,
    /// The plan of each visit. The study ignores its numbers of runs and sets its folder.
    pub plan: Plan,
    /// Why the cell cannot run on this machine; `None` if it can.
    pub absent: Option<String>,
}

/// A cell and its reference.
pub(crate) struct Pair<'a> {
    /// The reference: the same cell with the first value of the compared axis.
    pub(crate) a: &'a Cell,
    /// The cell that is compared with it.
    pub(crate) b: &'a Cell,
}

impl StudyPlan {
    /// Whether the study consists of duets.
    pub fn is_of_duets(&self) -> bool {
        self.compared.is_some()
    }

    /// The pairs of a study of duets that can run on this machine.
    pub(crate) fn pairs(&self) -> Vec<Pair<'_>> {
        let Some(axis) = &self.compared else { return Vec::new() };
        let first = self.head.axes.iter().find(|one| one.name == *axis).and_then(|axis| axis.values.first());
        let reference = |cell: &Cell| {
            let mut at = cell.at.clone();
            at.insert(axis.clone(), first?.clone());
            self.cells.iter().find(|other| other.at == at)
        };
        let here = self.cells.iter().filter(|cell| cell.absent.is_none());
        let pairs = here.filter_map(|b| Some(Pair { a: reference(b)?, b }));
        pairs.filter(|pair| pair.a.id != pair.b.id && pair.a.absent.is_none()).collect()
    }

    /// Adds a requirement for every cell, or for every pair of a study of duets.
    ///
    /// # Errors
    /// The study does not have what it is about.
    pub fn require(&mut self, requirement: Requirement) -> Result<(), RequirementError> {
        if self.is_search() {
            return Err(RequirementError::Search);
        }
        if self.is_of_duets() {
            requirement.metric_of_duet()?;
            // The sides have other names in each pair.
            requirement.is_inverse(["A", "B"])?;
        } else {
            self.cells
                .iter()
                .try_for_each(|cell| requirement.metric_of(cell.plan.workload.kind()).map(drop))?;
        }
        self.requirements.push(requirement);
        Ok(())
    }

    /// Whether the study searches a limit. Its number of runs is then unknown in advance.
    pub fn is_search(&self) -> bool {
        self.search.is_some()
    }

    /// The run rules in words. The steps of a search have rules of their own for the number of starts.
    pub fn rules_text(&self) -> String {
        match self.is_search() {
            true => format!(
                "search: {}; a value holds if its first start does, or two of three",
                self.rules.visit_text()
            ),
            false => self.rules.to_string(),
        }
    }

    /// The instruments of every run.
    pub fn instruments(&self) -> &[InstrumentName] {
        self.cells.first().map_or(&[], |cell| &cell.plan.instruments)
    }

    /// Whether a cell changes a setting of the whole machine.
    pub fn sets_sysctls(&self) -> bool {
        self.cells.iter().any(|cell| !cell.plan.sysctls.is_empty())
    }

    /// The fewest and the most runs if nothing fails. Meaningless for a search.
    pub fn runs(&self) -> (u32, u32) {
        if self.is_of_duets() {
            let starts = self.pairs().len() as u32 * self.rules.visits().1;
            return (starts, starts);
        }
        let cells = self.cells.iter().filter(|cell| cell.absent.is_none()).count() as u32;
        let (least, most) = self.rules.visits();
        let runs = cells * self.rules.runs_per_visit();
        (least * runs, most * runs)
    }

    /// The duet of these sides.
    pub(crate) fn duet(&self, sides: [Plan; 2]) -> DuetPlan {
        let starts = self.rules.visits().1;
        let usual = DuetPlan::usual(sides, starts, self.rules.confidence);
        let counted = self.rules.duet.counted.unwrap_or(usual.time / starts - usual.warmup);
        let warmup = self.rules.duet.warmup.unwrap_or(usual.warmup);
        DuetPlan { time: (warmup + counted) * starts, warmup, ..usual }
    }

    /// About how long these runs take, from the number of messages and the cost of a message with each crowd, seconds.
    pub fn estimate_s(&self) -> (f64, f64) {
        /// Start of a JVM; other platforms start faster.
        const START_S: f64 = 2.0;
        /// Start of two servers, joins of their crowds, and the pauses of the slices.
        const START_OF_BOTH_S: f64 = 3.0;
        /// CPU time per message of server and native crowd under `turns`, on the machine of research/notes/2026-11-22-results.md.
        const MESSAGE_S: f64 = 12e-6;
        /// The same with two native threads per user.
        const THREADS_MESSAGE_S: f64 = 20e-6;
        /// The same with two Java threads per user.
        const JAVA_MESSAGE_S: f64 = 30e-6;
        let visit_s = |cell: &Cell| {
            let workload = &cell.plan.workload;
            let message_s = match cell.plan.crowd {
                CrowdKind::Native => MESSAGE_S,
                CrowdKind::NativeThreads => THREADS_MESSAGE_S,
                CrowdKind::Java => JAVA_MESSAGE_S,
            };
            let messages_s = workload.messages_expected().map(|messages| messages as f64 * message_s);
            let run_s = messages_s.or(workload.duration_s()).unwrap_or(0.0);
            START_S + f64::from(self.rules.runs_per_visit()) * run_s
        };
        if self.is_of_duets() {
            let pair_s =
                |pair: &Pair<'_>| self.duet([pair.a.plan.clone(), pair.b.plan.clone()]).time.as_secs_f64();
            let starts_s = f64::from(self.runs().1) * START_OF_BOTH_S;
            let all_s = starts_s + self.pairs().iter().map(pair_s).sum::<f64>();
            return (all_s, all_s);
        }
        let once_s: f64 = self.cells.iter().filter(|cell| cell.absent.is_none()).map(visit_s).sum();
        let (least, most) = self.rules.visits();
        (once_s * f64::from(least), once_s * f64::from(most))
    }
}
