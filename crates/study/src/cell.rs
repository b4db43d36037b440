//! What a study measures: its cells, and the rules for all of them.

use std::collections::BTreeMap;

use klatch_record::{Build, InstrumentName, StudyAxis};
use klatch_runner::{CrowdKind, Plan};

use crate::file::Search;
use crate::series::Rules;

/// A study that can be carried out.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// Its name, that of its file.
    pub name: String,
    /// The question that it answers.
    pub question: String,
    /// The text of its file.
    pub source: String,
    /// What its cells differ in.
    pub axes: Vec<StudyAxis>,
    /// All cells, those that cannot run here among them.
    pub cells: Vec<Cell>,
    /// The rules for each cell.
    pub rules: Rules,
    /// What each cell looks for, if the study is a search.
    pub(crate) search: Option<Search>,
    /// Seed of the order of the cells within a block.
    pub seed: u64,
    /// Which Klatch this is.
    pub build: Build,
}

/// One combination of the axes.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name, fit for a folder.
    pub id: String,
    /// Its value on every axis.
    pub at: BTreeMap<String, String>,
    /// What is run; warm-ups, trials and folder are the study's affair.
    pub plan: Plan,
    /// Why it cannot run here, if so.
    pub absent: Option<String>,
}

impl StudyPlan {
    /// Whether it looks for a limit, and makes as many runs as that takes.
    pub fn is_search(&self) -> bool {
        self.search.is_some()
    }

    /// What watches its runs.
    pub fn instruments(&self) -> &[InstrumentName] {
        self.cells.first().map_or(&[], |cell| &cell.plan.instruments)
    }

    /// Whether some cell sets something about the whole machine.
    pub fn sets_sysctls(&self) -> bool {
        self.cells.iter().any(|cell| !cell.plan.sysctls.is_empty())
    }

    /// The fewest and the most runs that it needs when nothing fails; a search makes as many as it needs.
    pub fn runs(&self) -> (u32, u32) {
        let cells = self.cells.iter().filter(|cell| cell.absent.is_none()).count() as u32;
        let (least, most) = self.rules.visits();
        let runs = cells * self.rules.runs_per_visit();
        (least * runs, most * runs)
    }

    /// About how long that takes, seconds: from the number of messages and the crowd, at a speed that most servers reach.
    pub fn estimate_s(&self) -> (f64, f64) {
        /// A JVM that starts; others are faster.
        const START_S: f64 = 2.0;
        /// Server and crowd, `turns`, on the machine that docs/notes/2026-11-22-results.md tells of.
        const MESSAGE_S: f64 = 12e-6;
        /// The same with two threads a user.
        const THREADS_MESSAGE_S: f64 = 20e-6;
        /// The same with two Java threads a user.
        const JAVA_MESSAGE_S: f64 = 30e-6;
        let visit_s = |cell: &Cell| {
            let workload = &cell.plan.workload;
            let messages = (workload.sent_expected() + workload.received_expected()) as f64;
            let message_s = match cell.plan.crowd {
                CrowdKind::Native => MESSAGE_S,
                CrowdKind::NativeThreads => THREADS_MESSAGE_S,
                CrowdKind::Java => JAVA_MESSAGE_S,
            };
            START_S + f64::from(self.rules.runs_per_visit()) * messages * message_s
        };
        let once_s: f64 = self.cells.iter().filter(|cell| cell.absent.is_none()).map(visit_s).sum();
        let (least, most) = self.rules.visits();
        (once_s * f64::from(least), once_s * f64::from(most))
    }
}
