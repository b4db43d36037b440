use std::path::Path;

use klatch_record::Build;
use klatch_simulator::Topology;

use super::*;
use crate::computed::{ComputedPlan, Computer, run_computed};
use crate::engine::Store;
use crate::file::StudyFile;

const SMALL: &str = "question = 'Which?'\nmachine = ['1 cpu', '2 cpus']\nschedulers = ['fifo', 'o1:yield=2']\n\
                     [work]\nkind = 'chat'\nrooms = 1\ncount = 4\n";

fn build() -> Build {
    Build { version: "0".to_owned(), ..Build::default() }
}

fn parsed(text: &str) -> Result<ComputedPlan<SimulatedJob>, String> {
    let file = StudyFile::new(Path::new("mine.toml"), text.to_owned());
    file.simulated(build(), &|| Ok(Topology::flat(3))).map_err(|error| error.to_string())
}

#[test]
fn every_combination_is_a_cell_with_three_seeds() {
    let plan = parsed(SMALL).unwrap();
    assert_eq!((plan.cells.len(), plan.seeds.len()), (4, 3));
    assert_eq!(plan.cells[3].id, "cpus-2_o1-yield-2");
    let axes: Vec<&str> = plan.head.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(axes, ["cpus", "scheduler"]);
    let host = parsed(&SMALL.replace("'2 cpus'", "'host'")).unwrap();
    assert_eq!(host.cells[3].at["cpus"], "3");
}

#[test]
fn a_study_is_simulated_and_each_number_has_its_values() {
    let out = tempfile::tempdir().unwrap();
    let plan = parsed(SMALL).unwrap();
    let store = Store::begin(out.path(), "mine", SMALL, 1).unwrap();
    let study = run_computed(&plan, &store, &Simulator, 2, |_| {}).unwrap();
    for cell in &study.result.cells {
        assert_eq!(cell.estimates["messages_per_s"].values.len(), 3, "{}", cell.id);
        assert!(cell.estimates["messages_per_s"].mean > 1_000.0, "{}", cell.id);
    }
    let text = std::fs::read_to_string(store.folder().join("result.json")).unwrap();
    assert!(text.contains("\"kind\": \"simulated\""), "{text}");
}

#[test]
fn a_trial_has_every_simulated_metric() {
    let plan = parsed(SMALL).unwrap();
    let trial = Simulator.compute(&plan.cells[0].job, 1, std::path::Path::new("")).unwrap();
    let simulated = klatch_record::METRICS.iter().filter(|metric| metric.is_simulated);
    for name in simulated.map(|metric| metric.name) {
        assert!(trial.metrics.iter().any(|(own, _)| own == name), "{name}");
    }
}

#[test]
fn claims_are_about_neighbours_and_one_that_a_cost_turns_is_not_shown() {
    let out = tempfile::tempdir().unwrap();
    let mut plan = parsed(SMALL).unwrap();
    plan.cells.retain(|cell| cell.at["scheduler"] == "fifo");
    let store = Store::begin(out.path(), "mine", SMALL, 1).unwrap();
    let study = run_computed(&plan, &store, &Simulator, 2, |_| {}).unwrap();
    let found = sensitivity(&plan, &study.result, 2);
    let [claim] = found.claims.as_slice() else { panic!("one pair of cells: {found:?}") };
    assert_eq!(claim.name(), "2 CPUs over 1 CPU, fifo");
    assert!(
        claim.low <= claim.ratio && claim.ratio <= claim.high && !claim.high_with.is_empty(),
        "{claim:?}"
    );
    let turned = klatch_record::Claim { low: 0.9, high: 1.2, ..claim.clone() };
    assert!(!turned.is_shown() && klatch_record::Claim { low: 1.01, ..turned }.is_shown());
}

#[test]
fn wrong_files_are_refused_with_line_and_column() {
    let refusal = |from: &str, to: &str| {
        assert!(SMALL.contains(from), "{from}");
        parsed(&SMALL.replacen(from, to, 1)).unwrap_err()
    };
    assert!(refusal("question = 'Which?'", "question = ' '").contains("the question is empty"));
    let error = refusal("'1 cpu'", "'1 apple'");
    assert!(error.starts_with("mine.toml:2:11: `1 apple` is not a topology"), "{error}");
    assert!(refusal("['fifo', 'o1:yield=2']", "[]").contains("scheduler has no value"));
    let error = refusal("'fifo'", "'cfs'");
    assert!(error.starts_with("mine.toml:3:14: there is no simulated scheduler `cfs`"), "{error}");
    let error = refusal("rooms = 1", "room = 1");
    assert!(
        error.starts_with("mine.toml:6:8: the workload chat has no setting room; did you mean rooms?"),
        "{error}"
    );
    assert!(refusal("kind = 'chat'", "kind = 'mail'").contains("there is no simulated workload `mail`"));
    assert!(refusal("kind = 'chat'\n", "").contains("[work] has no kind"));
    assert!(
        refusal("question", "machines = 1\nquestion")
            .contains("unknown field machines; did you mean machine?")
    );
    let with = |line: &str| parsed(&format!("{SMALL}[rules]\n{line}\n")).unwrap_err();
    assert!(with("seeds = 2").contains("mine.toml:9:9: seeds must be 3 to 1,000, got 2"));
    assert!(with("seeds = 8\nwithin_percent = 1").contains("seeds must be 16 to 1,000, got 8"));
    assert!(with("metric = 'mips'").contains("there is no metric mips; there are throughput"));
    let error = parsed(&format!("{SMALL}[labels]\no2 = 'faster'\n")).unwrap_err();
    assert!(error.starts_with("mine.toml:9:6: o2 is labelled"), "{error}");
    let costs = parsed(&format!("costs = 'absent.toml'\n{SMALL}")).unwrap_err();
    assert!(costs.starts_with("mine.toml:1:9: cannot read absent.toml"), "{costs}");
}
