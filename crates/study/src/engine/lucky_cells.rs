//! A few cells converged among many that did not: where most scatter too much, those few may owe it to luck.

use klatch_record::{CellResult, CellStatus, Warning, WarningKind};

/// With fewer cells, a share of them says nothing.
const CELLS_MIN: usize = 4;
/// Where a tenth of the series converge, up to 7 in 100 of those miss the true mean; below, more do (docs/reference/method.md).
/// A quarter of a handful of cells is the nearest share that can be seen.
const CONVERGED_MIN: f64 = 0.25;

/// Warns at each cell that converged.
pub(crate) fn guard(cells: &mut [CellResult]) {
    let count = |status| cells.iter().filter(|cell| cell.status == status).count();
    let (converged, not) = (count(CellStatus::Converged), count(CellStatus::NotConverged));
    let all = converged + not;
    if all < CELLS_MIN || converged as f64 >= CONVERGED_MIN * all as f64 {
        return;
    }
    for cell in cells.iter_mut().filter(|cell| cell.status == CellStatus::Converged) {
        let message = format!("{converged} of {all} cells converged, so this one may owe it to luck");
        let advice = "allow more trials, or do not rely on the width of its interval".to_owned();
        cell.warnings.push(Warning { kind: WarningKind::LuckyCell, message, advice });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn cells(converged: usize, not: usize) -> Vec<CellResult> {
        let cell = |status| CellResult {
            id: String::new(),
            at: BTreeMap::new(),
            status,
            verdict: String::new(),
            trials: 20,
            estimates: BTreeMap::new(),
            failures: Vec::new(),
            warnings: Vec::new(),
            search: None,
        };
        let converged = std::iter::repeat_n(CellStatus::Converged, converged);
        converged.chain(std::iter::repeat_n(CellStatus::NotConverged, not)).map(cell).collect()
    }

    #[test]
    fn one_of_many_is_warned_of_and_its_neighbours_are_not() {
        let mut all = cells(1, 9);
        guard(&mut all);
        assert_eq!(all[0].warnings[0].message, "1 of 10 cells converged, so this one may owe it to luck");
        assert!(all[1..].iter().all(|cell| cell.warnings.is_empty()));
    }

    #[test]
    fn a_study_in_which_many_converge_has_no_such_warning() {
        for (converged, not) in [(3, 7), (10, 0), (1, 2)] {
            let mut all = cells(converged, not);
            guard(&mut all);
            assert!(all.iter().all(|cell| cell.warnings.is_empty()), "{converged} and {not}");
        }
    }
}
