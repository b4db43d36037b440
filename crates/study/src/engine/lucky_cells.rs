//! Warns of cells that converged where most did not: if most cells scatter too much, a few converge by chance.

use klatch_record::{CellResult, CellStatus, Warning, WarningKind};

/// With fewer cells their share is meaningless.
const CELLS_MIN: usize = 4;
/// If a tenth of the series converges, up to 7 % of their intervals miss the true mean; if fewer converge, more miss it
/// (docs/reference/method.md). With only a few cells, a quarter is the nearest share that can be observed.
const CONVERGED_MIN: f64 = 0.25;

/// Adds the warning to each cell that converged.
pub(super) fn guard(cells: &mut [CellResult]) {
    let count = |status| cells.iter().filter(|cell| cell.status == status).count();
    let (converged, not) = (count(CellStatus::Converged), count(CellStatus::NotConverged));
    let all = converged + not;
    if all < CELLS_MIN || converged as f64 >= CONVERGED_MIN * all as f64 {
        return;
    }
    for cell in cells.iter_mut().filter(|cell| cell.status == CellStatus::Converged) {
        let message =
            format!("{converged} of {all} cells converged, so this one may have converged by chance");
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
            requirements: Vec::new(),
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
    fn one_converged_cell_of_many_gets_the_warning() {
        let mut all = cells(1, 9);
        guard(&mut all);
        assert_eq!(
            all[0].warnings[0].message,
            "1 of 10 cells converged, so this one may have converged by chance"
        );
        assert!(all[1..].iter().all(|cell| cell.warnings.is_empty()));
    }

    #[test]
    fn a_study_in_which_many_cells_converge_has_no_warning() {
        for (converged, not) in [(3, 7), (10, 0), (1, 2)] {
            let mut all = cells(converged, not);
            guard(&mut all);
            assert!(all.iter().all(|cell| cell.warnings.is_empty()), "{converged} and {not}");
        }
    }
}
