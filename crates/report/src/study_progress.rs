//! The progress of a measured study: a view of the whole terminal, a page of a browser, or lines.

use std::collections::BTreeMap;

use klatch_record::{Role, Status, Workload, grouped};
use klatch_runner::VisitEvent;
use klatch_study::{StudyEvent, StudyPlan};

use crate::live::{Live, start_of};
use crate::number::{duration, three_digits};
use crate::progress::Progress;
use crate::run_progress::{RunProgress, so_far};
use crate::summary::{one_line, role_and_number};
use crate::viewer::VisitPage;

/// Shows the progress of a measured study.
pub struct StudyProgress {
    json: bool,
    run: Option<RunProgress>,
    pairs: Option<Progress>,
    live: Option<Live>,
    web: Option<VisitPage>,
    /// Name and workload of the cell that is visited.
    cell: (String, Workload),
    /// Throughput of the trials of each cell so far.
    values: BTreeMap<String, Vec<f64>>,
}

impl StudyProgress {
    /// A display in lines; under `json` of the runs alone.
    pub fn new(json: bool) -> StudyProgress {
        let cell = (String::new(), Workload::default());
        StudyProgress { json, run: None, pairs: None, live: None, web: None, cell, values: BTreeMap::new() }
    }

    /// The same on the whole terminal, if it can.
    pub fn on_screen(self, plan: &StudyPlan) -> StudyProgress {
        let live = Live::start(&plan.head.name, plan.cells.iter().map(|cell| cell.id.clone()));
        StudyProgress { live, ..self }
    }

    /// The same in a browser as well.
    pub fn with_web(self, web: Option<VisitPage>) -> StudyProgress {
        StudyProgress { web, ..self }
    }

    /// Shows on the page that nothing follows, and leaves the view on the terminal.
    pub fn end(self, finished: bool) {
        if let Some(web) = &self.web {
            web.end(if finished {
                "the study has ended"
            } else {
                "the study ended early; the terminal says why"
            });
        }
    }

    /// Shows an event. Returns the lines to print for it, if the progress is shown in lines.
    pub fn update(&mut self, event: StudyEvent<'_>) -> Option<String> {
        match &event {
            StudyEvent::VisitStarted { cell, .. } => {
                self.cell = (cell.id.clone(), cell.plan.workload.clone());
            }
            StudyEvent::Visit(event) => {
                self.web.iter().for_each(|web| web.update(event, Some(&self.cell.0)));
            }
            StudyEvent::Duet(_) | StudyEvent::VisitFailed(..) | StudyEvent::CellSettled(..) => {}
        }
        match &mut self.live {
            Some(live) => {
                update_live(live, event);
                None
            }
            None => self.update_lines(event),
        }
    }

    fn update_lines(&mut self, event: StudyEvent<'_>) -> Option<String> {
        let line = match event {
            StudyEvent::Visit(VisitEvent::RunStarted(role, number)) => {
                self.run = Some(RunProgress::new(&role_and_number(role, number), &self.cell.1));
                return None;
            }
            StudyEvent::Visit(VisitEvent::Crowd(event)) => {
                self.run.iter_mut().for_each(|run| run.update(event));
                return None;
            }
            StudyEvent::Visit(VisitEvent::RunEnded(record)) => {
                self.run = None;
                if record.role == Role::Trial && record.verdict.status == Status::Valid {
                    self.values.entry(self.cell.0.clone()).or_default().push(record.throughput_per_s());
                }
                format!("  {}", one_line(record))
            }
            _ if self.json => return None,
            StudyEvent::VisitStarted { cell, number, of, left } => {
                self.pairs = None;
                let left = left.map(|left| format!("at least {} left", duration(left.as_secs_f64())));
                let estimate = self.values.get(&cell.id).map(|values| so_far(values, &cell.plan.workload));
                // A search has no mean, as each start may have another value.
                let now = match of {
                    Some(_) => estimate.flatten(),
                    None => Some(searched(&cell.plan.workload)),
                };
                let parts = [Some(start_of(number, of)), left, now];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                format!("\n{} ({})", cell.id, parts.join(", "))
            }
            StudyEvent::Visit(VisitEvent::Ready { .. }) => return None,
            StudyEvent::Duet(progress) => {
                let pairs = self.pairs.get_or_insert_with(|| Progress::new("duet", None, "pairs"));
                pairs.at(progress.pairs as u64);
                return None;
            }
            StudyEvent::VisitFailed(_, cause) => format!("  failed: {cause}"),
            StudyEvent::CellSettled(_, verdict) => format!("  {verdict}"),
        };
        (!self.json).then(|| line + "\n")
    }
}

/// The value that a search tries.
fn searched(workload: &Workload) -> String {
    match workload.rate_per_s() {
        Some(rate) if rate >= 100.0 => format!("rate {}/s", grouped(rate.round() as u64)),
        Some(rate) => format!("rate {}/s", three_digits(rate)),
        None => format!("{} {}s", grouped(workload.parties().into()), workload.kind().party_name()),
    }
}

fn update_live(live: &mut Live, event: StudyEvent<'_>) {
    match event {
        StudyEvent::VisitStarted { cell, number, of, left } => live.visit(&cell.id, number, of, left),
        StudyEvent::Visit(VisitEvent::Ready { .. }) => {}
        StudyEvent::Visit(VisitEvent::RunStarted(role, number)) => live.begin_run(role, number),
        StudyEvent::Visit(VisitEvent::Crowd(event)) => live.crowd(event),
        StudyEvent::Visit(VisitEvent::RunEnded(record)) => live.ended(record),
        StudyEvent::Duet(progress) => live.pairs(progress.pairs),
        StudyEvent::VisitFailed(cell, cause) => live.set_status(&cell.id, &format!("failed: {cause}")),
        StudyEvent::CellSettled(cell, verdict) => live.set_status(&cell.id, verdict),
    }
}
