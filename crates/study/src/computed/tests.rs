use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use klatch_record::{Build, CellStatus, ResultKind};

use super::*;
use crate::engine::Store;

/// Computes `job` × 100 + seed, and fails for the job 13.
#[derive(Default)]
struct Hundreds {
    computed: Mutex<Vec<(u32, u32)>>,
    /// Stops before the third trial, as an interrupt does.
    stops: AtomicBool,
}

impl Computer for Hundreds {
    type Job = u32;
    type Trial = Result<f64, String>;
    type Error = &'static str;

    fn compute(&self, job: &u32, seed: u32, folder: &Path) -> Result<Self::Trial, &'static str> {
        let mut computed = self.computed.lock().unwrap();
        if computed.len() == 2 && self.stops.load(Ordering::Relaxed) {
            return Err("interrupted");
        }
        computed.push((*job, seed));
        std::fs::write(folder.join("more.txt"), "more").unwrap();
        Ok(if *job == 13 { Err("unlucky".to_owned()) } else { Ok(f64::from(job * 100 + seed)) })
    }

    fn failure<'a>(&self, trial: &'a Self::Trial) -> Option<&'a str> {
        trial.as_ref().err().map(String::as_str)
    }

    fn metrics(&self, trial: &Self::Trial) -> Vec<(String, f64)> {
        trial.iter().map(|value| ("value".to_owned(), *value)).collect()
    }
}

fn plan(jobs: &[u32], seeds: u32, within: Option<f64>) -> ComputedPlan<u32> {
    let cell = |&job: &u32| ComputedCell {
        id: format!("job-{job}"),
        at: [("job".to_owned(), job.to_string())].into(),
        job,
    };
    ComputedPlan {
        head: StudyHead {
            name: "mine".to_owned(),
            question: "?".to_owned(),
            axes: Vec::new(),
            options: BTreeMap::new(),
            build: Build { version: "0".to_owned(), ..Build::default() },
        },
        kind: ResultKind::Simulated,
        cells: jobs.iter().map(cell).collect(),
        seeds: (1..=seeds).collect(),
        within,
        metric: "value".to_owned(),
    }
}

#[test]
fn each_cell_gets_each_seed_once_and_its_mean() {
    let (out, hundreds) = (tempfile::tempdir().unwrap(), Hundreds::default());
    let plan = plan(&[1, 2], 3, None);
    let store = Store::begin(out.path(), "mine", "text", 1).unwrap();
    let study = run_computed(&plan, &store, &hundreds, 2, |_| {}).unwrap();
    let mut computed = hundreds.computed.into_inner().unwrap();
    computed.sort_unstable();
    assert_eq!(computed, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]);
    let estimate = &study.result.cells[1].estimates["value"];
    assert_eq!((estimate.mean, &estimate.values), (202.0, &vec![201.0, 202.0, 203.0]));
    assert_eq!(study.result.cells[1].status, CellStatus::Complete);
    assert!(store.folder().join("cells/job-2/seed-3/more.txt").is_file());
}

#[test]
fn an_interrupted_study_computes_only_the_rest() {
    let (out, hundreds) = (tempfile::tempdir().unwrap(), Hundreds::default());
    let plan = plan(&[1, 2], 2, None);
    hundreds.stops.store(true, Ordering::Relaxed);
    let store = Store::begin(out.path(), "mine", "text", 1).unwrap();
    assert!(matches!(run_computed(&plan, &store, &hundreds, 1, |_| {}), Err(ComputedError::Compute(_))));
    let folder = store.folder().to_owned();
    drop(store);
    hundreds.stops.store(false, Ordering::Relaxed);
    let store = Store::resume(&folder, "text").unwrap();
    let before = Mutex::new(None);
    let on_event = |event: ComputedEvent<'_>| {
        if let ComputedEvent::Stored(count) = event {
            *before.lock().unwrap() = Some(count);
        }
    };
    let study = run_computed(&plan, &store, &hundreds, 1, on_event).unwrap();
    assert_eq!(before.into_inner().unwrap(), Some(2));
    assert_eq!(hundreds.computed.into_inner().unwrap(), [(1, 1), (1, 2), (2, 1), (2, 2)]);
    assert_eq!(study.result.cells[0].estimates["value"].mean, 101.5);
}

#[test]
fn a_failed_trial_fails_its_cell_with_the_cause_and_no_other() {
    let (out, hundreds) = (tempfile::tempdir().unwrap(), Hundreds::default());
    let store = Store::begin(out.path(), "mine", "text", 1).unwrap();
    let study = run_computed(&plan(&[13, 2], 2, None), &store, &hundreds, 1, |_| {}).unwrap();
    let [failed, complete] = study.result.cells.as_slice() else { panic!("two cells") };
    assert_eq!((failed.status, failed.verdict.as_str()), (CellStatus::Failed, "failed: unlucky"));
    assert_eq!((complete.status, complete.trials), (CellStatus::Complete, 2));
}

#[test]
fn seeds_are_added_until_the_interval_is_narrow_enough() {
    let (out, hundreds) = (tempfile::tempdir().unwrap(), Hundreds::default());
    let store = Store::begin(out.path(), "mine", "text", 1).unwrap();
    // 1,001, 1,002 … are within 1 % of each other; 1, 2 … are not.
    let study = run_computed(&plan(&[10, 0], 20, Some(0.01)), &store, &hundreds, 2, |_| {}).unwrap();
    let [narrow, wide] = study.result.cells.as_slice() else { panic!("two cells") };
    assert_eq!((narrow.status, narrow.trials), (CellStatus::Converged, 8));
    assert_eq!((wide.status, wide.trials), (CellStatus::NotConverged, 20));
}
