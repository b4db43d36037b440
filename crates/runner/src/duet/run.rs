//! The starts of a duet, one after the other, until its time is over or its interval narrow.

use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use klatch_platforms::Processes;
use klatch_record::{
    DUET_SCHEMA_NAME, Duet, DuetEnd, DuetMetric, DuetSide, DuetStart, SERVER_CPU, WhichSide, save_json,
};
use klatch_stats::{Sequential, StatsError, StopDecision};

use crate::duet::error::DuetError;
use crate::duet::estimate;
use crate::duet::explain::explanation;
use crate::duet::forecast::{Forecast, forecast, hopeless};
use crate::duet::instruments::InstrumentStarts;
use crate::duet::plan::DuetPlan;
use crate::duet::progress::{DuetOutcome, DuetProgress};
use crate::duet::starts::{Pace, ServerStarts, StartOutcome, Starts, block};
use crate::folder::remove_empty;
use crate::{RunError, make_folder, now, point_latest_at};

/// Compares two sides. Writes `duet.json` after each start, and a record per start and side below `a` and `b`.
///
/// # Errors
/// See [`DuetError`]. Every process that was started is stopped. An interrupt and a run that is not valid are part of the
/// result, if something was measured before.
pub fn duet(
    plan: DuetPlan,
    processes: &Processes,
    on_progress: impl FnMut(DuetProgress),
) -> Result<DuetOutcome, DuetError> {
    let plan = plan.prepared()?;
    in_new_folder(&plan, |folder| {
        let sides = ["a", "b"].map(|side| folder.join(side));
        let folders = Box::new(move |number| [0, 1].map(|side: usize| block(&sides[side], number)));
        let mut starts = ServerStarts::new(&plan, processes, folders)?;
        make_starts(&plan, &mut starts, processes, folder, on_progress)
    })
}

/// Measures what the instruments of side B's plan cost: A and B are the same server and crowd, and the instruments observe in
/// the slices of B alone.
///
/// # Errors
/// As for [`duet`].
pub fn instrument_duet(
    plan: DuetPlan,
    processes: &Processes,
    on_progress: impl FnMut(DuetProgress),
) -> Result<DuetOutcome, DuetError> {
    let plan = plan.prepared()?;
    in_new_folder(&plan, |folder| {
        let mut starts = InstrumentStarts::new(&plan, processes, folder)?;
        make_starts(&plan, &mut starts, processes, folder, on_progress)
    })
}

/// Makes the folder of a duet for `make`, and removes it again if that fails before there is a result.
fn in_new_folder(
    plan: &DuetPlan,
    make: impl FnOnce(&Path) -> Result<DuetOutcome, DuetError>,
) -> Result<DuetOutcome, DuetError> {
    let out = &plan.sides[0].out;
    let in_out = |source| RunError::Folder { out: out.clone(), source };
    let folder = make_folder(out, &plan.folder_name, Timestamp::now()).map_err(in_out)?;
    make(&folder).inspect_err(|_| remove_empty(&folder))
}

fn make_starts(
    plan: &DuetPlan,
    starts: &mut dyn Starts,
    processes: &Processes,
    folder: &Path,
    mut on_progress: impl FnMut(DuetProgress),
) -> Result<DuetOutcome, DuetError> {
    let most = plan.starts as usize;
    let rule =
        plan.within.map(|within| Sequential::new(Sequential::FIRST_MIN, most, within, plan.confidence));
    let rule = rule.transpose()?;
    let mut duet = empty(plan, starts.sides());
    check_requirements(plan, &duet)?;
    let (began, mut pace, mut said) = (Instant::now(), Pace::default(), None);
    for number in 1..=plan.starts {
        let Some(time) = pace.next(began, plan.time, plan.slice, plan.starts - number + 1) else { break };
        let (start_began, until) = (Instant::now(), time.until);
        let so_far = deciding(&duet).and_then(|metric| metric.ratio);
        let mut with_ratio = |progress| on_progress(DuetProgress { so_far, ..progress });
        let (start, end) = match starts.make(number, &time, &mut with_ratio) {
            Ok(StartOutcome::Complete(start)) => (Some(start), DuetEnd::Complete),
            Ok(StartOutcome::Interrupted(start)) => (Some(start), DuetEnd::Interrupted),
            Ok(StartOutcome::Failed { start, side, reasons }) => {
                (start, DuetEnd::Failed { side: WhichSide::BOTH[side], reasons })
            }
            Err(_) if processes.interrupted() && number > 1 => (None, DuetEnd::Interrupted),
            Err(error) => return Err(error),
        };
        let counted = start.as_ref().map(counted_time).unwrap_or_default() + 2 * plan.slice;
        pace.note(start_began, until, Instant::now(), counted);
        duet.starts.extend(start);
        // A start that was cut short counts only if there is no other.
        let complete =
            if end == DuetEnd::Complete { duet.starts.len() } else { (number as usize - 1).max(1) };
        let complete = &duet.starts[..complete.min(duet.starts.len())];
        let first = rule.as_ref().map(|_| Sequential::FIRST_MIN).filter(|first| complete.len() >= *first);
        duet.metrics = estimate::metrics(complete, first, plan.confidence);
        let names = [duet.a.name.as_str(), duet.b.name.as_str()];
        duet.requirements = plan.require.iter().map(|one| one.judge_duet(&duet.metrics, names)).collect();
        duet.end = end;
        if let Some(observer) = starts.observer() {
            duet.explanation = explanation(&observer.seen, plan.confidence)?;
            let few = || {
                duet.explanation
                    .is_none()
                    .then(|| format!("it needs at least {} starts", estimate::STARTS_MIN))
            };
            duet.unexplained = observer.failure.clone().or_else(few);
            observer.save_stacks(folder)?;
        }
        let outlook = Outlook { plan, rule: rule.as_ref(), pace: &pace, began };
        if let Some(needed_s) = outlook.hopeless(&duet)? {
            duet.end = DuetEnd::Hopeless { needed_s };
        }
        save_json(&duet, &folder.join("duet.json"))?;
        point_latest_at(folder);
        if duet.end != DuetEnd::Complete || is_narrow(rule.as_ref(), &duet)? {
            break;
        }
        if number < plan.starts
            && let Some(forecast) = outlook.news(&duet, said)
        {
            said = Some(forecast);
            let elapsed = began.elapsed();
            let so_far = deciding(&duet).and_then(|metric| metric.ratio);
            on_progress(DuetProgress { start: number, pairs: 0, elapsed, forecast: said, so_far });
        }
    }
    Ok(DuetOutcome { duet, folder: folder.to_owned(), took: began.elapsed() })
}

/// From the first pair of a start to its last one.
fn counted_time(start: &DuetStart) -> Duration {
    let (first, last) = (start.pairs.first(), start.pairs.last());
    let s = first.zip(last).map_or(0.0, |(first, last)| last.at_s - first.at_s);
    Duration::from_secs_f64(s.max(0.0))
}

/// What the starts so far say about the rest of a duet.
struct Outlook<'a> {
    plan: &'a DuetPlan,
    rule: Option<&'a Sequential>,
    pace: &'a Pace,
    began: Instant,
}

impl Outlook<'_> {
    /// Starts of the whole duet that its time has room for.
    fn starts(&self, made: usize) -> u32 {
        let left = self.plan.time.saturating_sub(self.began.elapsed());
        let more = (left.as_secs_f64() / self.pace.mean().as_secs_f64().max(1e-9)) as u32;
        (made as u32).saturating_add(more).min(self.plan.starts)
    }

    /// A forecast that differs from the last one; after the first start, and after those that show how starts differ.
    fn news(&self, duet: &Duet, said: Option<Forecast>) -> Option<Forecast> {
        let made = duet.starts.len();
        let is_due = made == 1 || made == estimate::STARTS_MIN || made == Sequential::FIRST_MIN;
        let metric = deciding(duet).filter(|_| is_due)?;
        let start_s = self.pace.mean().as_secs_f64();
        let forecast = forecast(self.plan, self.rule, metric, start_s, self.starts(made)).ok()?;
        let differs = said.is_none_or(|said| (forecast.shows / said.shows).ln().abs() > NEWS);
        differs.then_some(forecast)
    }

    /// How long the required width takes, s, if that is more than there is.
    fn hopeless(&self, duet: &Duet) -> Result<Option<f64>, StatsError> {
        let (Some(rule), Some(metric), DuetEnd::Complete) = (self.rule, deciding(duet), &duet.end) else {
            return Ok(None);
        };
        let starts = self.starts(duet.starts.len());
        hopeless(rule, &metric.starts, self.pace.mean().as_secs_f64(), starts)
    }
}

/// Change of a forecast, on the logarithmic scale, from which on it is said again.
const NEWS: f64 = 0.3;

/// The metric that decides when a duet is narrow enough.
fn deciding(duet: &Duet) -> Option<&DuetMetric> {
    duet.metrics.iter().find(|metric| metric.metric == SERVER_CPU)
}

fn empty(plan: &DuetPlan, [a, b]: [DuetSide; 2]) -> Duet {
    Duet {
        schema: DUET_SCHEMA_NAME.to_owned(),
        klatch: plan.sides[0].build.clone(),
        started_at: now(),
        a,
        b,
        workload: plan.sides[0].workload.clone(),
        slice_ms: plan.slice.as_secs_f64() * 1e3,
        together: plan.together,
        confidence: plan.confidence,
        seed: plan.sides[0].seed,
        starts: Vec::new(),
        metrics: Vec::new(),
        requirements: Vec::new(),
        explanation: None,
        unexplained: None,
        exact: None,
        uncounted: None,
        end: DuetEnd::Complete,
    }
}

/// Rejects requirements about other sides or metrics than the duet has.
fn check_requirements(plan: &DuetPlan, duet: &Duet) -> Result<(), DuetError> {
    for requirement in &plan.require {
        requirement.metric_of_duet()?;
        requirement.is_inverse([&duet.a.name, &duet.b.name])?;
    }
    Ok(())
}

/// Whether the stopping rule ends the duet.
fn is_narrow(rule: Option<&Sequential>, duet: &Duet) -> Result<bool, StatsError> {
    let Some(rule) = rule else { return Ok(false) };
    let ratios = deciding(duet).map(|metric| metric.starts.as_slice()).unwrap_or_default();
    Ok(rule.evaluate(ratios)? != StopDecision::Open)
}
