//! Which parts of the CPU time of two sides differ, from what was observed of their starts.

use std::collections::{BTreeMap, BTreeSet};

use klatch_instruments::{PairSampler, Places};
use klatch_record::observed::Sides;
use klatch_record::{
    ExplainedCount, ExplainedRow, ExplainedTime, Explanation, RatioEstimate, purpose_of_call,
};
use klatch_stats::{Design, Difference, Ratio, Row, StatsError, differences, ratio_of_geometric_means};

use crate::duet::estimate::STARTS_MIN;
use crate::duet::observe::{CountName, Seen, SideSeen, TimeSeen};

/// Places with a smaller share of the time of both sides share a row.
const SHARE_MIN: f64 = 0.005;
/// Rows of a list, the largest.
const ROWS_MAX: usize = 60;
/// The row of all places that are too small for their own.
const OTHERS: &str = "all others";
/// Lists of an explanation: four of server and crowd each, and the counts.
const LISTS: u32 = 9;
/// What happens less often than this per message on both sides is no row.
const COUNT_MIN: f64 = 1e-4;

/// The explanation after these starts; `None` if they are too few.
///
/// # Errors
/// A confidence that is none.
pub(crate) fn explanation(seen: &Seen, confidence: f64) -> Result<Option<Explanation>, StatsError> {
    if seen.starts.len() < STARTS_MIN {
        return Ok(None);
    }
    let of = |select: fn(&SideSeen) -> Option<&TimeSeen>| {
        // A start without a sample says nothing of where the time went.
        let starts: Vec<[&TimeSeen; 2]> = seen
            .starts
            .iter()
            .filter_map(|[a, b]| Some([select(a)?, select(b)?]))
            .filter(|sides| sides.iter().all(|side| side.places.samples > 0))
            .collect();
        (starts.len() >= STARTS_MIN).then(|| explained_time(&starts, confidence)).transpose()
    };
    let samples = |side: &SideSeen| {
        let times = [&side.time.server, &side.time.crowd];
        times.into_iter().flatten().map(|time| time.places.samples).sum::<u64>()
    };
    Ok(Some(Explanation {
        frequency_hz: PairSampler::FREQUENCY_HZ,
        samples: seen.starts.iter().flatten().map(samples).sum(),
        starts: seen.starts.len() as u32,
        cost_share: seen.cost_s.filter(|_| seen.sampled_s > 0.0).map(|cost_s| cost_s / seen.sampled_s),
        time: Sides {
            server: of(|side| side.time.server.as_ref())?,
            crowd: of(|side| side.time.crowd.as_ref())?,
        },
        counts: counts(&seen.starts, confidence)?,
    }))
}

type PlacesOf = fn(&Places) -> BTreeMap<String, u64>;

fn explained_time(starts: &[[&TimeSeen; 2]], confidence: f64) -> Result<ExplainedTime, StatsError> {
    let list = |of: PlacesOf| rows(starts, of, confidence);
    Ok(ExplainedTime {
        areas: list(|places| places.areas.clone())?,
        calls: list(|places| places.calls.clone())?,
        purposes: list(|places| purposes(&places.calls))?,
        routines: list(|places| places.routines.clone())?,
    })
}

/// The samples of these system calls by what the calls are for.
fn purposes(calls: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut purposes = BTreeMap::new();
    for (call, samples) in calls {
        let purpose = purpose_of_call(call).unwrap_or(call);
        *purposes.entry(purpose.to_owned()).or_default() += samples;
    }
    purposes
}

/// The time in a place per message, µs: A and B of each start.
type Times = Vec<[f64; 2]>;

fn rows(starts: &[[&TimeSeen; 2]], of: PlacesOf, confidence: f64) -> Result<Vec<ExplainedRow>, StatsError> {
    let lists: Vec<[BTreeMap<String, u64>; 2]> =
        starts.iter().map(|[a, b]| [of(&a.places), of(&b.places)]).collect();
    let names: BTreeSet<&String> = lists.iter().flatten().flat_map(|list| list.keys()).collect();
    let times = |name: &str| -> Times {
        let one = |side: &TimeSeen, list: &BTreeMap<String, u64>| {
            let count = list.get(name).copied().unwrap_or(0);
            side.cpu_us * count as f64 / side.places.samples as f64
        };
        let both = starts.iter().zip(&lists);
        both.map(|(start, list)| [one(start[0], &list[0]), one(start[1], &list[1])]).collect()
    };
    let all = [0, 1].map(|side| mean(starts.iter().map(|start| start[side].cpu_us)));
    let is_large = |times: &Times| (0..2).any(|side| mean_of(times, side) >= SHARE_MIN * all[side]);
    let mut large: Vec<(String, Times)> = Vec::new();
    let mut others: Times = vec![[0.0; 2]; starts.len()];
    let mut of_names: Vec<(String, Times)> =
        names.into_iter().map(|name| (name.clone(), times(name))).collect();
    let size = |times: &Times| mean_of(times, 0).max(mean_of(times, 1));
    of_names.sort_by(|x, y| size(&y.1).total_cmp(&size(&x.1)));
    for (name, times) in of_names {
        if large.len() < ROWS_MAX && is_large(&times) {
            large.push((name, times));
            continue;
        }
        for (sum, [a, b]) in others.iter_mut().zip(times) {
            (sum[0], sum[1]) = (sum[0] + a, sum[1] + b);
        }
    }
    if size(&others) > 0.0 {
        large.push((OTHERS.to_owned(), others));
    }
    let samples = [0, 1].map(|side| starts.iter().map(|start| start[side].places.samples).sum::<u64>());
    // Of so many samples a share of them has a binomial error.
    let error = |times: &Times, side: usize| {
        let share = (mean_of(times, side) / all[side]).clamp(0.0, 1.0);
        all[side] * (share * (1.0 - share) / samples[side] as f64).sqrt()
    };
    let pairs: Vec<(Vec<f64>, f64)> = large
        .iter()
        .map(|(_, times)| {
            (times.iter().map(|[a, b]| b - a).collect(), error(times, 0).hypot(error(times, 1)))
        })
        .collect();
    let tested: Vec<Row<'_>> = pairs
        .iter()
        .map(|(differences, least_error)| Row { differences, least_error: *least_error })
        .collect();
    let found = differences(&tested, confidence, LISTS)?;
    let mut rows: Vec<ExplainedRow> = large
        .into_iter()
        .zip(found)
        .map(|((name, times), Difference { interval, shows, is_shown })| ExplainedRow {
            name,
            a_us: mean_of(&times, 0),
            b_us: mean_of(&times, 1),
            difference_us: interval.estimate,
            low_us: interval.low,
            high_us: interval.high,
            shows_us: shows,
            is_shown,
        })
        .collect();
    let rank = |row: &ExplainedRow| (row.is_shown, row.name != OTHERS, row.difference_us.abs());
    rows.sort_by(|x, y| rank(y).partial_cmp(&rank(x)).unwrap_or(std::cmp::Ordering::Equal));
    Ok(rows)
}

fn counts(starts: &[[SideSeen; 2]], confidence: f64) -> Result<Vec<ExplainedCount>, StatsError> {
    let names: BTreeSet<&CountName> = starts.iter().flatten().flat_map(|side| side.counts.keys()).collect();
    let values = |name: &CountName| -> Times {
        let one = |side: &SideSeen| side.counts.get(name).copied().unwrap_or(0.0);
        starts.iter().map(|[a, b]| [one(a), one(b)]).collect()
    };
    let all: Vec<(&CountName, Times)> = names
        .into_iter()
        .map(|name| (name, values(name)))
        .filter(|(_, values)| (0..2).any(|side| mean_of(values, side) >= COUNT_MIN))
        .collect();
    let is_positive = |values: &Times| values.iter().flatten().all(|value| *value > 0.0);
    let change = |values: &Times| -> Vec<f64> {
        let is_positive = is_positive(values);
        values.iter().map(|[a, b]| if is_positive { (b / a).ln() } else { b - a }).collect()
    };
    let changes: Vec<Vec<f64>> = all.iter().map(|(_, values)| change(values)).collect();
    let tested: Vec<Row<'_>> =
        changes.iter().map(|differences| Row { differences, least_error: 0.0 }).collect();
    let found = differences(&tested, confidence, LISTS)?;
    let mut counts = Vec::new();
    for ((name, values), found) in all.into_iter().zip(found) {
        let side = |place: usize| values.iter().map(|both| both[place]).collect::<Vec<f64>>();
        let ratio = is_positive(&values).then(|| ratio(&side(0), &side(1), confidence)).flatten();
        counts.push(ExplainedCount {
            by: name.0,
            name: name.1.clone(),
            a: mean_of(&values, 0),
            b: mean_of(&values, 1),
            ratio,
            is_shown: found.is_shown,
        });
    }
    // What changed most often per message first; those that did not keep the order of their names.
    counts.sort_by(|x, y| x.by.cmp(&y.by).then((y.b - y.a).abs().total_cmp(&(x.b - x.a).abs())));
    Ok(counts)
}

/// The ratio of counts that are above 0. Those that are the same in all starts are exact.
fn ratio(a: &[f64], b: &[f64], confidence: f64) -> Option<RatioEstimate> {
    match ratio_of_geometric_means(a, b, Design::Paired, confidence) {
        Ok(Ratio { interval, smallest_difference }) => Some(RatioEstimate {
            estimate: interval.estimate,
            low: interval.low,
            high: interval.high,
            smallest_difference,
        }),
        Err(StatsError::NoScatter) => {
            let estimate = mean(b.iter().copied()) / mean(a.iter().copied());
            Some(RatioEstimate { estimate, low: estimate, high: estimate, smallest_difference: 0.0 })
        }
        Err(_) => None,
    }
}

fn mean_of(times: &Times, side: usize) -> f64 {
    mean(times.iter().map(|time| time[side]))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::ExplainedProcess;

    /// A start of a server that takes 4 µs, of which `in_write` in `write`, and a little more in each later start.
    fn side(start: u64, in_write: u64, writes: f64) -> SideSeen {
        let map =
            |all: &[(&str, u64)]| all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let rest = 4_000 - in_write - start;
        let places = Places {
            samples: 4_000,
            areas: map(&[("network", in_write + start), ("program", rest)]),
            calls: map(&[("write", in_write + start), ("program", rest - 10), ("futex", 10)]),
            routines: map(&[("f", 4_000)]),
        };
        let counts = BTreeMap::from([((ExplainedProcess::Server, "calls of write".to_owned()), writes)]);
        SideSeen { time: Sides { server: Some(TimeSeen { cpu_us: 4.0, places }), crowd: None }, counts }
    }

    fn seen(starts: u64, in_write: [u64; 2]) -> Seen {
        let start = |start| [side(start * 3, in_write[0], 0.3), side(start * 5, in_write[1], 1.0)];
        Seen {
            starts: (0..starts).map(start).collect(),
            sampled_s: 10.0,
            cost_s: Some(0.1),
            ..Seen::default()
        }
    }

    #[test]
    fn the_rows_of_each_list_add_up_to_the_difference() {
        let explanation = explanation(&seen(6, [1_000, 2_000]), 0.95).unwrap().unwrap();
        let time = explanation.time.server.as_ref().unwrap();
        let write = time.calls.iter().find(|row| row.name == "write").unwrap();
        assert!(write.is_shown, "{write:?}");
        assert!(
            (write.a_us - 1.0075).abs() < 1e-9 && (write.difference_us - 1.005).abs() < 1e-9,
            "{write:?}"
        );
        assert!(write.low_us > 0.9 && write.high_us < 1.1, "{write:?}");
        for rows in [&time.areas, &time.calls, &time.purposes, &time.routines] {
            assert!(rows.iter().map(|row| row.difference_us).sum::<f64>().abs() < 1e-9, "both take 4 µs");
        }
        // 10 of 4,000 samples are too few for a row.
        assert!(time.calls.iter().any(|row| row.name == OTHERS && (row.a_us - 0.01).abs() < 1e-9));
        assert_eq!(time.routines[0].name, "f");
        assert!(!time.routines[0].is_shown && explanation.time.crowd.is_none());
        let count = &explanation.counts[0];
        assert!((count.ratio.map_or(0.0, |ratio| ratio.estimate) - 1.0 / 0.3).abs() < 1e-6, "{count:?}");
        assert_eq!((explanation.samples, explanation.cost_share), (48_000, Some(0.01)));
    }

    #[test]
    fn calls_that_send_are_one_purpose_whatever_their_names() {
        let mut seen = seen(6, [2_000, 1_500]);
        for [a, _] in &mut seen.starts {
            let calls = &mut a.time.server.as_mut().unwrap().places.calls;
            let sent = calls.remove("write").unwrap();
            calls.insert("sendto".to_owned(), sent);
        }
        let time = explanation(&seen, 0.95).unwrap().unwrap().time.server.unwrap();
        let of = |rows: &[ExplainedRow], name: &str| {
            rows.iter().find(|row| row.name == name).map(|row| row.difference_us)
        };
        assert!(of(&time.calls, "sendto").unwrap() < -1.9 && of(&time.calls, "write").unwrap() > 1.4);
        let sending = of(&time.purposes, "sending").unwrap();
        assert!(sending < -0.4 && sending > -0.6, "{sending}");
        assert!(
            time.purposes.iter().map(|row| row.difference_us).sum::<f64>().abs() < 1e-9,
            "all of the time"
        );
    }

    #[test]
    fn equal_sides_show_nothing_and_two_starts_explain_nothing() {
        let none = explanation(&seen(6, [1_000, 1_000]), 0.95).unwrap().unwrap();
        let time = none.time.server.unwrap();
        assert!(time.areas.iter().chain(&time.calls).all(|row| !row.is_shown), "{time:?}");
        assert_eq!(explanation(&seen(2, [1_000, 2_000]), 0.95).unwrap(), None);
    }
}
