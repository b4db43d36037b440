//! The score of workload `orders` as text for a terminal: TOPS, the limits of latency, and the mix.

use klatch_record::OrdersScore;

use crate::number::{grouped, time};
use crate::table::{Column, TextTable};

/// TOPS, or why there is none.
pub(crate) fn tops(score: &OrdersScore) -> String {
    match (score.tops, score.first_broken()) {
        (Some(tops), _) => format!("{tops:.1}"),
        (None, Some(broken)) => format!("none ({broken})"),
        (None, None) => "none".to_owned(),
    }
}

/// The limits and the mix as a table.
pub(crate) fn limits_and_mix(score: &OrdersScore) -> String {
    let numbers = ["p90", "limit", "share", "nominal", "within"].map(Column::number);
    let mut table = TextTable::new([Column::name("steady state")].into_iter().chain(numbers));
    for limit in &score.limits {
        let p90 = limit.p90_s.map_or("–".to_owned(), |p90_s| time(p90_s * 1e6));
        let most = format!("{} s", limit.limit_p90_s);
        let share = score.mix.iter().find(|share| share.name == limit.name);
        let percent = |part: f64| format!("{:.1} %", part * 100.0);
        let actual = share.map_or("–".to_owned(), |share| percent(share.share));
        let nominal = share.map_or("–".to_owned(), |share| percent(share.nominal));
        let within = limit.within && share.is_none_or(|share| share.within);
        let within = if within { "yes" } else { "no" };
        table.row([limit.name.clone(), p90, most, actual, nominal, within.to_owned()]);
    }
    let (refused, short) = (grouped(score.refused), grouped(score.short));
    format!("\n{table}\norders refused for credit {refused}, steps that waited for components {short}\n")
}

#[cfg(test)]
mod tests {
    use klatch_record::{OrdersLimit, OrdersShare};

    use super::*;

    #[test]
    fn a_score_shows_its_limits_and_why_there_is_no_tops() {
        let limit = |name: &str, limit_p90_s, p90_s: Option<f64>| OrdersLimit {
            name: name.into(),
            limit_p90_s,
            p90_s,
            within: p90_s.is_some_and(|p90_s| p90_s <= limit_p90_s),
        };
        let mix = vec![OrdersShare { name: "new_order".into(), share: 0.51, nominal: 0.5, within: true }];
        let limits = vec![limit("new_order", 2.0, Some(2.5)), limit("work_order", 5.0, None)];
        let score =
            OrdersScore { injection_rate: 4, tops: None, steady_s: 10.0, limits, mix, refused: 3, short: 0 };
        assert_eq!(tops(&score), "none (new_order: p90 2.50 s, limit 2 s)");
        let text = limits_and_mix(&score);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[2], ["new_order", "2.50", "s", "2", "s", "51.0", "%", "50.0", "%", "no"]);
        assert_eq!(rows[3], ["work_order", "–", "5", "s", "–", "–", "no"]);
        assert_eq!(tops(&OrdersScore { tops: Some(7.04), ..score }), "7.0");
    }
}
