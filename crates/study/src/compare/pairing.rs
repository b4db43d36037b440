//! Pairs the values of two sides that were measured in turn, so that drift of the machine affects both alike.

use klatch_stats::Design;

use crate::compare::values::Value;

/// With fewer pairs a comparison is unpaired.
const PAIRS_MIN: usize = 3;

/// The values of both sides, paired if possible.
pub(crate) struct Pairing<'a> {
    pub(crate) design: Design,
    pub(crate) a: Vec<Value<'a>>,
    pub(crate) b: Vec<Value<'a>>,
    /// Number of values without a partner, which a paired design drops.
    pub(crate) left_out: usize,
}

/// Pairs values with the same number, if numbers are unique and every pair began before the next one.
pub(crate) fn pair<'a>(a: Vec<Value<'a>>, b: Vec<Value<'a>>) -> Pairing<'a> {
    let unique = |values: &[Value<'_>]| {
        let numbers: std::collections::BTreeSet<u32> = values.iter().map(|value| value.number).collect();
        numbers.len() == values.len()
    };
    let partner = |value: &Value<'a>| b.iter().find(|other| other.number == value.number).cloned();
    let pairs: Vec<_> = a.iter().filter_map(|value| Some((value.clone(), partner(value)?))).collect();
    if !unique(&a) || !unique(&b) || pairs.len() < PAIRS_MIN || !in_turn(&pairs) {
        return Pairing { design: Design::Unpaired, a, b, left_out: 0 };
    }
    let left_out = a.len() + b.len() - 2 * pairs.len();
    let (a, b) = pairs.into_iter().unzip();
    Pairing { design: Design::Paired, a, b, left_out }
}

/// Whether both values of each pair began before both of the next; pairs are in the order of time of A.
fn in_turn(pairs: &[(Value<'_>, Value<'_>)]) -> bool {
    let early = |(a, b): &(Value<'_>, Value<'_>)| a.started_at().min(b.started_at()).to_owned();
    let late = |(a, b): &(Value<'_>, Value<'_>)| a.started_at().max(b.started_at()).to_owned();
    pairs.windows(2).all(|two| late(&two[0]) <= early(&two[1]))
}
