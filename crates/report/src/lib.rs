//! Reports of records and studies: terminal text, HTML, Markdown, CSV and JSON.

mod build;
mod by_side;
mod comparison;
mod difference;
pub mod doctor;
mod duet;
mod duet_progress;
mod ending;
mod exact;
mod floor;
mod folded;
mod found;
mod gate;
#[cfg(test)]
mod golden;
mod history;
mod index;
mod instruments;
mod kernels;
mod lab;
mod lab_counts;
mod live;
mod longer_run;
mod merged;
mod metric;
mod model;
mod number;
mod observations;
mod orders_text;
mod platforms;
mod preparing;
mod probe;
mod progress;
mod read;
mod requirement;
mod run_progress;
mod runs_progress;
mod schedulers;
mod simulation;
mod stages_text;
mod strokes;
mod study;
mod study_of_runs;
mod study_plan;
mod study_progress;
mod summary;
mod table;
mod trace;
mod usage_table;
pub mod viewer;
mod watch;
mod why;
mod workload_text;
mod write;

pub use build::{
    HistogramError, comparison_answer, conformance_of, duet_report, floor_history, hgrm, hlog,
    percentile_rows, report, report_of_two, run_again, study_again, timeline_csv, undecided,
    undecided_comparison,
};
pub use comparison::comparison;
pub use duet::{calibration, calibration_answer, duet};
pub use duet_progress::{DuetLine, longer_duet};
pub use ending::Ending;
pub use exact::exact;
pub use floor::floor;
pub use folded::pprof;
pub use found::{Found, find, find_all, report_of, report_side_by_side};
pub use gate::{Gate, gate};
pub use history::{history, history_answer};
pub use index::{BrowseError, Browser, Entry, EntryKind, IndexFilter, index};
pub use instruments::instruments;
pub use kernels::kernels;
pub use lab::{lab_report, lab_summary};
pub use lab_counts::{lab_answer, lab_counts, lab_difference, lab_difference_answer};
pub use live::{Live, start_of};
pub use longer_run::{LongerRun, longer_run};
pub use merged::merged;
#[cfg(feature = "schema")]
pub use model::report_schema;
pub use model::{
    Axis, CellRow, Chart, ChartKind, Command, Fact, Flame, Footnote, Frame, Frequency, InstrumentRow, Judged,
    Mark, Number, PercentileRow, Place, Point, REPORT_SCHEMA_NAME, RatioRow, RatioTable, Report, RunRow,
    Scale, Section, SectionTable, Standing, Verdict, WarningRow,
};
pub use number::{about, duration, three_digits};
pub use platforms::{knobs, platform_with_knobs, platforms};
pub use preparing::preparing;
pub use probe::probe;
pub use progress::{Progress, above_progress, end_progress};
pub use read::{ReadError, Run, Source, read};
pub use requirement::{annotations, judged_duet, judged_study, junit, requirements, worst};
pub use run_progress::{RunProgress, so_far};
pub use runs_progress::RunsProgress;
pub use schedulers::{scheduler, scheduler_counts, scheduler_report, schedulers};
pub use simulation::{
    MeasuredWaits, described, simulated_answer, simulated_claims, simulated_run, simulated_study,
};
pub use study::study;
pub use study_plan::{computed_plan, studies, study_plan};
pub use study_progress::StudyProgress;
pub use summary::{crowd, headline, one_line, percentile_table, role_and_number, trials, warnings};
pub use table::{Column, TextTable, at_width, can_move_cursor, fitted, width};
pub use trace::{simulated_trace, trace_summary, trace_waits};
pub use watch::{LiveState, Talk, TalkRooms, watch_page};
pub use why::why;
pub use write::{HtmlError, csv, html, json, markdown};
