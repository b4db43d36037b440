//! The section of a duet with the lab's count of both sides.

use klatch_record::Duet;

use crate::exact::{method, sentences, tables};
use crate::model::Section;

/// Rows of a table; the JSON of the duet has all.
const ROWS: usize = 20;

/// The section, if the duet has a count or a reason why it has none.
pub(super) fn section(duet: &Duet) -> Option<Section> {
    let (lead, tables) = match (&duet.exact, &duet.uncounted) {
        (Some(count), _) => {
            let lead = format!("{} {}", sentences(duet, count).join(" "), method(duet, count));
            (lead, tables(duet, count, ROWS))
        }
        (None, Some(reason)) => (format!("No exact count: {reason}."), Vec::new()),
        (None, None) => return None,
    };
    Some(Section {
        id: "why-exact".to_owned(),
        title: "Exact count".to_owned(),
        lead: Some(lead),
        tables,
        charts: Vec::new(),
        flames: Vec::new(),
    })
}
