//! Reads the folder of a study of the lab, whose trials are boots.

use std::path::{Path, PathBuf};

use klatch_record::BOOT;
use klatch_record::lab::{Outcome, Study};

use crate::read::ReadError;

/// The study of the lab in a folder, and the outcomes of its boots in the study's order. `None` if the folder holds another study,
/// or none.
///
/// # Errors
/// A file of it cannot be read, or is not a result.
pub(crate) fn read_lab(folder: &Path) -> Result<Option<(Study, Vec<Outcome>)>, ReadError> {
    let file = folder.join("study.toml");
    let Ok(text) = std::fs::read_to_string(&file) else { return Ok(None) };
    // Study files of the other kinds have other fields.
    let Ok(study) = toml::from_str::<Study>(&text) else { return Ok(None) };
    let mut outcomes = Vec::new();
    for trial in folders_in(&folder.join("cells")).iter().flat_map(|cell| folders_in(cell)) {
        let path = trial.join(BOOT);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            // The boot was interrupted.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(source) => return Err(ReadError::Missing { path, source }),
        };
        let outcome = serde_json::from_str::<Outcome>(&text);
        outcomes.push(outcome.map_err(|error| ReadError::Other { path, cause: error.to_string() })?);
    }
    if outcomes.is_empty() {
        return Err(ReadError::Empty { path: folder.to_owned() });
    }
    outcomes.sort_by_cached_key(|outcome| study.order(&outcome.configuration));
    Ok(Some((Study { name: study_name(folder), ..study }, outcomes)))
}

/// The folders in a folder; none if it cannot be read.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// `NAME` of a folder `TIME-NAME`; the whole name of any other folder.
fn study_name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_default();
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.split_once("Z-").map_or(&*name, |(_, name)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::lab_report;
    use crate::model::Standing;

    const STUDY: &str = "question = 'What does it cost?'\nschedulers = ['goodness', 'fifo']\nshow = ['cost']\nfit = true\n\
                         distribution = true\ncommand = 'probe yield'\n";

    /// Writes the outcome of a boot: decisions at lengths 1 to 3, `slope` ns more expensive per task.
    fn write_outcome(folder: &Path, slope: u64, scheduler: &str, cpus: u32) {
        let costs: Vec<serde_json::Value> = (1..=3)
            .map(|length| {
                serde_json::json!({ "length": length, "decisions": 50, "ns": 50 * (100 + slope * length),
                    "ns_min": 1, "ns_max": 900 })
            })
            .collect();
        let outcome = serde_json::json!({
            "configuration": { "id": format!("cpus-{cpus}_{scheduler}_seed-1"), "kernel": "6.18", "cpus": cpus, "scheduler": scheduler,
                "varied": [], "seed": 1, "commands": [["probe", "yield"]] },
            "failure": null, "results": [], "uptime_us": 5,
            "scheduler": { "scheduler": scheduler, "knobs": [], "lost": null,
                "observed": { "stats": [], "costs": costs } },
        });
        let trial = folder.join("cells").join(format!("cpus-{cpus}_{scheduler}")).join("seed-1");
        std::fs::create_dir_all(&trial).unwrap();
        std::fs::write(trial.join("trial.json"), outcome.to_string()).unwrap();
    }

    #[test]
    fn a_lab_folder_becomes_a_report_with_costs_and_lengths() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("2026-01-01T00-00-00Z-cost");
        std::fs::create_dir(&folder).unwrap();
        assert!(read_lab(&folder).unwrap().is_none(), "no study of the lab");
        std::fs::write(folder.join("study.toml"), STUDY).unwrap();
        assert!(read_lab(&folder).unwrap_err().to_string().contains("holds no record"));
        write_outcome(&folder, 0, "fifo", 1);
        write_outcome(&folder, 7, "goodness", 1);
        let (study, outcomes) = read_lab(&folder).unwrap().unwrap();
        assert_eq!(outcomes[0].configuration.scheduler, "goodness", "the order is the study's");
        let report = lab_report(&folder, &study, &outcomes);
        assert_eq!((report.title.as_str(), report.verdict.standing), ("cost", Standing::Valid));
        assert!(report.answer.contains("goodness 7.0 ns (7.0 to 7.0, r² 1.000)"), "{}", report.answer);
        let chart =
            |id: &str| report.charts().find(|chart| chart.id == id).unwrap_or_else(|| panic!("no {id}"));
        assert_eq!((chart("cost-by-length").points.len(), chart("cost-by-length").marks.len()), (6, 2));
        let shares: Vec<_> =
            chart("queue-length").points.iter().map(|point| point.y.unwrap().round()).collect();
        assert_eq!(shares, [0.0, 33.0, 100.0, 0.0, 33.0, 100.0]);
        assert_eq!(chart("shown-cost").points.len(), 2);
    }

    #[test]
    fn schedulers_on_several_machines_are_lines_over_them() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("2026-01-01T00-00-00Z-cpus");
        std::fs::create_dir(&folder).unwrap();
        let text = "question = 'What does it cost?'\nschedulers = ['goodness', 'fifo']\nshow = ['cost']\ncpus = [1, 2, 8]\n\
                    command = 'probe yield'\n";
        std::fs::write(folder.join("study.toml"), text).unwrap();
        for (cpus, slope) in [(1, 7), (2, 8), (8, 9)] {
            write_outcome(&folder, 0, "fifo", cpus);
            write_outcome(&folder, slope, "goodness", cpus);
        }
        let (study, outcomes) = read_lab(&folder).unwrap().unwrap();
        let answer = |study: &Study| lab_report(&folder, study, &outcomes).answer;
        assert_eq!(
            answer(&study),
            "All 6 configurations ran to the end: time of a decision from 100 ns (fifo) to 114 ns (goodness) on 1 CPU, from 100 ns (fifo) to 118 ns (goodness) on 8 CPUs."
        );
        let fitted = Study { fit: true, ..study };
        let report = lab_report(&folder, &fitted, &outcomes);
        let ids: Vec<_> = report.charts().map(|chart| (chart.id.as_str(), chart.points.len())).collect();
        let of_costs =
            ["cost-by-length-1-CPU", "cost-by-length-2-CPUs", "cost-by-length-8-CPUs"].map(|id| (id, 6));
        assert_eq!(ids, [&of_costs[..], &[("shown-cost", 6)]].concat());
    }
}
