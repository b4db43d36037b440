//! `klatch lab kernels` and `klatch lab get-kernel`: which kernels the lab can boot.

use std::process::ExitCode;

use clap::Args;
use klatch_lab::{Abilities, DebianKernels, Kernel, fetched, newest_of_each_series};
use klatch_report::{Column, TextTable};

use super::steps;
use crate::output::print_line;

/// List the kernels that can be booted, and what each can do
#[derive(Args)]
pub(super) struct Kernels {
    /// Also list what Debian has: the newest release of each series
    #[arg(long)]
    debian: bool,
    /// With --debian: every release
    #[arg(long, requires = "debian")]
    all: bool,
}

/// Get a kernel of Debian's by apt, which checks its signatures
#[derive(Args)]
pub(super) struct GetKernel {
    /// Version, or the start of it: the newest release that begins so
    #[arg(required = true, value_name = "VERSION")]
    versions: Vec<String>,
}

impl Kernels {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let columns = ["kernel", "where", "sched_ext", "BPF"];
        let mut table = TextTable::new(columns.map(Column::name));
        for kernel in Kernel::all() {
            table.row([kernel.name, "pinned", yes(true), yes(true)]);
        }
        let here = fetched()?;
        for one in &here {
            let config = one.config();
            let can = config.as_deref().map(|text| Abilities::of(&String::from_utf8_lossy(text)));
            let word = |has: fn(Abilities) -> bool| can.map_or("unknown", |can| yes(has(can)));
            table.row([&one.release, "got", word(|can| can.sched_ext), word(|can| can.bpf)]);
        }
        if self.debian {
            let all = DebianKernels::read(steps())?.releases()?;
            let shown = if self.all { all } else { newest_of_each_series(&all) };
            let is_here = |release: &String| here.iter().any(|one| one.release == *release);
            for release in shown.iter().filter(|release| !is_here(release)) {
                table.row([release, "Debian", "", ""]);
            }
        }
        print_line(table);
        if self.debian {
            print_line("\n`klatch lab get-kernel VERSION` gets one of Debian's");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl GetKernel {
    pub(super) fn execute(self) -> anyhow::Result<ExitCode> {
        let debian = DebianKernels::read(steps())?;
        for version in &self.versions {
            let kernel = debian.get(version, steps())?;
            print_line(format_args!(
                "got {release}; boot it with --kernel {release}",
                release = kernel.release
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn yes(has: bool) -> &'static str {
    if has { "yes" } else { "no" }
}
