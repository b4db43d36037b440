//! The report of a `klatch floor` history: CPU time of servers and crowd over that of bare loopback, session by session.

use std::path::Path;

use klatch_record::{FloorLoad, FloorResult, FloorRow, RatioEstimate};

use super::subject::class_name;
use crate::model::{
    Axis, Chart, ChartKind, Command, Fact, Place, Point, REPORT_SCHEMA_NAME, Report, Section, Standing,
    Verdict,
};
use crate::number::three_digits;

/// Below this number of starts per server, intervals are too wide to be useful.
const STARTS_MIN: usize = 3;
/// Number of sessions with a description of the machine, counted from the last.
const SESSIONS_MAX: usize = 6;

/// The ratio that a chart shows, and the name of the server in its denominator; empty for the loopback.
type Ratio = fn(&FloorRow) -> Option<(RatioEstimate, String)>;

/// Texts of a chart of ratios, and the ratio itself.
struct About {
    id: &'static str,
    title: &'static str,
    caption: &'static str,
    of: Ratio,
}

const CHARTS: [About; 3] = [
    About {
        id: "server-to-floor",
        title: "CPU time of the server per message, over the loopback's part",
        caption: "1 is what sending and receiving alone take.",
        of: |row| Some((row.server_to_floor?, String::new())),
    },
    About {
        id: "server-to-peer",
        title: "CPU time of the server per message, over that of the best server of another project",
        caption: "Below 1 it is cheaper than all of them.",
        of: best_peer,
    },
    About {
        id: "crowd-to-floor",
        title: "CPU time of the crowd per message, over the loopback's part",
        caption: "By the server that it talked to. 1 is what sending and receiving alone take.",
        of: |row| Some((row.crowd_to_floor?, String::new())),
    },
];

/// The report of a history, with its sessions in chronological order.
pub fn floor_history(path: &Path, sessions: &[FloorResult]) -> Report {
    let last = sessions.last();
    let starts = last.iter().flat_map(|last| &last.rows).map(|row| row.server_us.len()).min().unwrap_or(0);
    let standing = match starts {
        0 => Standing::Nothing,
        few if few < STARTS_MIN => Standing::Wide,
        _ => Standing::Valid,
    };
    let shown = &sessions[sessions.len().saturating_sub(SESSIONS_MAX)..];
    Report {
        schema: REPORT_SCHEMA_NAME.to_owned(),
        title: "floor".to_owned(),
        question: "How near do servers and the crowd come to what this machine's loopback itself takes?".to_owned(),
        answer: answer(sessions),
        requirements: Vec::new(),
        verdict: Verdict {
            standing,
            text: match sessions.len() {
                1 => format!("one session, with {starts} starts of each server"),
                several => format!("{several} sessions, the last with {starts} starts of each server"),
            },
        },
        warnings: Vec::new(),
        cells: Vec::new(),
        percentiles: Vec::new(),
        axes: Vec::new(),
        ratios: Vec::new(),
        sections: FloorLoad::ALL.into_iter().filter_map(|load| section(load, sessions)).collect(),
        rules: vec![
            "Every server is started as often as the session has blocks, in random order, server and crowd on a CPU of \
             their own, with a probe of the loopback before each start; ratios are of geometric means, paired by block, \
             with 95 % intervals."
                .to_owned(),
        ],
        runs: Vec::new(),
        environments: shown.iter().map(|session| session.started_at.replace('T', " ")).collect(),
        facts: facts(shown),
        commands: vec![Command {
            what: "another session, which is added to the history".to_owned(),
            line: format!(
                "klatch floor --workload {} --blocks {} --history {}",
                last.map_or_else(Default::default, |last| last.workload),
                starts.max(STARTS_MIN),
                path.display()
            ),
        }],
        instruments: Vec::new(),
        footnotes: Vec::new(),
        sources: vec![path.display().to_string()],
        klatch: last.map(|last| last.klatch.clone()),
        started_at: sessions.first().map(|session| session.started_at.clone()),
        ended_at: last.map(|last| last.started_at.clone()),
    }
}

/// The ratio to the cheapest server of another project; `None` for those servers themselves.
fn best_peer(row: &FloorRow) -> Option<(RatioEstimate, String)> {
    let best = row.to_peers.iter().max_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    best.map(|(peer, ratio)| (*ratio, format!("the best is {peer}")))
}

/// The rows under a load. `ours` leaves out the servers of other projects.
fn rows(session: &FloorResult, load: FloorLoad, ours: bool) -> Vec<&FloorRow> {
    let all = session.rows.iter().filter(|row| row.pacing == load).collect::<Vec<_>>();
    let peer = |row: &FloorRow| all.iter().any(|other| other.to_peers.contains_key(&row.platform));
    all.iter().copied().filter(|row| !ours || !peer(row)).collect()
}

fn answer(sessions: &[FloorResult]) -> String {
    let Some(last) = sessions.last() else { return "No answer: the history is empty.".to_owned() };
    let best = |load: FloorLoad| {
        let with = rows(last, load, true).into_iter().filter_map(|row| Some((row, row.server_to_floor?)));
        let (row, ratio) = with.min_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate))?;
        let peer = best_peer(row).map_or_else(String::new, |(ratio, which)| {
            format!(" and {} as much as another project's server ({which})", times(&ratio))
        });
        Some(format!(
            "Under {} {} takes {} as much CPU time as the loopback's part{peer}.",
            load.name(),
            row.platform,
            times(&ratio)
        ))
    };
    let parts: Vec<String> = FloorLoad::ALL.into_iter().filter_map(best).collect();
    if parts.is_empty() { "No answer: nothing was started twice.".to_owned() } else { parts.join(" ") }
}

fn times(ratio: &RatioEstimate) -> String {
    format!("{:.2} × ({:.2}–{:.2})", ratio.estimate, ratio.low, ratio.high)
}

/// The ratios under a load: bars for the last session, and lines over all sessions if there are several.
fn section(load: FloorLoad, sessions: &[FloorResult]) -> Option<Section> {
    let last = sessions.last()?;
    let mut charts: Vec<Chart> =
        CHARTS.iter().filter_map(|about| bars(about, last, &rows(last, load, false))).collect();
    if sessions.len() > 1 {
        charts.extend(CHARTS.iter().filter_map(|about| lines(about, sessions, load)));
    }
    charts.iter_mut().for_each(|chart| chart.id = format!("{}-{}", load.name(), chart.id));
    let (server_us, crowd_us) = last.least_us(load);
    let of = match &last.exchange {
        Some(exchange) => format!("a request and its reply on {} connections", exchange.connections),
        None => format!("a message in rooms of {}", last.users),
    };
    (!charts.is_empty()).then(|| Section {
        id: load.name().to_owned(),
        title: format!("Under {}", load.name()),
        lead: Some(format!(
            "The loopback's part of {of}, in the last session: {} µs for the server, {} µs for the crowd.",
            three_digits(server_us),
            three_digits(crowd_us)
        )),
        charts,
        tables: Vec::new(),
        flames: Vec::new(),
    })
}

fn bars(about: &About, last: &FloorResult, rows: &[&FloorRow]) -> Option<Chart> {
    let mut points: Vec<Point> = rows
        .iter()
        .filter_map(|row| {
            let class = row.class.map_or(String::new(), |class| format!(" ({})", class_name(Some(class))));
            point(about, row, "", Place::Named(format!("{}{class}", row.platform)))
        })
        .collect();
    points.sort_by(|a, b| a.y.unwrap_or(0.0).total_cmp(&b.y.unwrap_or(0.0)));
    (!points.is_empty()).then(|| Chart {
        id: about.id.to_owned(),
        title: about.title.to_owned(),
        caption: format!("{} The session of {}.", about.caption, date(last)),
        kind: ChartKind::Bars,
        x: Axis::words(""),
        y: Axis::linear("Ratio", ""),
        points,
        marks: Vec::new(),
    })
}

fn lines(about: &About, sessions: &[FloorResult], load: FloorLoad) -> Option<Chart> {
    let mut points = Vec::new();
    for (number, session) in (1_u32..).zip(sessions) {
        for row in rows(session, load, true) {
            let of = point(about, row, &row.platform, Place::At(f64::from(number)));
            let commit = session.klatch.commit.as_deref().unwrap_or("no commit");
            let add_suffix = |detail: Option<String>| {
                let suffix = detail.map_or_else(String::new, |detail| format!("; {detail}"));
                Some(format!("{}, {commit}{suffix}", date(session)))
            };
            points.extend(of.map(|point| Point { detail: add_suffix(point.detail.clone()), ..point }));
        }
    }
    points.sort_by(|a, b| a.series.cmp(&b.series));
    (!points.is_empty()).then(|| Chart {
        id: format!("{}-over-sessions", about.id),
        title: format!("{}: over the sessions", about.title),
        caption: format!("{} Date and commit of each session are in the table.", about.caption),
        kind: ChartKind::Lines,
        x: Axis::linear("session", ""),
        y: Axis::linear("Ratio", ""),
        points,
        marks: Vec::new(),
    })
}

fn point(about: &About, row: &FloorRow, series: &str, place: Place) -> Option<Point> {
    let (ratio, detail) = (about.of)(row)?;
    Some(Point {
        low: Some(ratio.low),
        high: Some(ratio.high),
        n: Some(row.server_us.len() as u64),
        detail: (!detail.is_empty()).then_some(detail),
        ..Point::plain(series, place, ratio.estimate)
    })
}

fn date(session: &FloorResult) -> &str {
    session.started_at.split('T').next().unwrap_or_default()
}

/// The name of a property of a session and its text.
type Part = (&'static str, fn(&FloorResult) -> String);

/// The machine of each of the last sessions.
fn facts(sessions: &[FloorResult]) -> Vec<Fact> {
    let parts: [Part; 7] = [
        ("Klatch", |session| {
            format!("{} {}", session.klatch.version, session.klatch.commit.clone().unwrap_or_default())
        }),
        ("kernel", |session| session.kernel.clone()),
        ("CPU", |session| session.cpu_model.clone().unwrap_or_else(|| "unknown".to_owned())),
        ("CPUs", |session| session.cpus.to_string()),
        ("a call that does nothing", |session| us(session.floor.null_call_us)),
        ("a delivery sent", |session| us(session.floor.delivery_send_us)),
        ("a delivery received", |session| us(session.floor.delivery_receive_us)),
    ];
    let fact = |(name, of): Part| {
        let values: Vec<String> = sessions.iter().map(of).collect();
        Fact { name: name.to_owned(), differs: values.iter().any(|value| *value != values[0]), values }
    };
    parts.into_iter().map(fact).collect()
}

fn us(us: f64) -> String {
    format!("{us:.2} µs")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use klatch_record::{Build, Class, FLOOR_SCHEMA_NAME, LoopbackCost};

    use super::*;

    fn ratio(estimate: f64) -> RatioEstimate {
        RatioEstimate { estimate, low: estimate - 0.1, high: estimate + 0.1, smallest_difference: 0.1 }
    }

    fn row(platform: &str, to_floor: f64, peers: &[(&str, f64)]) -> FloorRow {
        FloorRow {
            platform: platform.into(),
            class: Some(Class::Classic),
            pacing: FloorLoad::Turns,
            server_us: vec![5.0; 3],
            crowd_us: vec![3.0; 3],
            server_to_floor: Some(ratio(to_floor)),
            crowd_to_floor: Some(ratio(1.0)),
            to_peers: peers
                .iter()
                .map(|(peer, of)| ((*peer).to_owned(), ratio(*of)))
                .collect::<BTreeMap<_, _>>(),
        }
    }

    fn session(day: u32, to_floor: f64) -> FloorResult {
        FloorResult {
            workload: klatch_record::WorkloadKind::Chat,
            exchange: None,
            schema: FLOOR_SCHEMA_NAME.into(),
            started_at: format!("2026-11-{day}T10:00:00Z"),
            klatch: Build { version: "0.1.0".into(), commit: Some(format!("c{day}")), ..Build::default() },
            kernel: "6.18".into(),
            cpu_model: None,
            cpus: 2,
            users: 20,
            floor: LoopbackCost {
                null_call_us: 0.1,
                line_send_us: 4.0,
                line_receive_us: 1.0,
                delivery_send_us: 5.0,
                delivery_receive_us: 2.0,
                batch_lines: 19,
                batch_line_send_us: None,
                batch_line_receive_us: None,
                batch_send_us: 9.0,
                batch_receive_us: 3.0,
            },
            rows: vec![
                row("native-epoll", to_floor, &[("redis", 0.8), ("nats", 0.4)]),
                row("redis", 1.6, &[("nats", 0.5)]),
                row("nats", 3.0, &[("redis", 2.0)]),
            ],
        }
    }

    #[test]
    fn ratios_are_bars_of_the_last_session_and_lines_over_all_of_them() {
        let report = floor_history(Path::new("floor.jsonl"), &[session(20, 1.4), session(22, 1.2)]);
        assert_eq!(
            report.answer,
            "Under turns native-epoll takes 1.20 × (1.10–1.30) as much CPU time as the loopback's part and 0.80 × \
             (0.70–0.90) as much as another project's server (the best is redis)."
        );
        let chart =
            |id: &str| report.charts().find(|chart| chart.id == id).unwrap_or_else(|| panic!("no {id}"));
        let bars: Vec<_> = chart("turns-server-to-floor")
            .points
            .iter()
            .map(|point| (point.x.to_string(), point.y))
            .collect();
        let wanted = [("native-epoll (classic)", 1.2), ("redis (classic)", 1.6), ("nats (classic)", 3.0)];
        assert_eq!(bars, wanted.map(|(name, y)| (name.to_owned(), Some(y))));
        let lines = &chart("turns-server-to-peer-over-sessions").points;
        assert_eq!(
            lines.iter().map(|point| (&point.x, point.y)).collect::<Vec<_>>(),
            [(&Place::At(1.0), Some(0.8)), (&Place::At(2.0), Some(0.8))]
        );
        assert_eq!(lines[1].detail.as_deref(), Some("2026-11-22, c22; the best is redis"));
        assert!(
            report.facts.iter().all(|fact| fact.values.len() == 2 && fact.differs == (fact.name == "Klatch"))
        );
    }

    #[test]
    fn a_single_session_has_no_lines_and_an_empty_history_no_answer() {
        let one = floor_history(Path::new("floor.jsonl"), &[session(22, 1.2)]);
        assert!(one.charts().count() == 3 && one.charts().all(|chart| chart.kind == ChartKind::Bars));
        let none = floor_history(Path::new("floor.jsonl"), &[]);
        assert_eq!((none.charts().count(), none.answer.as_str()), (0, "No answer: the history is empty."));
    }
}
