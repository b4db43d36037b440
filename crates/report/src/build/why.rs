//! The section of a duet that says why its sides differ: sentences, tables, and a flame graph of the difference.

use std::path::Path;

use klatch_record::{Duet, ExplainedRow, ExplainedTime, Explanation, STACKS_OF_SIDES};

use super::instruments::flame::flame_of;
use crate::difference::distinct;
use crate::folded;
use crate::model::{Flame, Section};
use crate::why::{method, sentences, tables};

/// Rows of a table; the JSON of the duet has all.
const ROWS: usize = 12;

/// The section, if the duet has an explanation or a reason why it has none.
pub(super) fn section(path: &Path, duet: &Duet) -> Option<Section> {
    let section = |lead: String| Section {
        id: "why".to_owned(),
        title: "Why".to_owned(),
        lead: Some(lead),
        tables: Vec::new(),
        charts: Vec::new(),
        flames: Vec::new(),
    };
    let Some(explanation) = &duet.explanation else {
        return duet.unexplained.as_ref().map(|reason| section(format!("No explanation: {reason}.")));
    };
    let lead = format!("{} ({}.)", sentences(duet, explanation).join(" "), method(explanation));
    Some(Section {
        tables: tables(duet, explanation, ROWS, false),
        flames: flame(path, duet, explanation).into_iter().collect(),
        ..section(lead)
    })
}

/// The flame graph of the difference, from the stacks beside the duet.
fn flame(path: &Path, duet: &Duet, explanation: &Explanation) -> Option<Flame> {
    let folder = if path.is_file() { path.parent()? } else { path };
    let [a, b] = STACKS_OF_SIDES.map(|file| std::fs::read_to_string(folder.join(file)).ok());
    let texts = [a?, b?];
    let times: [fn(&ExplainedRow) -> f64; 2] = [|row| row.a_us, |row| row.b_us];
    let weights = |side: usize| {
        let ns = |time: &Option<ExplainedTime>| {
            time.as_ref().map_or(0.0, |time| time.areas.iter().map(times[side]).sum::<f64>() * 1e3)
        };
        let of = |prefix: &str, ns: f64| {
            let stacks: Vec<(&str, u64)> =
                folded::stacks(&texts[side]).filter(|(stack, _)| stack.starts_with(prefix)).collect();
            let all = stacks.iter().map(|(_, count)| count).sum::<u64>().max(1) as f64;
            stacks.into_iter().map(|(stack, count)| (stack, ns * count as f64 / all)).collect::<Vec<_>>()
        };
        let mut all = of("server;", ns(&explanation.time.server));
        all.extend(of("crowd;", ns(&explanation.time.crowd)));
        all
    };
    let (root, routines) = flame_of([weights(0), weights(1)], true);
    let [a, b] = distinct([&duet.a.name, &duet.b.name]);
    (root.samples > 0).then(|| Flame {
        id: "flame-difference".to_owned(),
        title: "Flame graph of the difference".to_owned(),
        caption: format!(
            "CPU time per {} by call stack. The width is the mean of both sides; red takes more in {b}, blue more in {a}.",
            crate::duet::sides(duet).unit
        ),
        unit: "ns".to_owned(),
        root,
        routines,
    })
}
