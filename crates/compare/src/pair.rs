//! Whether two sides were measured in turn, so that the machine's drift met both alike.

use klatch_stats::Design;

use crate::starts::OneValue;

/// Fewer pairs are no design.
const PAIRS_MIN: usize = 3;

/// The values that are compared.
pub(crate) struct Pairing<'a> {
    pub(crate) design: Design,
    pub(crate) a: Vec<OneValue<'a>>,
    pub(crate) b: Vec<OneValue<'a>>,
    /// How many have no partner.
    pub(crate) left_out: usize,
}

/// Pairs what has the same number, if it is unique and every pair had ended before the next one began.
pub(crate) fn pairing<'a>(a: Vec<OneValue<'a>>, b: Vec<OneValue<'a>>) -> Pairing<'a> {
    let unique = |values: &[OneValue<'_>]| {
        let numbers: std::collections::BTreeSet<u32> = values.iter().map(|value| value.number).collect();
        numbers.len() == values.len()
    };
    let partner = |value: &OneValue<'a>| b.iter().find(|other| other.number == value.number).cloned();
    let pairs: Vec<_> = a.iter().filter_map(|value| Some((value.clone(), partner(value)?))).collect();
    if !unique(&a) || !unique(&b) || pairs.len() < PAIRS_MIN || !in_turn(&pairs) {
        return Pairing { design: Design::Unpaired, a, b, left_out: 0 };
    }
    let left_out = a.len() + b.len() - 2 * pairs.len();
    let (a, b) = pairs.into_iter().unzip();
    Pairing { design: Design::Paired, a, b, left_out }
}

/// Whether both of a pair, which stand in A's order of time, began before both of the next.
fn in_turn(pairs: &[(OneValue<'_>, OneValue<'_>)]) -> bool {
    let early = |(a, b): &(OneValue<'_>, OneValue<'_>)| a.started_at().min(b.started_at()).to_owned();
    let late = |(a, b): &(OneValue<'_>, OneValue<'_>)| a.started_at().max(b.started_at()).to_owned();
    pairs.windows(2).all(|two| late(&two[0]) <= early(&two[1]))
}
