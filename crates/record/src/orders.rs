//! The score of workload `orders`: the rate of the steady state, and whether its limits and its mix hold.

use serde::{Deserialize, Serialize};

use crate::OperationKindScore;
use crate::sums::{SumError, saturating_sum, sum, sum_u32};

/// The limits of the 90th percentile, seconds.
const LIMITS: [(&str, f64); 5] = [
    ("new_order", 2.0),
    ("change_order", 2.0),
    ("order_status", 2.0),
    ("customer_status", 2.0),
    (WORK_ORDER, 5.0),
];
/// The nominal shares of the dealers' operations.
const MIX: [(&str, f64); 4] =
    [("new_order", 0.5), ("change_order", 0.2), ("order_status", 0.2), ("customer_status", 0.1)];
const WORK_ORDER: &str = "work_order";
/// Largest deviation of a share from its nominal value, as a part of that.
const DEVIATION_MAX: f64 = 0.05;
/// Standard deviations by which a share of few operations may differ.
const DEVIATIONS_MAX: f64 = 3.0;

/// What a crowd of `orders` counts beside its operations.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrdersCounts {
    /// Length of the steady state, seconds.
    pub steady_s: f64,
    /// New orders and changes that were refused, as the customer would have owed too much.
    pub refused: u64,
    /// Steps of work orders that had to wait, as a component was short.
    pub short: u64,
}

/// The score of `orders`. Rates, latencies and shares are those of the steady state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrdersScore {
    /// Districts, which is the number of order entries a second that were meant to begin.
    pub injection_rate: u32,
    /// Total operations per second: order entries and work orders / length of the steady state. `null` unless all limits and the mix
    /// hold.
    pub tops: Option<f64>,
    /// Length of the steady state, seconds.
    pub steady_s: f64,
    /// The limits of latency.
    pub limits: Vec<OrdersLimit>,
    /// The shares of the dealers' operations.
    pub mix: Vec<OrdersShare>,
    /// New orders and changes that were refused in the whole run, as the customer would have owed too much.
    pub refused: u64,
    /// Steps of work orders that had to wait, as a component was short, in the whole run.
    pub short: u64,
}

/// The limit of the latency of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrdersLimit {
    /// Name of the operation.
    pub name: String,
    /// Most that the 90th percentile of its latency may be, seconds.
    pub limit_p90_s: f64,
    /// The 90th percentile of its latency, seconds; `null` without an operation.
    pub p90_s: Option<f64>,
    /// Whether the limit holds; it does not without an operation.
    pub within: bool,
}

/// The share of one operation among those of dealers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrdersShare {
    /// Name of the operation.
    pub name: String,
    /// Its share, 0 to 1.
    pub share: f64,
    /// What the share is to be, 0 to 1.
    pub nominal: f64,
    /// Whether the share is within 5 % of that, or within three standard deviations of a draw, if that is more.
    pub within: bool,
}

impl OrdersScore {
    /// The score from the counts of a run and its operations of the steady state by kind.
    pub fn new(injection_rate: u32, counts: OrdersCounts, kinds: &[OperationKindScore]) -> OrdersScore {
        let find = |name: &str| kinds.iter().find(|kind| kind.name == name);
        let count = |name: &str| find(name).map_or(0, |kind| kind.count);
        let limit = |(name, limit_p90_s): (&str, f64)| {
            let p90_s = find(name).map(|kind| kind.latency.p90_us / 1e6);
            let within = p90_s.is_some_and(|p90_s| p90_s <= limit_p90_s);
            OrdersLimit { name: name.to_owned(), limit_p90_s, p90_s, within }
        };
        let entries = saturating_sum(MIX.iter().map(|(name, _)| count(name)));
        let share = |(name, nominal): (&str, f64)| {
            let share = if entries > 0 { count(name) as f64 / entries as f64 } else { 0.0 };
            let deviation = (nominal * (1.0 - nominal) / entries.max(1) as f64).sqrt();
            let most = (nominal * DEVIATION_MAX).max(deviation * DEVIATIONS_MAX);
            OrdersShare {
                name: name.to_owned(),
                share,
                nominal,
                within: entries > 0 && (share - nominal).abs() <= most,
            }
        };
        let limits: Vec<OrdersLimit> = LIMITS.into_iter().map(limit).collect();
        let mix: Vec<OrdersShare> = MIX.into_iter().map(share).collect();
        let holds = limits.iter().all(|limit| limit.within) && mix.iter().all(|share| share.within);
        let total = entries.saturating_add(count(WORK_ORDER));
        OrdersScore {
            injection_rate,
            tops: (holds && counts.steady_s > 0.0).then(|| total as f64 / counts.steady_s),
            steady_s: counts.steady_s,
            limits,
            mix,
            refused: counts.refused,
            short: counts.short,
        }
    }

    /// The score of both together, of other districts and the same steady state; `kinds` are the operations of both.
    pub(crate) fn with(
        &self,
        other: &OrdersScore,
        kinds: &[OperationKindScore],
    ) -> Result<OrdersScore, SumError> {
        let injection_rate = sum_u32("injection rates", [self.injection_rate, other.injection_rate])?;
        let counts = OrdersCounts {
            steady_s: self.steady_s.max(other.steady_s),
            refused: sum("refused orders", [self.refused, other.refused])?,
            short: sum("short work orders", [self.short, other.short])?,
        };
        Ok(OrdersScore::new(injection_rate, counts, kinds))
    }

    /// The first limit or share that does not hold, as text; `None` if there is a TOPS.
    pub fn first_broken(&self) -> Option<String> {
        let limit = self.limits.iter().find(|limit| !limit.within).map(|limit| {
            let OrdersLimit { name, limit_p90_s, p90_s, .. } = limit;
            let p90 = p90_s.map_or("no operation".to_owned(), |p90_s| format!("p90 {p90_s:.2} s"));
            format!("{name}: {p90}, limit {limit_p90_s} s")
        });
        let share = self.mix.iter().find(|share| !share.within).map(|share| {
            let OrdersShare { name, share, nominal, .. } = share;
            format!("{name}: share {:.1} % instead of {:.0} %", share * 100.0, nominal * 100.0)
        });
        limit.or(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Latency;

    fn kind(name: &str, count: u64, ms: u64) -> OperationKindScore {
        let latency = Latency::from_counts_ns(&[(ms * 1_000_000, count)]).unwrap().unwrap();
        OperationKindScore { name: name.to_owned(), count, share: 0.0, latency }
    }

    fn kinds(new_orders: u64, order_status_ms: u64) -> Vec<OperationKindScore> {
        vec![
            kind("change_order", 200, 3),
            kind("customer_status", 100, 3),
            kind("delivery", 70, 9_000),
            kind("new_order", new_orders, 3),
            kind("order_status", 200, order_status_ms),
            kind("work_order", 750, 1_100),
        ]
    }

    const COUNTS: OrdersCounts = OrdersCounts { steady_s: 10.0, refused: 4, short: 5 };

    #[test]
    fn entries_and_work_orders_of_the_steady_state_are_the_score() {
        let score = OrdersScore::new(100, COUNTS, &kinds(500, 3));
        assert_eq!((score.tops, score.first_broken()), (Some(175.0), None));
        assert_eq!((score.limits.len(), score.mix.len()), (5, 4));
        assert_eq!((score.steady_s, score.refused, score.short), (10.0, 4, 5));
    }

    #[test]
    fn a_limit_that_does_not_hold_leaves_no_score() {
        let late = OrdersScore::new(100, COUNTS, &kinds(500, 2_500));
        assert_eq!((late.tops, late.limits[2].within), (None, false));
        assert_eq!(late.first_broken().unwrap(), "order_status: p90 2.50 s, limit 2 s");
        let none = OrdersScore::new(100, COUNTS, &[]);
        assert_eq!((none.tops, none.limits[0].p90_s), (None, None));
    }

    #[test]
    fn a_share_may_differ_as_a_draw_does_but_not_more() {
        let share = |new_orders| OrdersScore::new(100, COUNTS, &kinds(new_orders, 3));
        assert!(share(540).tops.is_some(), "51.9 % of 1,040");
        let far = share(640);
        assert_eq!(far.tops, None);
        assert_eq!(far.first_broken().unwrap(), "new_order: share 56.1 % instead of 50 %");
    }
}
