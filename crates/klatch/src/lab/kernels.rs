//! `klatch lab kernels` and `klatch lab get-kernel`: which kernels the lab can boot.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::process::ExitCode;

use clap::Args;
use klatch_lab::{Architecture, DebianKernels, fetched, newest_of_each_series};
use klatch_report::preparing;

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
        let of_debian = match self.debian {
            None => Vec::new(),
            Some(architecture) => {
                let all = DebianKernels::read(architecture, preparing())?.releases()?;
                if self.all { all } else { newest_of_each_series(&all) }
            }
        };
        print_line(klatch_report::kernels(&fetched()?, &of_debian));
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
                Entry::Vacant(new) => new.insert(DebianKernels::read(architecture, preparing())?),
            };
            let kernel = debian.get(version, preparing())?;
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
