//! The kernels of the lab as a table.

use klatch_lab::{Abilities, Fetched, Kernel};

use crate::table::{Column, TextTable};

/// A row for each kernel that can be booted, with what it can do, and for each release of Debian's that is not here.
pub fn kernels(here: &[Fetched], of_debian: &[String]) -> TextTable {
    let columns = ["kernel", "where", "sched_ext", "BPF"];
    let mut table = TextTable::new(columns.map(Column::name));
    for kernel in Kernel::all() {
        table.row([&kernel.name(), "pinned", yes(true), yes(true)]);
    }
    for one in here {
        let config = one.config();
        let can = config.as_deref().map(|text| Abilities::of(&String::from_utf8_lossy(text)));
        let word = |has: fn(Abilities) -> bool| can.map_or("unknown", |can| yes(has(can)));
        table.row([&one.release, "got", word(|can| can.sched_ext), word(|can| can.bpf)]);
    }
    let is_here = |release: &String| here.iter().any(|one| one.release == *release);
    for release in of_debian.iter().filter(|release| !is_here(release)) {
        table.row([release, "Debian", "", ""]);
    }
    table
}

fn yes(has: bool) -> &'static str {
    if has { "yes" } else { "no" }
}
