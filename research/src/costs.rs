//! The costs that a simulation uses, and those that may predict a published result.

use anyhow::Context;
use clap::Args;
use klatch_simulator::Costs;
use thiserror::Error;

/// Hashes of the costs that predictions may use. `calibrate` prints the hash; it is added here, with the date, in the commit that
/// changes them, before anyone looks at the predictions.
const FROZEN: &str = include_str!("../frozen.txt");

/// Costs that were not frozen before the predictions were made, by their hash.
#[derive(Debug, Error)]
#[error(
    "these costs (hash {0}) are not frozen, so they can predict nothing; commit the hash in research/frozen.txt first"
)]
pub struct NotFrozen(String);

/// The costs of a command.
#[derive(Args)]
pub(crate) struct CostArgs {
    /// Costs to use: pentium-iii, epyc-milan, lab, or a file like `klatch simulate costs` prints
    #[arg(long, default_value = Costs::NAMES[0], value_name = "NAME|FILE")]
    costs: String,
}

impl CostArgs {
    /// The costs and their text.
    ///
    /// # Errors
    /// There are no such costs, or the file cannot be read.
    pub(crate) fn read(&self) -> anyhow::Result<(Costs, String)> {
        let text = match Costs::text(&self.costs) {
            Some(text) => text.to_owned(),
            None => std::fs::read_to_string(&self.costs).with_context(|| {
                format!("{} is neither a file nor one of the costs {}", self.costs, Costs::NAMES.join(", "))
            })?,
        };
        let costs = Costs::parse(&text).with_context(|| self.costs.clone())?;
        Ok((costs, text))
    }
}

/// Refuses costs that could have been adjusted to the results that they are to predict.
///
/// # Errors
/// The hash of the costs is not in the committed list.
pub(crate) fn require_frozen(costs: &Costs) -> Result<(), NotFrozen> {
    let hash = costs.hash();
    let lines = FROZEN.lines().filter(|line| !line.starts_with('#'));
    let mut frozen = lines.filter_map(|line| line.split(' ').nth(1));
    if frozen.any(|known| known == hash) { Ok(()) } else { Err(NotFrozen(hash)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_costs_of_the_papers_are_frozen_and_changed_ones_predict_nothing() {
        require_frozen(&Costs::pentium_iii()).unwrap();
        let changed = Costs::pentium_iii().with("element", 116.0);
        let error = require_frozen(&changed).unwrap_err();
        assert!(error.to_string().contains("are not frozen"), "{error}");
    }
}
