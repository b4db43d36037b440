//! The progress of the runs of one server: lines, and a page of a browser.

use klatch_platforms::Setting;
use klatch_record::{Record, Role};
use klatch_runner::{Event, Plan, VisitEvent};

use crate::run_progress::RunProgress;
use crate::summary::{headline, one_line, role_and_number};
use crate::table::{fitted, width};
use crate::viewer::VisitPage;

/// Shows the progress of the runs of a plan.
pub struct RunsProgress<'a> {
    json: bool,
    volanomark: bool,
    plan: &'a Plan,
    progress: Option<RunProgress>,
    /// Runs that have ended.
    finished: usize,
    web: Option<VisitPage>,
}

impl<'a> RunsProgress<'a> {
    /// The progress of a plan, of which `json` makes each record a line of JSON.
    pub fn new(plan: &'a Plan, json: bool, volanomark: bool, web: Option<VisitPage>) -> RunsProgress<'a> {
        RunsProgress { json, volanomark, plan, progress: None, finished: 0, web }
    }

    /// Number of runs that have ended.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Shows on the page that nothing follows.
    pub fn end(&mut self, finished: bool) {
        if let Some(web) = self.web.take() {
            web.end(if finished {
                "all runs are made"
            } else {
                "the runs ended early; the terminal says why"
            });
        }
    }

    /// Shows an event. Returns the lines to print for it.
    pub fn update(&mut self, event: Event<'_>) -> Option<String> {
        let event = match event {
            Event::Visit(event) => event,
            Event::Unsaved(record) => return Some(as_json(record)),
        };
        self.web.iter().for_each(|web| web.update(&event, None));
        match event {
            VisitEvent::Ready { platform, workload, .. } if !self.json => {
                let sysctls = match self.plan.sysctls.as_slice() {
                    [] => String::new(),
                    sysctls => format!("machine   {}; restored afterwards\n", join(sysctls)),
                };
                let test = if self.volanomark { "test      VolanoMark test\n" } else { "" };
                let head = headline(platform, &describe_crowd(self.plan), workload);
                return Some(format!("{sysctls}{test}{}\n", fitted(&head, width())));
            }
            VisitEvent::RunStarted(role, number) => {
                let name = role_and_number(role, number);
                let of = if role == Role::Trial { self.plan.trials } else { self.plan.warmups };
                let name = if of > 1 { format!("{name} of {of}") } else { name };
                self.progress = Some(RunProgress::new(&name, &self.plan.workload));
            }
            VisitEvent::Crowd(event) => self.progress.iter_mut().for_each(|progress| progress.update(event)),
            VisitEvent::RunEnded(record) => {
                self.progress = None;
                self.finished += 1;
                return Some(match self.json {
                    true => as_json(record),
                    false => fitted(&one_line(record), width()) + "\n",
                });
            }
            VisitEvent::Ready { .. } => {}
        }
        None
    }
}

/// Kind of the crowd with its knobs: `native (nice=5)`.
fn describe_crowd(plan: &Plan) -> String {
    let kind = plan.crowd.name();
    match plan.crowd_settings.as_slice() {
        [] => kind.to_owned(),
        knobs => format!("{kind} ({})", join(knobs)),
    }
}

fn join(settings: &[Setting]) -> String {
    settings.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn as_json(record: &Record) -> String {
    serde_json::to_string(record).expect("a record is plain JSON") + "\n"
}
