//! One start of a duet: starts both servers and crowds, makes pairs of slices, and saves a record per side.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use klatch_host::machine::MachineTime;
use klatch_platforms::Processes;
use klatch_record::{DuetStart, Record, Role, Status, create_folder, save};

use crate::duet::error::DuetError;
use crate::duet::observe::Observer;
use crate::duet::plan::{DuetPlan, PAIRS_MIN};
use crate::duet::progress::DuetProgress;
use crate::duet::servers::Servers;
use crate::duet::sides::{Measured, Sides};
use crate::duet::slices::{Pairs, Slicing};
use crate::{RunError, Session, SteeredRun, check_plan, next_stem, open_session};

/// Makes the starts of a duet.
pub(crate) trait Starts {
    /// The sides in words.
    fn sides(&self) -> [klatch_record::DuetSide; 2];

    /// Makes start `number` with its share of the time.
    ///
    /// # Errors
    /// See [`DuetError`].
    fn make(
        &mut self,
        number: u32,
        time: &StartTime,
        on_progress: &mut dyn FnMut(DuetProgress),
    ) -> Result<StartOutcome, DuetError>;

    /// What was observed of the starts so far, if that was asked for.
    fn observer(&self) -> Option<&Observer> {
        None
    }
}

/// The time of one start.
pub(crate) struct StartTime {
    /// Beginning of the duet.
    pub(crate) began: Instant,
    /// The start ends with the first pair after this.
    pub(crate) until: Instant,
}

/// How a start ended.
pub(crate) enum StartOutcome {
    Complete(DuetStart),
    /// The user interrupted it; the pairs before that are there.
    Interrupted(DuetStart),
    /// A run is not valid. The pairs before it are in `start`.
    Failed {
        start: Option<DuetStart>,
        side: usize,
        reasons: String,
    },
}

/// The folders for the records of both sides in a start.
pub(crate) type Folders = Box<dyn Fn(u32) -> [PathBuf; 2]>;

/// Starts of two servers, each with a crowd.
pub(crate) struct ServerStarts<'a> {
    plan: &'a DuetPlan,
    processes: &'a Processes,
    folders: Folders,
    rng: Rng,
    sides: [klatch_record::DuetSide; 2],
    observer: Option<Observer>,
}

impl<'a> ServerStarts<'a> {
    /// Checks both plans.
    ///
    /// # Errors
    /// A plan that cannot run on this machine.
    pub(crate) fn new(
        plan: &'a DuetPlan,
        processes: &'a Processes,
        folders: Folders,
    ) -> Result<ServerStarts<'a>, DuetError> {
        let names = [check_plan(&plan.sides[0])?.subject.name(), check_plan(&plan.sides[1])?.subject.name()];
        let sides = plan.describe(&names)?;
        let rng = Rng::with_seed(plan.sides[0].seed);
        let observer = plan.explain.then(|| Observer::new(plan.sides[0].out.clone()));
        Ok(ServerStarts { plan, processes, folders, rng, sides, observer })
    }

    /// Ends both runs and saves their records.
    fn end(
        &self,
        number: u32,
        sessions: &mut [Session<'_>; 2],
        servers: [Measured<'_>; 2],
    ) -> Result<Vec<Record>, DuetError> {
        let both = sessions.iter_mut().zip(servers).zip((self.folders)(number));
        both.map(|((session, measured), folder)| end_run(session, measured.run, number, &folder)).collect()
    }
}

impl Starts for ServerStarts<'_> {
    fn observer(&self) -> Option<&Observer> {
        self.observer.as_ref()
    }

    fn sides(&self) -> [klatch_record::DuetSide; 2] {
        self.sides.clone()
    }

    fn make(
        &mut self,
        number: u32,
        time: &StartTime,
        on_progress: &mut dyn FnMut(DuetProgress),
    ) -> Result<StartOutcome, DuetError> {
        let plans = self.plan.sides_of_start(number)?;
        let (a, b) = (check_plan(&plans[0])?, check_plan(&plans[1])?);
        let mut sessions = [open_session(a, self.processes)?, open_session(b, self.processes)?];
        let (a, a_ended) = Measured::paused(sessions[0].begin()?)?;
        let (b, b_ended) = Measured::paused(sessions[1].begin()?)?;
        let observer = self.observer.as_mut();
        let mut servers = Servers { sides: [a, b], observer, observing: None };
        let ended = [a_ended, b_ended].iter().position(|ended| *ended);
        let start = measure(self.plan, number, &mut servers, ended, time, &mut self.rng, on_progress)?;
        if start.interrupted {
            return Ok(StartOutcome::Interrupted(start.start));
        }
        if start.ended.is_none() {
            servers.observed(&start.start.pairs)?;
        }
        let both = servers.sides;
        let records = self.end(number, &mut sessions, both)?;
        Ok(start.outcome(&records))
    }
}

/// Ends a run and saves its record in `folder`.
pub(crate) fn end_run(
    session: &mut Session<'_>,
    run: SteeredRun<'_>,
    number: u32,
    folder: &Path,
) -> Result<Record, DuetError> {
    let record = session.end(Role::Trial, number, run)?;
    create_folder(folder).map_err(|source| RunError::Folder { out: folder.to_owned(), source })?;
    save(&record, &folder.join(next_stem(folder, Role::Trial) + ".json"))?;
    Ok(record)
}

/// The folder of a start below that of its side.
pub(crate) fn block(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("block-{number:03}"))
}

/// The pairs of a start, and how it went.
pub(crate) struct MeasuredStart {
    pub(crate) start: DuetStart,
    pub(crate) interrupted: bool,
    /// The side whose crowd has ended by itself.
    ended: Option<usize>,
}

impl MeasuredStart {
    /// A start is complete if all records are valid. Of two invalid ones, the side whose crowd ended first is named.
    pub(crate) fn outcome(self, records: &[Record]) -> StartOutcome {
        let invalid =
            |side: &usize| records.get(*side).is_some_and(|record| record.verdict.status == Status::Invalid);
        match self.ended.into_iter().chain([0, 1]).find(invalid) {
            None => StartOutcome::Complete(self.start),
            Some(side) => StartOutcome::Failed {
                start: Some(self.start).filter(|start| !start.pairs.is_empty()),
                side,
                reasons: records[side].verdict.messages(),
            },
        }
    }
}

/// Warms up, then makes pairs until the start's time is over.
pub(crate) fn measure(
    plan: &DuetPlan,
    number: u32,
    sides: &mut dyn Sides,
    ended: Option<usize>,
    time: &StartTime,
    rng: &mut Rng,
    on_progress: &mut dyn FnMut(DuetProgress),
) -> Result<MeasuredStart, DuetError> {
    let slicing = Slicing { slice: plan.slice, together: plan.together, began: time.began };
    let mut pairs = Pairs { ended, ..Pairs::default() };
    let warm = Instant::now() + plan.warmup;
    while pairs.ended.is_none() && Instant::now() < warm {
        slicing.pair(sides, rng, &mut pairs)?;
    }
    (pairs.pairs, pairs.disturbed) = (Vec::new(), 0);
    if pairs.ended.is_none() {
        sides.warmed_up();
    }
    let (machine, used_ns) = (MachineTime::read(), sides.all_cpu_ns());
    let mut interrupted = false;
    while pairs.ended.is_none() && !interrupted && (pairs.made() == 0 || Instant::now() < time.until) {
        match slicing.pair(sides, rng, &mut pairs) {
            Err(RunError::Interrupted) => interrupted = true,
            made => made?,
        }
        let elapsed = time.began.elapsed();
        on_progress(DuetProgress {
            start: number,
            pairs: pairs.pairs.len(),
            elapsed,
            forecast: None,
            so_far: None,
        });
    }
    let own_s = sides.all_cpu_ns().saturating_sub(used_ns) as f64 / 1e9;
    let machine = machine.zip(MachineTime::read()).filter(|_| !interrupted);
    let start = DuetStart {
        number,
        pairs: pairs.pairs,
        disturbed: pairs.disturbed,
        others_share: machine.and_then(|(before, after)| after.others_share_since(&before, own_s)),
        steal_share: machine.and_then(|(before, after)| after.steal_share_since(&before)),
    };
    Ok(MeasuredStart { start, interrupted, ended: pairs.ended })
}

/// The share of one of the remaining starts in the time that is left.
pub(crate) fn start_time(began: Instant, time: Duration, starts_left: u32) -> StartTime {
    let left = time.saturating_sub(began.elapsed());
    StartTime { began, until: Instant::now() + left / starts_left }
}

/// How long the starts so far took, so that the next ones end in time.
#[derive(Default)]
pub(crate) struct Pace {
    starts: u32,
    /// Time of all of them.
    all: Duration,
    /// Longest time of a start in which no pair counts: servers and crowds start, warm up, and stop.
    overhead: Duration,
    /// Longest time from the last pair until everything had stopped and was saved.
    tail: Duration,
}

impl Pace {
    /// Notes a start that ran from `began` to `ended`, and in which pairs were to count until `until`.
    pub(crate) fn note(&mut self, began: Instant, until: Instant, ended: Instant, counted: Duration) {
        let all = ended - began;
        self.starts += 1;
        self.all += all;
        self.overhead = self.overhead.max(all.saturating_sub(counted));
        self.tail = self.tail.max(ended.saturating_duration_since(until));
    }

    /// Time of a start.
    pub(crate) fn mean(&self) -> Duration {
        self.all / self.starts.max(1)
    }

    /// The next of at most `starts_left` starts in the time that is left; `None` if not even one fits.
    pub(crate) fn next(
        &self,
        began: Instant,
        time: Duration,
        slice: Duration,
        starts_left: u32,
    ) -> Option<StartTime> {
        if self.starts == 0 {
            return Some(start_time(began, time, starts_left));
        }
        let left = time.saturating_sub(began.elapsed());
        let shortest = self.overhead + 2 * PAIRS_MIN * slice;
        let fitting = (left.as_secs_f64() / shortest.as_secs_f64().max(1e-9)) as u32;
        let share = left / fitting.min(starts_left).max(1);
        (fitting > 0).then(|| StartTime { began, until: Instant::now() + share.saturating_sub(self.tail) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_start_begins_that_does_not_fit() {
        let s = Duration::from_secs;
        let began = Instant::now();
        let mut pace = Pace::default();
        let slice = Duration::from_millis(50);
        let fits = |pace: &Pace, time| pace.next(began, s(time), slice, 2).map(|next| next.until - began);
        assert!(fits(&pace, 1).is_some(), "the first start is made in any case");
        // A start of 30 s: 16 s until the first pair counts, and 4 s after the last.
        pace.note(began, began + s(26), began + s(30), s(10));
        assert_eq!(pace.mean(), s(30));
        assert_eq!(fits(&pace, 15), None, "it needs 22 s");
        let only = fits(&pace, 30).unwrap();
        assert!(only > s(25) && only < s(27), "one of 30 s, of which the last 4 s are its end: {only:?}");
        let half = fits(&pace, 80).unwrap();
        assert!(half > s(35) && half < s(37), "two fit: {half:?}");
    }
}
