//! The rows of the result, with their ratios.

use std::collections::BTreeMap;

use klatch_record::{ExchangeCost, FloorLoad, FloorRow, LoopbackCost, RatioEstimate};
use klatch_stats::{Design, median, ratio_of_geometric_means};

use super::Sample;

const CONFIDENCE: f64 = 0.95;

/// One row for each platform and load: `turns` before `rounds`, and the cheapest server first.
pub(super) fn rows(samples: &[Sample]) -> Vec<FloorRow> {
    let mut cells: BTreeMap<(FloorLoad, &str), Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        cells.entry((sample.load, &sample.platform)).or_default().push(sample);
    }
    let mut rows: Vec<FloorRow> = cells.values().map(|cell| row(cell, &cells)).collect();
    let middle = |row: &FloorRow| median(&row.server_us).unwrap_or(f64::MAX);
    rows.sort_by(|a, b| a.pacing.cmp(&b.pacing).then(middle(a).total_cmp(&middle(b))));
    rows
}

fn row(cell: &[&Sample], cells: &BTreeMap<(FloorLoad, &str), Vec<&Sample>>) -> FloorRow {
    let values = |cell: &[&Sample], value: fn(&Sample) -> f64| -> Vec<f64> {
        cell.iter().map(|sample| value(sample)).collect()
    };
    let (server_us, crowd_us) =
        (values(cell, |sample| sample.server_us), values(cell, |sample| sample.crowd_us));
    let own = cell[0];
    let peers = cells
        .iter()
        .filter(|((load, platform), other)| *load == own.load && other[0].peer && *platform != own.platform);
    let to_peers = peers.filter_map(|((_, peer), other)| {
        Some(((*peer).to_owned(), ratio(&values(other, |sample| sample.server_us), &server_us)?))
    });
    FloorRow {
        platform: own.platform.clone(),
        class: own.class,
        pacing: own.load,
        server_to_floor: ratio(&values(cell, |sample| sample.floor_us.0), &server_us),
        crowd_to_floor: ratio(&values(cell, |sample| sample.floor_us.1), &crowd_us),
        to_peers: to_peers.collect(),
        server_us,
        crowd_us,
    }
}

/// B / A, paired by block if both have the same number of values; `None` for a single value.
fn ratio(a: &[f64], b: &[f64]) -> Option<RatioEstimate> {
    let design = if a.len() == b.len() { Design::Paired } else { Design::Unpaired };
    let ratio = ratio_of_geometric_means(a, b, design, CONFIDENCE).ok()?;
    let klatch_stats::Interval { estimate, low, high, .. } = ratio.interval;
    Some(RatioEstimate { estimate, low, high, smallest_difference: ratio.smallest_difference })
}

/// The median cost of each call over all probes.
pub(super) fn median_cost(probes: &[LoopbackCost]) -> LoopbackCost {
    let median_over = |value: fn(&LoopbackCost) -> f64| {
        median(&probes.iter().map(value).collect::<Vec<_>>()).unwrap_or_default()
    };
    let known_median = |value: fn(&LoopbackCost) -> Option<f64>| {
        median(&probes.iter().filter_map(value).collect::<Vec<_>>()).ok()
    };
    LoopbackCost {
        null_call_us: median_over(|cost| cost.null_call_us),
        line_send_us: median_over(|cost| cost.line_send_us),
        line_receive_us: median_over(|cost| cost.line_receive_us),
        delivery_send_us: median_over(|cost| cost.delivery_send_us),
        delivery_receive_us: median_over(|cost| cost.delivery_receive_us),
        batch_lines: probes.first().map_or(0, |cost| cost.batch_lines),
        batch_line_send_us: known_median(|cost| cost.batch_line_send_us),
        batch_line_receive_us: known_median(|cost| cost.batch_line_receive_us),
        batch_send_us: median_over(|cost| cost.batch_send_us),
        batch_receive_us: median_over(|cost| cost.batch_receive_us),
    }
}

/// The median cost of each call over all probes; `None` without one.
pub(super) fn median_exchange(probes: &[ExchangeCost]) -> Option<ExchangeCost> {
    let median_over = |value: fn(&ExchangeCost) -> f64| {
        median(&probes.iter().map(value).collect::<Vec<_>>()).unwrap_or_default()
    };
    Some(ExchangeCost {
        request_send_us: median_over(|cost| cost.request_send_us),
        request_receive_us: median_over(|cost| cost.request_receive_us),
        reply_send_us: median_over(|cost| cost.reply_send_us),
        reply_receive_us: median_over(|cost| cost.reply_receive_us),
        ..*probes.first()?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(platform: &str, peer: bool, server_us: f64) -> Sample {
        let platform = platform.to_owned();
        Sample {
            platform,
            class: None,
            peer,
            load: FloorLoad::Turns,
            server_us,
            crowd_us: 4.0,
            floor_us: (5.0, 2.0),
        }
    }

    #[test]
    fn ratios_are_to_the_floor_and_to_servers_of_other_projects_under_the_same_pacing() {
        let samples = [
            sample("mine", false, 6.0),
            sample("redis", true, 12.0),
            sample("redis", true, 11.9),
            sample("mine", false, 6.1),
            Sample { load: FloorLoad::Rounds, ..sample("redis", true, 1.0) },
        ];
        let rows = rows(&samples);
        let names: Vec<_> = rows.iter().map(|row| (row.pacing.name(), row.platform.as_str())).collect();
        assert_eq!(names, [("turns", "mine"), ("turns", "redis"), ("rounds", "redis")]);
        let near = |ratio: &RatioEstimate, expected: f64| (ratio.estimate / expected - 1.0).abs() < 0.01;
        assert!(near(&rows[0].server_to_floor.unwrap(), 1.21), "{:?}", rows[0]);
        assert!(near(&rows[0].to_peers["redis"], 6.05 / 11.95), "{:?}", rows[0]);
        assert!(rows[1].to_peers.is_empty() && rows[2].server_to_floor.is_none());
    }
}
