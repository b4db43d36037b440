//! Estimates how long the rest of a study takes.

use std::time::Duration;

use super::order::order;
use crate::plan::StudyPlan;

/// The duration of each visit so far, with the place of its cell.
#[derive(Default)]
pub(super) struct TimeLeft {
    visits: Vec<(usize, Duration)>,
}

impl TimeLeft {
    pub(super) fn add(&mut self, cell: usize, duration: Duration) {
        self.visits.push((cell, duration));
    }

    /// The least time that is left before the visit of the cell at `place` in `block`: the fewest visits that the rules
    /// allow, each as long as the mean of its cell, or of all cells. `None` before the first visit has ended.
    pub(super) fn estimate(&self, plan: &StudyPlan, place: usize, block: u32) -> Option<Duration> {
        if self.visits.is_empty() {
            return None;
        }
        let mean = |includes: &dyn Fn(usize) -> bool| {
            let (count, sum) = (self.visits.iter().filter(|(cell, _)| includes(*cell)))
                .fold((0, Duration::ZERO), |(count, sum), (_, duration)| (count + 1, sum + *duration));
            (count > 0).then(|| sum / count)
        };
        let mean_of_all = mean(&|_| true)?;
        let (least, _) = plan.rules.visits();
        let blocks_left = least.saturating_sub(block);
        let order = order(plan.seed, block, plan.cells.len());
        let at = order.iter().position(|&other| other == place)?;
        let visits_left = |cell: usize| blocks_left + u32::from(order[at..].contains(&cell));
        let present = (0..plan.cells.len()).filter(|&cell| plan.cells[cell].absent.is_none());
        Some(
            present.map(|cell| mean(&|other| other == cell).unwrap_or(mean_of_all) * visits_left(cell)).sum(),
        )
    }
}
