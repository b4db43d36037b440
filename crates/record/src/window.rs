//! The common time of several shards.

use std::collections::BTreeMap;

use crate::Shard;
use crate::sums::whole_ns;

/// What shards have of time together, seconds.
#[derive(Debug, PartialEq)]
pub(crate) struct Window {
    /// From the first opening to the last delivery.
    pub(crate) whole_s: f64,
    /// The part of it in which all of them were active.
    pub(crate) overlap_s: f64,
}

impl Window {
    /// Shards of one clock lie beside each other as they were. Clocks of different machines never meet: what is not of
    /// one clock counts as opened at the same moment.
    pub(crate) fn from_shards(shards: &[Shard]) -> Window {
        let mut clocks: BTreeMap<(&str, usize), Vec<(u64, u64)>> = BTreeMap::new();
        for (place, shard) in shards.iter().enumerate() {
            let (clock, opened_ns) = match &shard.opened {
                Some(opened) => ((opened.clock.as_str(), 0), opened.ns),
                None => (("", place), 0),
            };
            let ended_ns = opened_ns.saturating_add(whole_ns(shard.elapsed_s));
            clocks.entry(clock).or_default().push((opened_ns, ended_ns));
        }
        let least =
            |end: fn(&(u64, u64)) -> u64, spans: &[(u64, u64)]| spans.iter().map(end).min().unwrap_or(0);
        let most =
            |end: fn(&(u64, u64)) -> u64, spans: &[(u64, u64)]| spans.iter().map(end).max().unwrap_or(0);
        let whole =
            clocks.values().map(|spans| most(|span| span.1, spans) - least(|span| span.0, spans)).max();
        let overlap = clocks
            .values()
            .map(|spans| least(|span| span.1, spans).saturating_sub(most(|span| span.0, spans)))
            .min();
        let seconds = |ns: Option<u64>| ns.unwrap_or(0) as f64 / 1e9;
        Window { whole_s: seconds(whole), overlap_s: seconds(overlap) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moment;
    use crate::merge::tests::shard;

    fn window(shards: &[(Option<(&str, u64)>, f64)]) -> (f64, f64) {
        let timed = |&(opened, elapsed_s): &(Option<(&str, u64)>, f64)| Shard {
            opened: opened.map(|(clock, ns)| Moment { clock: clock.to_owned(), ns }),
            elapsed_s,
            ..shard(1, 1)
        };
        let Window { whole_s, overlap_s } =
            Window::from_shards(&shards.iter().map(timed).collect::<Vec<_>>());
        (whole_s, overlap_s)
    }

    #[test]
    fn one_shard_has_its_own_time() {
        assert_eq!(window(&[(None, 1.25)]), (1.25, 1.25));
        assert_eq!(window(&[(Some(("a", 9_000_000_000)), 1.25)]), (1.25, 1.25));
    }

    #[test]
    fn shards_with_a_common_clock_keep_their_offsets() {
        let second = |at: u64| Some(("a", at * 1_000_000_000));
        assert_eq!(window(&[(second(100), 10.0), (second(103), 9.0)]), (12.0, 7.0));
        assert_eq!(window(&[(second(100), 1.0), (second(103), 1.0)]), (4.0, 0.0));
    }

    #[test]
    fn shards_without_a_common_clock_count_as_opened_together() {
        assert_eq!(window(&[(Some(("a", 5)), 10.0), (Some(("b", 7_000_000_000)), 8.0)]), (10.0, 8.0));
        assert_eq!(window(&[(None, 10.0), (None, 8.0), (Some(("b", 7)), 9.0)]), (10.0, 8.0));
    }
}
