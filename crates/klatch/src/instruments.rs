//! `klatch instruments`: availability of each instrument on this kernel.

use std::process::ExitCode;

use clap::Args;
use klatch_instruments::{Kernel, availability, description};
use klatch_record::{Availability, Support};
use klatch_report::{Column, TextTable};

use crate::output::print_line;

/// List what can observe a run on this kernel
#[derive(Args)]
pub(crate) struct Instruments {
    /// Print one JSON object per instrument
    #[arg(long)]
    json: bool,
}

impl Instruments {
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let found = availability(&Kernel::detect());
        if self.json {
            for entry in &found {
                print_line(serde_json::to_string(entry)?);
            }
        } else {
            print_line(table(&found));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn table(found: &[Availability]) -> TextTable {
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
        insta::assert_snapshot!(at_widths(|| format!("{}\n", table(&found))));
    }
}
