//! Many differences at once: which of them are more than chance.

use crate::error::enough;
use crate::summary::{mean, variance};
use crate::t::{t_probability, t_two_sided};
use crate::{Interval, StatsError};

/// The differences of one of many quantities.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// B less A of each pair.
    pub differences: &'a [f64],
    /// The least standard error that their mean can have, as what was counted is a sample; 0 if nothing limits it.
    pub least_error: f64,
}

/// The mean difference of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its mean over the pairs, with the interval of this quantity alone.
    pub interval: Interval,
    /// From this size on the mean would be shown, whatever the others are.
    pub shows: f64,
    /// Whether it is more than chance, among all that were looked at.
    pub is_shown: bool,
}

/// Student's intervals of the mean differences, and which are shown, in one of so many lists that are looked at together. Where nothing differs,
/// one or more are shown in any of the lists in at most `1 - confidence` of all cases, however many quantities there are (Holm 1979, Scandinavian
/// Journal of Statistics 6(2), within a list; Bonferroni over the lists).
///
/// # Errors
/// Fewer than three pairs, a number that is not finite, or a confidence that is none.
pub fn differences(rows: &[Row<'_>], confidence: f64, lists: u32) -> Result<Vec<Difference>, StatsError> {
    let of_list = (1.0 - confidence) / f64::from(lists);
    let mut probabilities = Vec::new();
    let mut all = Vec::new();
    for row in rows {
        enough(row.differences, 3)?;
        let count = row.differences.len() as f64;
        let estimate = mean(row.differences);
        let error = (variance(row.differences) / count).sqrt().max(row.least_error);
        let reach = t_two_sided(confidence, count - 1.0)? * error;
        let of_all = 1.0 - of_list / rows.len() as f64;
        let shows = t_two_sided(of_all, count - 1.0)? * error;
        let interval = Interval { estimate, low: estimate - reach, high: estimate + reach, confidence };
        probabilities.push(match error > 0.0 {
            true => t_probability(estimate / error, count - 1.0),
            false => f64::from(u8::from(estimate == 0.0)),
        });
        all.push(Difference { interval, shows, is_shown: false });
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|x, y| probabilities[*x].total_cmp(&probabilities[*y]));
    for (tested, place) in order.into_iter().enumerate() {
        if probabilities[place] > of_list / (rows.len() - tested) as f64 {
            break;
        }
        all[place].is_shown = true;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: usize = 40;

    /// Twelve uniform numbers less six are about normal.
    fn normal(rng: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// How many of 40 rows are shown, of which the first differs by `difference` standard deviations.
    fn shown(rng: &mut fastrand::Rng, pairs: usize, difference: f64) -> [usize; 2] {
        let shift = |row: usize| if row == 0 { difference } else { 0.0 };
        let values: Vec<Vec<f64>> =
            (0..ROWS).map(|row| (0..pairs).map(|_| normal(rng) + shift(row)).collect()).collect();
        let rows: Vec<Row<'_>> =
            values.iter().map(|differences| Row { differences, least_error: 0.0 }).collect();
        let all = differences(&rows, 0.95, 1).unwrap();
        let count = |rows: &[Difference]| rows.iter().filter(|row| row.is_shown).count();
        [count(&all[..1]), count(&all[1..])]
    }

    #[test]
    fn of_rows_without_a_difference_one_is_shown_in_one_case_of_twenty() {
        let mut rng = fastrand::Rng::with_seed(11);
        for pairs in [5, 20] {
            let cases = 2_000;
            let wrong = (0..cases).filter(|_| shown(&mut rng, pairs, 0.0) != [0, 0]).count();
            println!("{wrong} of {cases} with {pairs} pairs");
            assert!((60..=140).contains(&wrong), "{wrong} of {cases} with {pairs} pairs");
        }
    }

    #[test]
    fn of_nine_lists_without_a_difference_one_is_shown_in_one_case_of_twenty() {
        let mut rng = fastrand::Rng::with_seed(13);
        let mut wrong = 0;
        for _ in 0..1_000 {
            let is_shown = |rng: &mut fastrand::Rng| {
                let values: Vec<Vec<f64>> =
                    (0..ROWS).map(|_| (0..20).map(|_| normal(rng)).collect()).collect();
                let rows: Vec<Row<'_>> =
                    values.iter().map(|differences| Row { differences, least_error: 0.0 }).collect();
                differences(&rows, 0.95, 9).unwrap().iter().any(|row| row.is_shown)
            };
            wrong += u32::from((0..9).any(|_| is_shown(&mut rng)));
        }
        println!("{wrong} of 1000 with nine lists");
        assert!((25..=80).contains(&wrong), "{wrong} of 1000");
    }

    #[test]
    fn a_difference_of_two_deviations_is_shown_among_forty_rows() {
        let mut rng = fastrand::Rng::with_seed(12);
        let all: Vec<[usize; 2]> = (0..200).map(|_| shown(&mut rng, 20, 2.0)).collect();
        assert!(all.iter().filter(|shown| shown[0] == 1).count() >= 195);
        assert!(all.iter().filter(|shown| shown[1] > 0).count() <= 20);
    }

    #[test]
    fn the_error_of_the_samples_is_the_least() {
        let row = |least_error| Row { differences: &[1.0, 1.0, 1.0], least_error };
        let of = |least_error| differences(&[row(least_error)], 0.95, 1).unwrap()[0];
        assert!(of(0.0).is_shown && !of(1.0).is_shown);
        assert!((of(1.0).shows - of(1.0).interval.half_width()).abs() < 1e-12, "one row alone");
        let one = Row { differences: &[1.0, 2.0, 3.0], least_error: 0.0 };
        let both = differences(&[one, one], 0.95, 1).unwrap()[0];
        // t with two degrees of freedom at 97.5 %, both sides.
        assert!((both.shows - 6.205_346_8 * 1.0 / 3_f64.sqrt()).abs() < 1e-6, "{both:?}");
        assert!((of(1.0).interval.half_width() - 4.302_652_7).abs() < 1e-6, "t with two degrees of freedom");
        let none = Row { differences: &[0.0; 3], least_error: 0.0 };
        assert!(!differences(&[none], 0.95, 1).unwrap()[0].is_shown);
        assert_eq!(
            differences(&[Row { differences: &[1.0], least_error: 0.0 }], 0.95, 1),
            Err(StatsError::TooFew { needed: 3, got: 1 })
        );
    }
}
