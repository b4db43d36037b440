//! The instruments as a table.

use klatch_instruments::description;
use klatch_record::{Availability, Support};

use crate::table::{Column, TextTable};

/// What can observe a run, and what can be done where something cannot: a row for each instrument.
pub fn instruments(found: &[Availability]) -> TextTable {
    let columns = [Column::name("instrument"), Column::words("what it shows"), Column::words("here")];
    let mut table = TextTable::new(columns);
    for entry in found {
        let lines = match &entry.support {
            Support::Usable { base } => vec![format!("usable: {base}")],
            Support::Fallback { base, why, remedy } => {
                vec![format!("fallback: {base}"), format!("cause: {why}"), format!("to change it: {remedy}")]
            }
            Support::NotAvailable { why, remedy } => {
                vec![format!("not available: {why}"), format!("to change it: {remedy}")]
            }
        };
        table.row([entry.instrument.name(), description(entry.instrument), &lines.join("\n")]);
    }
    table
}

#[cfg(test)]
mod tests {
    use klatch_record::InstrumentName;

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn the_list_is_as_it_was_at_three_widths() {
        let (why, remedy) = (
            "perf_event_open is refused: kernel.perf_event_paranoid is 3".to_owned(),
            "run it as root".to_owned(),
        );
        let support = [
            Support::Usable { base: "tracepoint sched:sched_switch".to_owned() },
            Support::Fallback {
                base: "user space alone".to_owned(),
                why: why.clone(),
                remedy: remedy.clone(),
            },
            Support::NotAvailable { why, remedy },
        ];
        let names = [InstrumentName::Runqueue, InstrumentName::Profile, InstrumentName::CacheMisses];
        let found: Vec<Availability> = names
            .into_iter()
            .zip(support)
            .map(|(instrument, support)| Availability { instrument, support })
            .collect();
        insta::assert_snapshot!(at_widths(|| format!("{}\n", instruments(&found))));
    }
}
