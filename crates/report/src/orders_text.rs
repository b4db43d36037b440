//! The score of workload `orders` as text for a terminal: TOPS, the limits of latency, and the mix.

use std::fmt::Write;

use klatch_record::OrdersScore;

use crate::number::{grouped, time};

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
    let mut text = format!(
        "\n{:<24}{:>11}{:>11}{:>11}{:>11}{:>11}\n",
        "steady state", "p90", "limit", "share", "nominal", "within"
    );
    for limit in &score.limits {
        let p90 = limit.p90_s.map_or("–".to_owned(), |p90_s| time(p90_s * 1e6));
        let most = format!("{} s", limit.limit_p90_s);
        let share = score.mix.iter().find(|share| share.name == limit.name);
        let percent = |part: f64| format!("{:.1} %", part * 100.0);
        let actual = share.map_or("–".to_owned(), |share| percent(share.share));
        let nominal = share.map_or("–".to_owned(), |share| percent(share.nominal));
        let within = limit.within && share.is_none_or(|share| share.within);
        let within = if within { "yes" } else { "no" };
        let _ = writeln!(text, "{:<24}{p90:>11}{most:>11}{actual:>11}{nominal:>11}{within:>11}", limit.name);
    }
    let (refused, short) = (grouped(score.refused), grouped(score.short));
    let _ = writeln!(text, "orders refused for credit {refused}, steps that waited for components {short}");
    text
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
