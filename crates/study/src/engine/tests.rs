//! Studies under every preset of run rules, with scripted scores.

use std::path::Path;

use klatch_record::{CellStatus, Role, StudyResult};
use klatch_runner::{Plan, RunError};

use crate::scripted::{Scripted, study};
use crate::{Store, StudyPlan, StudyRunError, run_study};

const TWO_CELLS: &str = "question = 'q'\nplatforms = ['native-epoll']\n[workload]\nrooms = [1, 2]\n";

fn run(plan: &StudyPlan, out: &Path, scripted: &mut Scripted<'_>) -> StudyResult {
    let store = Store::begin(out, "mine", TWO_CELLS, plan.seed).unwrap();
    run_study(plan, &store, scripted, |_| {}).unwrap()
}

fn plan(text: &str) -> (tempfile::TempDir, StudyPlan) {
    let folder = tempfile::tempdir().unwrap();
    let plan = study(folder.path(), text).unwrap();
    (folder, plan)
}

#[test]
fn converged_cells_stop_early_and_others_use_all_trials() {
    let (out, plan) = plan(TWO_CELLS);
    let mut scripted = Scripted::new(|plan, _, number| {
        // One room is steady; with two rooms every other trial takes twice as long.
        Ok(if plan.workload.parties() == 1 {
            100.0 + f64::from(number) / 10.0
        } else {
            50.0 * f64::from(1 + number % 2)
        })
    });
    let result = run(&plan, out.path(), &mut scripted);
    let [one, two] = &result.cells[..] else { panic!("two cells") };
    assert_eq!((one.status, one.trials, one.id.as_str()), (CellStatus::Converged, 8, "native-epoll_rooms-1"));
    assert_eq!((two.status, two.trials), (CellStatus::NotConverged, 20));
    assert!(two.verdict.starts_with("not converged: ±") && two.verdict.ends_with("after 20 trials"));
    assert_eq!(result.first_trials, Some(8));
    let score = &one.estimates["messages_per_s"];
    assert_eq!(score.values, [100.1, 100.2, 100.3, 100.4, 100.5, 100.6, 100.7, 100.8]);
    assert!(score.low.unwrap() < 100.4 && score.high.unwrap() > 100.5);
    // Each visit has one warm-up.
    assert_eq!(scripted.made.iter().filter(|run| run.2 == Role::WarmUp).count(), 28);
}

#[test]
fn every_cell_is_judged_by_the_requirements_of_file_and_command() {
    use klatch_record::JudgementStatus::{Met, NotMet, Undecided};
    let required = "[require]\nthroughput = ['>= 90', '< 1000']\nerrors = '== 0'\n";
    let (out, mut plan) = plan(&format!("{TWO_CELLS}{required}"));
    plan.require("p99 <= 4ms".parse().unwrap()).unwrap();
    let mut scripted = Scripted::new(|plan, _, number| {
        let is_steady = plan.workload.parties() == 1;
        Ok(if is_steady { 100.0 + f64::from(number) / 10.0 } else { 60.0 * f64::from(1 + number % 2) })
    });
    let result = run(&plan, out.path(), &mut scripted);
    let of = |cell: usize| -> Vec<_> {
        result.cells[cell].requirements.iter().map(|one| (one.requirement.as_str(), one.status)).collect()
    };
    let [p99, errors] = [("p99 <= 4ms", NotMet), ("errors == 0", Met)];
    assert_eq!(of(0), [errors, ("throughput >= 90", Met), ("throughput < 1000", Met), p99]);
    assert_eq!(of(1), [errors, ("throughput >= 90", Undecided), ("throughput < 1000", Met), p99]);
    let error = |line: &str| {
        let folder = tempfile::tempdir().unwrap();
        study(folder.path(), &format!("{TWO_CELLS}[require]\n{line}\n")).unwrap_err()
    };
    assert!(error("p98 = '<= 5ms'").contains("mine.toml:6:7: there is no metric p98; there are throughput"));
    assert!(error("p99 = '5ms'").contains("a requirement is METRIC RELATION LIMIT"));
    assert!(error("conforming_lines = '> 5'").contains("there is no metric conforming_lines"));
    assert!(error("'B/A p99' = '<= 1.1'").contains("B/A are sides, which only a duet has"));
    let duet = "[rules]\npreset = 'duet'\ncompare = 'rooms'\n[require]\n";
    let folder = tempfile::tempdir().unwrap();
    let of_duets = |line: &str| study(folder.path(), &format!("{TWO_CELLS}{duet}{line}\n"));
    assert_eq!(of_duets("'B/A server_cpu_us' = '<= 1.02'").unwrap().requirements.len(), 1);
    assert!(of_duets("p99 = '<= 5ms'").unwrap_err().contains("a duet judges ratios of its sides"));
    assert!(
        of_duets("'new/old p99' = '<= 1'").unwrap_err().contains("new/old are not the sides of this duet")
    );
}

#[test]
fn visits_of_all_cells_are_interleaved() {
    let (out, plan) = plan(TWO_CELLS);
    let mut scripted = Scripted::new(|_, _, _| Ok(100.0));
    run(&plan, out.path(), &mut scripted);
    let trials: Vec<(u32, u32)> =
        scripted.made.iter().filter(|run| run.2 == Role::Trial).map(|run| (run.3, run.1)).collect();
    for block in trials.chunks(2) {
        assert_eq!(block[0].0, block[1].0, "{trials:?}");
        assert_ne!(block[0].1, block[1].1, "{trials:?}");
    }
}

#[test]
fn a_slow_first_run_is_discarded_under_the_rules_of_1999() {
    let (out, plan) = plan(&format!("{TWO_CELLS}[rules]\npreset = 'volano-1999'\n"));
    let mut scripted = Scripted::new(|plan, role, number| {
        let drift = [1832.0, 1867.0, 1847.0];
        Ok(match (plan.workload.parties(), role) {
            (1, Role::WarmUp) => 10.0,
            // The first visit of the cell is discarded, so the trials belong to the blocks after it.
            (1, Role::Trial) => drift[number as usize - 2],
            _ => 5.0,
        })
    });
    let result = run(&plan, out.path(), &mut scripted);
    assert_eq!(scripted.made.len(), 8);
    let score = &result.cells[0].estimates["messages_per_s"];
    assert_eq!((score.values.as_slice(), score.mean), ([1867.0, 1847.0].as_slice(), 1857.0));
    assert_eq!((score.low, result.cells[0].status), (None, CellStatus::Complete));
}

#[test]
fn the_rules_of_2005_detect_drift() {
    let (out, plan) = plan(&format!("{TWO_CELLS}[rules]\npreset = 'websphere-2005'\n"));
    let mut scripted = Scripted::new(|plan, _, number| {
        Ok(if plan.workload.parties() == 1 {
            100.0 - 10.0 / f64::from(number)
        } else {
            100.0 * 1.1f64.powi(number as i32)
        })
    });
    let result = run(&plan, out.path(), &mut scripted);
    assert_eq!((result.cells[0].status, result.cells[0].trials), (CellStatus::Converged, 3));
    let score = &result.cells[0].estimates["messages_per_s"];
    assert_eq!(score.values, [95.0, 100.0 - 10.0 / 3.0, 97.5]);
    // These three were selected because they agree, so their scatter gives no interval.
    assert_eq!((score.low, score.high), (None, None));
    assert_eq!(result.cells[1].status, CellStatus::NotConverged);
}

#[test]
fn one_start_makes_all_trials_under_the_rules_of_2000() {
    let (out, plan) = plan(&format!("{TWO_CELLS}[rules]\npreset = 'ibm-2000'\n"));
    let mut scripted = Scripted::new(|_, _, number| Ok(100.0 + f64::from(number)));
    let result = run(&plan, out.path(), &mut scripted);
    assert_eq!(result.cells[1].estimates["messages_per_s"].values, [101.0, 102.0, 103.0, 104.0, 105.0]);
    assert_eq!(scripted.made.len(), 12);
}

#[test]
fn several_starts_under_the_rules_of_2000_are_a_value_each() {
    let (out, plan) = plan(&format!("{TWO_CELLS}[rules]\npreset = 'ibm-2000'\nstarts = 3\n"));
    let mut scripted = Scripted::new(|_, _, number| Ok(100.0 + f64::from(number)));
    let result = run(&plan, out.path(), &mut scripted);
    let cell = &result.cells[0];
    assert_eq!((cell.trials, scripted.made.len()), (15, 36));
    assert_eq!(cell.estimates["messages_per_s"].values, [103.0, 108.0, 113.0]);
}

#[test]
fn a_failed_visit_is_reported_and_the_study_goes_on() {
    let (out, plan) = plan(TWO_CELLS);
    let mut accidents = 0;
    let mut scripted = Scripted::new(|plan, role, _| match (plan.workload.parties(), role) {
        (1, Role::Trial) => Err("the server died"),
        (2, Role::WarmUp) if accidents == 0 => {
            accidents += 1;
            Err("no memory")
        }
        _ => Ok(100.0),
    });
    let result = run(&plan, out.path(), &mut scripted);
    let [one, two] = &result.cells[..] else { panic!("two cells") };
    assert_eq!((one.status, one.verdict.as_str()), (CellStatus::Failed, "failed: the server died"));
    assert_eq!(one.failures.len(), 2);
    assert_eq!((two.status, two.trials), (CellStatus::Converged, 8));
    assert_eq!(two.failures, ["the crowd (1) ended without a result; on standard error: no memory"]);
}

#[test]
fn an_interruption_at_any_run_neither_loses_nor_repeats_a_finished_run() {
    let (out, plan) = plan(TWO_CELLS);
    let script = |plan: &Plan, _: Role, number: u32| {
        Ok(f64::from(plan.workload.parties() * 1000 + number * (number % 3)))
    };
    let undisturbed = run(&plan, out.path(), &mut Scripted::new(script));
    for runs in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::begin(folder.path(), "mine", TWO_CELLS, plan.seed).unwrap();
        let mut first = Scripted { runs_left: Some(runs), ..Scripted::new(script) };
        let Err(error) = run_study(&plan, &store, &mut first, |_| {}) else { break };
        assert!(matches!(error, StudyRunError::Run(RunError::Interrupted)));
        drop(store);
        let newest = Store::newest(folder.path(), "mine").unwrap();
        let store = Store::resume(&newest, TWO_CELLS).unwrap();
        let mut rest = Scripted::new(script);
        let result = run_study(&plan, &store, &mut rest, |_| {}).unwrap();
        assert_eq!(result.cells, undisturbed.cells, "cut after {runs} runs");
        let mut trials: Vec<_> =
            first.made.iter().chain(&rest.made).filter(|run| run.2 == Role::Trial).collect();
        let made = trials.len();
        trials.dedup();
        trials.sort_by_key(|run| (run.1, run.3));
        trials.dedup();
        assert_eq!(trials.len(), made, "cut after {runs} runs");
    }
}

const LIMIT: &str = "question = 'q'\nplatforms = ['native-epoll']\n[search]\nkind = 'limit'\nrooms_from = 1\nrooms_max = 100\n[rules]\nwarmups = 0\n";

#[test]
fn a_limit_search_reports_the_limit_and_its_cause() {
    let (out, plan) = plan(LIMIT);
    let mut scripted =
        Scripted::new(
            |plan, _, _| if plan.workload.parties() <= 13 { Ok(100.0) } else { Err("no more threads") },
        );
    let result = run(&plan, out.path(), &mut scripted);
    let search = result.cells[0].search.as_ref().unwrap();
    assert_eq!((search.value, search.passes.as_slice(), search.low), (Some(13.0), [13.0].as_slice(), None));
    assert!(
        search.cause.as_ref().unwrap().starts_with("at 14 rooms: ")
            && search.cause.as_ref().unwrap().ends_with("no more threads")
    );
    let steps: Vec<(f64, u32)> = search.steps.iter().map(|step| (step.value, step.visits)).collect();
    assert_eq!(
        steps,
        [(1.0, 1), (2.0, 1), (4.0, 1), (8.0, 1), (16.0, 2), (12.0, 1), (14.0, 2), (13.0, 1)],
        "every failed step has a second visit"
    );
}

#[test]
fn a_single_failure_does_not_end_a_search() {
    let (out, plan) = plan(LIMIT);
    let mut accidents = 0;
    let mut scripted = Scripted::new(|plan, _, _| {
        if plan.workload.parties() == 4 && accidents == 0 {
            accidents += 1;
            return Err("out of luck");
        }
        if plan.workload.parties() <= 13 { Ok(100.0) } else { Err("no more threads") }
    });
    let result = run(&plan, out.path(), &mut scripted);
    let search = result.cells[0].search.as_ref().unwrap();
    assert_eq!(search.value, Some(13.0));
    assert_eq!((search.steps[2].held, search.steps[2].visits), (true, 3));
}

#[test]
fn a_knee_has_an_interval_over_its_passes() {
    let text = "question = 'q'\nplatforms = ['native-epoll']\n[search]\nkind = 'knee'\nrate_from = 1\nrate_max = 500\nlatency_p99_max_ms = 10\n[rules]\nwarmups = 0\n";
    let (out, plan) = plan(text);
    // The capacity of the machine varies by 10 % between visits.
    let mut visits = 0;
    let script = || {
        Scripted::new(move |plan: &Plan, _, _| {
            visits += 1;
            let per_user_per_s = plan.workload.rate_per_s().expect("a rate");
            let knee = 40.0 * (1.0 + 0.05 * f64::from(visits % 3 - 1));
            if per_user_per_s <= knee { Ok(100.0) } else { Err("too late") }
        })
    };
    let result = run(&plan, out.path(), &mut script());
    let search = result.cells[0].search.as_ref().unwrap();
    let (low, found, high) = (search.low.unwrap(), search.value.unwrap(), search.high.unwrap());
    assert_eq!((search.passes.len(), search.steps.last().unwrap().pass), (4, 4));
    assert!(low < found && found < high && (37.0..=42.5).contains(&found), "{search:?}");
    assert!(result.cells[0].verdict.contains(" in 4 passes); "), "{}", result.cells[0].verdict);
    let rules = "search: the server is started anew for one trial; a value holds if its first start does, or two of three";
    assert_eq!(result.rules, rules);
    // A resumed search has the same result without another visit.
    let folder = tempfile::tempdir().unwrap();
    let store = Store::begin(folder.path(), "mine", TWO_CELLS, plan.seed).unwrap();
    run_study(&plan, &store, &mut script(), |_| {}).unwrap();
    drop(store);
    let store = Store::resume(&Store::newest(folder.path(), "mine").unwrap(), TWO_CELLS).unwrap();
    let mut none = Scripted { runs_left: Some(0), ..script() };
    assert_eq!(run_study(&plan, &store, &mut none, |_| {}).unwrap().cells, result.cells);
}

#[test]
fn a_second_process_and_a_changed_file_are_refused() {
    let out = tempfile::tempdir().unwrap();
    let store = Store::begin(out.path(), "mine", TWO_CELLS, 3).unwrap();
    let again = |source: &str| Store::resume(store.folder(), source).err().unwrap().to_string();
    assert!(again(TWO_CELLS).starts_with("another klatch is carrying out the study in "));
    assert!(again("question = 'other'").contains("differs from the study file"));
}
