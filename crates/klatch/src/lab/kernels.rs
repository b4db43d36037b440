//! `klatch lab kernels` and `klatch lab get-kernel`: which kernels the lab can boot.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::ExitCode;

use clap::Args;
use klatch_lab::{Abilities, Architecture, DebianKernels, Kernel, fetched, newest_of_each_series};
use klatch_report::{Column, TextTable};

use super::steps;
use crate::output::print_line;

/// List the kernels that can be booted, and what each can do
#[derive(Args)]
pub(super) struct Kernels {
    /// Also list what Debian has for amd64 or arm64, by default for this program's: the newest release of each series
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = own(), value_name = "ARCHITECTURE")]
    debian: Option<Architecture>,
    /// With --debian: every release
    #[arg(long, requires = "debian")]
    all: bool,
}

/// Get a kernel of Debian's by apt, which checks its signatures
#[derive(Args)]
pub(super) struct GetKernel {
    /// Version, or the start of it: the newest release that begins so; with `:arm64` for that architecture
    #[arg(required = true, value_name = "VERSION")]
    versions: Vec<String>,
}

impl Kernels {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let columns = ["kernel", "where", "sched_ext", "BPF"];
        let mut table = TextTable::new(columns.map(Column::name));
        for kernel in Kernel::all() {
            table.row([&kernel.name(), "pinned", yes(true), yes(true)]);
        }
        let here = fetched()?;
        for one in &here {
            let config = one.config();
            let can = config.as_deref().map(|text| Abilities::of(&String::from_utf8_lossy(text)));
            let word = |has: fn(Abilities) -> bool| can.map_or("unknown", |can| yes(has(can)));
            table.row([&one.release, "got", word(|can| can.sched_ext), word(|can| can.bpf)]);
        }
        if let Some(architecture) = self.debian {
            let all = DebianKernels::read(architecture, steps())?.releases()?;
            let shown = if self.all { all } else { newest_of_each_series(&all) };
            let is_here = |release: &String| here.iter().any(|one| one.release == *release);
            for release in shown.iter().filter(|release| !is_here(release)) {
                table.row([release, "Debian", "", ""]);
            }
        }
        print_line(table);
        if self.debian.is_some() {
            print_line("\n`klatch lab get-kernel VERSION` gets one of Debian's");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl GetKernel {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let mut lists: BTreeMap<Architecture, DebianKernels> = BTreeMap::new();
        for version in &self.versions {
            let architecture = Architecture::of_kernel_name(version);
            let debian = match lists.entry(architecture) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(new) => new.insert(DebianKernels::read(architecture, steps())?),
            };
            let kernel = debian.get(version, steps())?;
            print_line(format_args!(
                "got {release}; boot it with --kernel {release}",
                release = kernel.release
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The architecture of this program.
fn own() -> String {
    Architecture::default().to_string()
}

fn yes(has: bool) -> &'static str {
    if has { "yes" } else { "no" }
}
