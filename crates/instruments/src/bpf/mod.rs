//! Loading, attaching and reading BPF programs, and measuring their cost.
//!
//! Programs, maps and links are held by file descriptors only, so all of them end with this process.

mod histogram;
mod mapped_table;
mod sys;
mod windows;

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};

use klatch_record::{Cost, Support};
use klatch_schedulers::{libbpf_log, per_cpu_numbers};
use libbpf_rs::{
    Link, Map, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject, ProgramInput, ProgramMut,
};

pub(crate) use histogram::Histogram;
pub(crate) use mapped_table::MappedTable;
pub(crate) use sys::{SampleTrigger, enable_stats};
pub(crate) use windows::{Coverage, Windows};

use crate::error::InstrumentError;
use crate::kernel::Kernel;
use crate::targets::{Side, Targets};

/// `PID_SLOTS` of klatch.bpf.h: entries of tables by process.
const PID_SLOTS: u32 = 65_536;

/// The bytes of the object that the build script compiled from `<name>.bpf.c`.
macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o"))
    };
}
pub(crate) use object;

/// A loaded BPF object: programs and maps.
pub(crate) struct Bpf {
    object: Object,
    links: Vec<Link>,
    /// Names of the programs that are attached in windows.
    windowed: Vec<OsString>,
}

impl Bpf {
    /// Loads the programs of `code` whose tracepoints the kernel has, except those named in `without`.
    pub(crate) fn load(code: &[u8], kernel: &Kernel, without: &[&str]) -> Result<Bpf, LoadError> {
        Bpf::load_with(code, kernel, without, |_| Ok(()))
    }

    /// As [`Bpf::load`], after `configure` has set map sizes and constants.
    pub(crate) fn load_with(
        code: &[u8],
        kernel: &Kernel,
        without: &[&str],
        configure: impl FnOnce(&mut OpenObject) -> libbpf_rs::Result<()>,
    ) -> Result<Bpf, LoadError> {
        libbpf_log::start();
        let mut open = ObjectBuilder::default().open_memory(code).map_err(LoadError::new)?;
        for mut program in open.progs_mut() {
            let section = program.section().to_string_lossy().into_owned();
            let available = section.strip_prefix("tp_btf/").is_none_or(|name| kernel.has_tracepoint(name));
            let name = program.name().to_string_lossy().into_owned();
            program.set_autoload(available && !without.contains(&name.as_str()));
        }
        configure(&mut open).map_err(LoadError::new)?;
        let object = open.load().map_err(LoadError::new)?;
        Ok(Bpf { object, links: Vec::new(), windowed: Vec::new() })
    }

    /// Tries to load `code`, which Linux `since` is the first to load; `base` describes what a usable instrument works with.
    pub(crate) fn probe(code: &[u8], kernel: &Kernel, since: &str, base: &str) -> Support {
        match Bpf::load(code, kernel, &[]) {
            Ok(_) => Support::Usable { base: base.to_owned() },
            Err(error) => error.support(since),
        }
    }

    /// Registers the processes of each side.
    pub(crate) fn set_targets(&mut self, targets: &Targets) -> Result<(), InstrumentError> {
        let servers = targets.servers.iter().map(|pid| (*pid, Side::Server));
        for (pid, side) in servers.chain(targets.crowds.iter().map(|pid| (*pid, Side::Crowd))) {
            let entry = u64::from(pid) << 32 | side as u64;
            let slot = (pid % PID_SLOTS).to_ne_bytes();
            self.map("sides")?.update(&slot, &entry.to_ne_bytes(), MapFlags::ANY).map_err(bpf_error)?;
        }
        Ok(())
    }

    /// Attaches all programs for the whole run.
    pub(crate) fn attach(&mut self) -> Result<(), InstrumentError> {
        for program in self.object.progs_mut().filter(|program| program.autoload()) {
            self.links.push(program.attach().map_err(bpf_error)?);
        }
        Ok(())
    }

    /// Attaches the programs named in `whole_run` for the whole run, the others in windows.
    pub(crate) fn attach_in_windows(
        &mut self,
        windows: &mut Windows,
        whole_run: &[&str],
    ) -> Result<(), InstrumentError> {
        let window = MapHandle::try_from(&self.map("window")?).map_err(bpf_error)?;
        for program in self.object.progs_mut().filter(|program| program.autoload()) {
            if whole_run.iter().any(|name| program.name() == *name) {
                self.links.push(program.attach().map_err(bpf_error)?);
                continue;
            }
            let failed = |error| InstrumentError(format!("a BPF program cannot be attached: {error}"));
            let window = MapHandle::try_from(&window).map_err(bpf_error)?;
            windows.add(program.as_fd().try_clone_to_owned().map_err(failed)?, window).map_err(failed)?;
            self.windowed.push(program.name().to_owned());
        }
        Ok(())
    }

    /// Attaches the program `name` to an open perf event.
    pub(crate) fn attach_event(&mut self, name: &str, event: OwnedFd) -> Result<(), InstrumentError> {
        let program: ProgramMut<'_> =
            self.object.progs_mut().find(|program| program.name() == name).ok_or_else(|| absent(name))?;
        let link = program.attach_perf_event(event.as_raw_fd()).map_err(bpf_error)?;
        // The link owns the descriptor from here on.
        let _ = event.into_raw_fd();
        self.links.push(link);
        Ok(())
    }

    /// Runs the program `name` once, with `context`.
    pub(crate) fn call(&self, name: &str, context: &mut [u8]) -> Result<(), InstrumentError> {
        let program =
            self.object.progs_mut().find(|program| program.name() == name).ok_or_else(|| absent(name))?;
        let context_in = (!context.is_empty()).then_some(context);
        program.test_run(ProgramInput { context_in, ..ProgramInput::default() }).map_err(bpf_error)?;
        Ok(())
    }

    /// Detaches the programs that were attached for the whole run; the maps stay.
    pub(crate) fn stop(&mut self) {
        self.links.clear();
    }

    /// The map called `name` in the BPF C.
    pub(crate) fn map(&self, name: &str) -> Result<Map<'_>, InstrumentError> {
        self.object.maps().find(|map| map.name() == name).ok_or_else(|| absent(name))
    }

    /// The value under `key` of a per-CPU map as 64-bit numbers, one list per CPU of the kernel.
    pub(crate) fn numbers_by_cpu(&self, name: &str, key: u32) -> Result<Vec<Vec<u64>>, InstrumentError> {
        per_cpu_numbers(&self.map(name)?, key).map_err(bpf_error)
    }

    /// The value under `key` of a per-CPU map as 64-bit numbers, summed over the CPUs.
    pub(crate) fn numbers(&self, name: &str, key: u32) -> Result<Vec<u64>, InstrumentError> {
        let mut sum = Vec::new();
        for values in self.numbers_by_cpu(name, key)? {
            sum.resize(values.len(), 0);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Ok(sum)
    }

    /// CPU time and runs of the programs, extrapolated to the whole run, and the memory of the maps. `None` if the kernel did not
    /// measure the programs: that needs `CAP_SYS_ADMIN`, and to load them does not.
    pub(crate) fn cost(&self, coverage: &Coverage) -> Option<Cost> {
        let measured_s = coverage.cost_measured_s;
        if measured_s <= 0.0 {
            return None;
        }
        let mut cost = Cost { cpu_s: 0.0, runs: 0, share_of_cpu: None, memory_bytes: 0 };
        for program in self.object.progs().filter(|program| program.autoload()) {
            let (ns, runs) = sys::run_time_of(program.as_fd())?;
            let windowed = self.windowed.iter().any(|name| program.name() == name);
            let attached_s = if windowed { coverage.open_s() } else { coverage.elapsed_s };
            let factor = attached_s / measured_s;
            cost.cpu_s += ns as f64 / 1e9 * factor;
            cost.runs += (runs as f64 * factor).round() as u64;
        }
        cost.memory_bytes = self.object.maps().map(|map| sys::memory_of(map.as_fd())).sum::<Option<u64>>()?;
        Some(cost)
    }
}

/// CPUs that the kernel can have, by its own count.
pub(crate) fn possible_cpus() -> Result<u32, InstrumentError> {
    Ok(klatch_schedulers::possible_cpus().map_err(bpf_error)? as u32)
}

/// Splits a map value into 64-bit numbers.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|eight| u64::from_ne_bytes(*eight)).collect()
}

/// The oldest Linux on which the programs were tried, those apart that name a newer one.
pub(crate) const LINUX_MIN: &str = "5.10";

/// The kernel refused to load the programs.
#[derive(Debug, thiserror::Error)]
#[error("{source:#}{}", words.as_ref().map_or(String::new(), |words| format!(" ({words})")))]
pub(crate) struct LoadError {
    source: libbpf_rs::Error,
    /// What the kernel's verifier said last, or libbpf.
    words: Option<String>,
}

impl LoadError {
    fn new(source: libbpf_rs::Error) -> LoadError {
        LoadError { source, words: libbpf_log::reason() }
    }

    /// The reason and its remedy, for the list of instruments. Linux `since` is the first that loads the programs.
    pub(crate) fn support(&self, since: &str) -> Support {
        let (why, remedy) = if self.source.kind() == libbpf_rs::ErrorKind::PermissionDenied {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            refusal(rustix::process::geteuid().is_root(), effective_capabilities(&status))
        } else {
            let why = format!("the kernel refuses the BPF programs: {self}");
            return Support::NotAvailable {
                why,
                remedy: format!("boot a kernel {since} or newer with CONFIG_BPF_SYSCALL=y"),
            };
        };
        Support::NotAvailable { why: why.to_owned(), remedy: remedy.to_owned() }
    }
}

/// Why the kernel refuses programs to a process with these rights, and the remedy.
fn refusal(is_root: bool, capabilities: Option<u64>) -> (&'static str, &'static str) {
    const SYS_ADMIN: u64 = 1 << 21;
    const PERFMON_AND_BPF: u64 = 1 << 38 | 1 << 39;
    let suffices = |all: u64| all & SYS_ADMIN != 0 || all & PERFMON_AND_BPF == PERFMON_AND_BPF;
    match (is_root, capabilities.map(suffices)) {
        (_, Some(true)) => (
            "bpf() is refused to a process that has the capabilities for it: by a seccomp filter, as containers have, or a security module",
            "give the container a seccomp profile that allows bpf and perf_event_open",
        ),
        (true, _) => (
            "BPF programs need CAP_BPF and CAP_PERFMON, which this root does not have",
            "give the container the capabilities BPF and PERFMON",
        ),
        (false, _) => {
            ("BPF programs need root (or CAP_BPF and CAP_PERFMON)", "run klatch as root: sudo klatch …")
        }
    }
}

/// The capabilities in force, from the text of /proc/PID/status.
fn effective_capabilities(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

impl From<LoadError> for InstrumentError {
    fn from(error: LoadError) -> InstrumentError {
        InstrumentError(match error.support(LINUX_MIN) {
            Support::NotAvailable { why, remedy } => format!("{why}; {remedy}"),
            _ => format!("the BPF programs cannot be loaded: {error}"),
        })
    }
}

/// Adds libbpf's chain of causes to the message, or says which rights are missing.
pub(crate) fn bpf_error(error: libbpf_rs::Error) -> InstrumentError {
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => LoadError { source: error, words: None }.into(),
        _ => InstrumentError(format!("{error:#}")),
    }
}

fn absent(name: &str) -> InstrumentError {
    InstrumentError(format!("the BPF object has no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_is_missing() {
        let capabilities = |bits: &str| effective_capabilities(&format!("Name:\tx\nCapEff:\t{bits}\n"));
        let (all, of_docker) = (capabilities("000001ffffffffff"), capabilities("00000000a80425fb"));
        assert!(refusal(true, all).0.contains("seccomp"));
        assert!(refusal(false, capabilities("000000c000000000")).0.contains("seccomp"));
        assert!(refusal(true, of_docker).0.contains("need CAP_BPF and CAP_PERFMON"));
        assert!(refusal(false, capabilities("0")).1.contains("sudo klatch"));
        assert!(refusal(false, None).1.contains("sudo klatch"));
        let refused = bpf_error(libbpf_rs::Error::from_raw_os_error(1)).to_string();
        assert!(
            refused.contains("; run klatch as root") || refused.contains("; give the container"),
            "{refused}"
        );
    }
}
