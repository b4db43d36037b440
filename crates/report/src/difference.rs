//! The ratio of two sides in words: who needs how much less of what than whom.

use klatch_record::{Metric, Quantity, RatioEstimate};

use crate::model::SectionTable;
use crate::table::{Column, TextTable};

/// Names of the two sides, and the unit of their work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sides<'a> {
    /// Base of the ratios.
    pub(crate) a: &'a str,
    pub(crate) b: &'a str,
    /// One operation of the workload: `message`, `request`.
    pub(crate) unit: &'a str,
}

/// A metric within a sentence: `needs`, `less`, `server CPU per message`.
struct Phrase {
    verb: &'static str,
    /// More and less of it.
    words: [&'static str; 2],
    noun: String,
}

fn phrase(metric: &str, unit: &str) -> Phrase {
    let (much, many, high) = (["more", "less"], ["more", "fewer"], ["higher", "lower"]);
    let Some(metric) = Metric::named(metric) else {
        return Phrase { verb: "has", words: much, noun: metric.to_owned() };
    };
    let (verb, words) = match metric.quantity {
        Quantity::Rate => ("carries", many),
        Quantity::Latency | Quantity::QueueTime | Quantity::Share => ("has", high),
        Quantity::CpuTime | Quantity::Seconds | Quantity::Bytes | Quantity::Number => ("needs", much),
    };
    let noun = match metric.quantity {
        Quantity::Rate => format!("{unit}s/s"),
        _ => metric.title_of(unit),
    };
    Phrase { verb, words, noun }
}

/// The conclusion that a ratio allows, as a sentence without a full stop: `x needs 19 % less server CPU per request than y (17–21 %)`.
pub(crate) fn sentence(metric: &str, ratio: &RatioEstimate, confidence: f64, sides: Sides<'_>) -> String {
    let Sides { a, b, unit } = sides;
    let Phrase { verb, words: [more, less], noun } = phrase(metric, unit);
    if !ratio.shows_difference() {
        return format!(
            "no difference between {b} and {a} in {noun} can be shown; {}",
            resolvable(
                ratio,
                "this data would show one of ",
                " or more",
                "there are too few values to show any"
            )
        );
    }
    let level = level(confidence);
    match Change::of(ratio) {
        Change::Times { text, interval } => {
            format!("{b} {verb} {text} × the {noun} of {a} ({interval}{level})")
        }
        Change::Percent { text, interval, is_more } => {
            let word = if is_more { more } else { less };
            let article = if word == "higher" || word == "lower" { "a " } else { "" };
            format!("{b} {verb} {article}{text} {word} {noun} than {a} ({interval}{level})")
        }
    }
}

/// The conclusion in a row of a table whose head names the sides: `19 % less (17–21 %)`.
pub(crate) fn short(metric: &str, ratio: &RatioEstimate, confidence: f64) -> String {
    let [more, less] = phrase(metric, "").words;
    if !ratio.shows_difference() {
        let resolvable = resolvable(ratio, "", " or more would show", "too few values to show any");
        return format!("no difference shown; {resolvable}");
    }
    let level = level(confidence);
    match Change::of(ratio) {
        Change::Times { text, interval } => format!("{text} × as much ({interval}{level})"),
        Change::Percent { text, interval, is_more } => {
            format!("{text} {} ({interval}{level})", if is_more { more } else { less })
        }
    }
}

/// Largest factor that is worth a number.
const FACTOR_MAX: f64 = 99.0;

/// How far B is from A.
enum Change {
    /// From double on, a factor.
    Times {
        text: String,
        interval: String,
    },
    Percent {
        text: String,
        interval: String,
        is_more: bool,
    },
}

impl Change {
    fn of(ratio: &RatioEstimate) -> Change {
        let RatioEstimate { estimate, low, high, .. } = *ratio;
        if estimate >= 2.0 {
            let digits = digits(low, high);
            let number = |value: f64| format!("{value:.digits$}");
            return Change::Times {
                text: number(estimate),
                interval: format!("{}–{}", number(low), number(high)),
            };
        }
        let is_more = estimate > 1.0;
        let part = |ratio: f64| if is_more { ratio - 1.0 } else { 1.0 - ratio } * 100.0;
        let (near, far) = if is_more { (part(low), part(high)) } else { (part(high), part(low)) };
        // An end that rounds to 0 would contradict the sentence.
        let digits = (digits(near, far)..5).find(|digits| near >= 0.5 * 10f64.powi(-(*digits as i32)));
        let digits = digits.unwrap_or(5);
        let number = |value: f64| format!("{value:.digits$}");
        Change::Percent {
            text: format!("{} %", number(part(estimate))),
            interval: format!("{}–{} %", number(near), number(far)),
            is_more,
        }
    }
}

/// The smallest difference that would show, between two texts: a share, from double on a factor. `none` stands for one beyond all use.
fn resolvable(ratio: &RatioEstimate, before: &str, after: &str, none: &str) -> String {
    match ratio.smallest_difference {
        part if part < 1.0 => format!("{before}{}{after}", percent(part)),
        part if part < FACTOR_MAX => format!("{before}{:.1} ×{after}", 1.0 + part),
        _ => none.to_owned(),
    }
}

/// Digits after the point that distinguish the ends of an interval.
fn digits(low: f64, high: f64) -> usize {
    (-((high - low) / 2.0).log10().floor()).clamp(0.0, 5.0) as usize
}

/// The level of an interval; nothing for the usual one.
fn level(confidence: f64) -> String {
    let percent = (confidence * 1e4).round() / 1e2;
    if percent == 95.0 { String::new() } else { format!(", {percent} % interval") }
}

/// Formats a share as a percentage with two digits.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Two names, each without what both have in common: of two variants of one platform, the knobs that differ.
pub(crate) fn distinct([a, b]: [&str; 2]) -> [String; 2] {
    let knobs = |name: &str| -> Option<(String, Vec<String>)> {
        let (platform, knobs) = name.split_once(':').filter(|(_, knobs)| knobs.contains('='))?;
        Some((platform.to_owned(), knobs.split(',').map(str::to_owned).collect()))
    };
    let whole = [a, b].map(str::to_owned);
    let (Some((one, a)), Some((other, b))) = (knobs(a), knobs(b)) else { return whole };
    let own = |side: &[String], of: &[String]| {
        let own: Vec<&str> = side.iter().filter(|knob| !of.contains(knob)).map(String::as_str).collect();
        own.join(",")
    };
    let names = [own(&a, &b), own(&b, &a)];
    if one == other && names.iter().all(|name| !name.is_empty()) { names } else { whole }
}

/// A metric as the name of a row: `server CPU per request`.
pub(crate) fn noun(metric: &str, unit: &str) -> String {
    phrase(metric, unit).noun
}

/// Tables of both sides as text, each under its heading.
pub(crate) fn text_of(tables: impl IntoIterator<Item = SectionTable>) -> String {
    let text = |SectionTable { title, mut head, rows, .. }: SectionTable| {
        head[0] = title;
        let columns = head.into_iter().enumerate().map(|(at, title)| match at {
            0 => Column::name(title),
            // Of a narrow terminal the values of both sides give way to their difference.
            1 | 2 => Column::number(title).less(1),
            _ => Column::number(title),
        });
        let mut table = TextTable::new(columns);
        rows.into_iter().for_each(|row| table.row(row));
        format!("\n{table}\n")
    };
    tables.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDES: Sides<'_> =
        Sides { a: "jetty@25:threads=platform", b: "jetty@25:threads=virtual", unit: "request" };

    fn ratio(low: f64, high: f64) -> RatioEstimate {
        RatioEstimate { estimate: f64::sqrt(low * high), low, high, smallest_difference: 0.041 }
    }

    #[test]
    fn a_difference_is_who_needs_how_much_less_of_what_than_whom() {
        let said = |metric, low, high| sentence(metric, &ratio(low, high), 0.95, SIDES);
        let cpu = "server_cpu_us_per_message";
        assert_eq!(
            said(cpu, 0.79, 0.83),
            "jetty@25:threads=virtual needs 19 % less server CPU per request than jetty@25:threads=platform (17–21 %)"
        );
        assert_eq!(
            said("messages_per_s", 1.271, 1.379),
            "jetty@25:threads=virtual carries 32 % more requests/s than jetty@25:threads=platform (27–38 %)"
        );
        assert_eq!(
            said("latency_p99_us", 3.0, 3.3),
            "jetty@25:threads=virtual has 3.1 × the p99 latency of jetty@25:threads=platform (3.0–3.3)"
        );
        assert_eq!(
            said(cpu, 0.98, 1.04),
            "no difference between jetty@25:threads=virtual and jetty@25:threads=platform in server CPU per request \
             can be shown; this data would show one of 4.1 % or more"
        );
    }

    #[test]
    fn the_digits_follow_from_the_interval() {
        let short = |low, high, confidence| short("cpu_us_per_message", &ratio(low, high), confidence);
        assert_eq!(short(1.0032, 1.0050, 0.999), "0.41 % more (0.32–0.50 %, 99.9 % interval)");
        assert_eq!(short(1.001, 1.08, 0.95), "4.0 % more (0.1–8.0 %)");
        assert_eq!(short(0.2, 0.5, 0.95), "68 % less (50–80 %)");
        assert_eq!(short(0.9, 1.2, 0.95), "no difference shown; 4.1 % or more would show");
        let coarse = |smallest_difference| RatioEstimate { smallest_difference, ..ratio(0.5, 2.0) };
        let short = |smallest| super::short("latency_p99_us", &coarse(smallest), 0.95);
        assert_eq!(short(6.5), "no difference shown; 7.5 × or more would show");
        assert_eq!(short(236_741.0), "no difference shown; too few values to show any");
        assert_eq!((percent(0.004), percent(0.256)), ("0.4 %".to_owned(), "26 %".to_owned()));
    }

    #[test]
    fn variants_of_one_platform_differ_in_their_knobs() {
        assert_eq!(distinct([SIDES.a, SIDES.b]), ["threads=platform", "threads=virtual"]);
        assert_eq!(distinct(["x:gc=g1,heap=1g", "x:gc=zgc,heap=1g"]), ["gc=g1", "gc=zgc"]);
        assert_eq!(
            distinct(["native-epoll", "native-epoll:loops=2"]),
            ["native-epoll", "native-epoll:loops=2"]
        );
        assert_eq!(distinct(["127.0.0.1:1", "127.0.0.1:2"]), ["127.0.0.1:1", "127.0.0.1:2"]);
    }
}
