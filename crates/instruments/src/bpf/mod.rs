//! BPF programs: loaded, attached, read, and what they cost. All that is made for them are file descriptors of this
//! process: they end with it.

mod histogram;
mod mapped;
mod system;
mod windows;

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd, OwnedFd};

use klatch_record::{Cost, Support};
use libbpf_rs::{Link, Map, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject, ProgramMut};

pub(crate) use histogram::Histogram;
pub(crate) use mapped::Mapped;
pub(crate) use system::{Clock, online_cpus};
pub(crate) use windows::{Looked, Windows};

use crate::instrument::{InstrumentError, Targets};
use crate::kernel::Kernel;

/// Places in the tables of threads and processes; `PLACES` of klatch.bpf.h.
const PLACES: u32 = 65_536;

/// `enum` of klatch.bpf.h.
pub(crate) const SERVER: u64 = 1;
/// The same.
pub(crate) const CROWD: u64 = 2;

/// The object that the build made of `<name>.bpf.c`.
macro_rules! object {
    ($name:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bpf.o"))
    };
}
pub(crate) use object;

/// Loaded programs and their tables.
pub(crate) struct Bpf {
    object: Object,
    links: Vec<Link>,
    /// The programs that look by windows.
    by_windows: Vec<OsString>,
}

impl Bpf {
    /// Loads the programs of `code` whose tracepoints the kernel has, but for those `without`.
    pub(crate) fn load(code: &[u8], kernel: &Kernel, without: &[&str]) -> Result<Bpf, LoadError> {
        Bpf::load_with(code, kernel, without, |_| Ok(()))
    }

    /// The same, with sizes and constants that `set` gives it before.
    pub(crate) fn load_with(
        code: &[u8],
        kernel: &Kernel,
        without: &[&str],
        set: impl FnOnce(&mut OpenObject) -> libbpf_rs::Result<()>,
    ) -> Result<Bpf, LoadError> {
        let mut open = ObjectBuilder::default().open_memory(code).map_err(LoadError)?;
        for mut program in open.progs_mut() {
            let section = program.section().to_string_lossy().into_owned();
            let there = section.strip_prefix("tp_btf/").is_none_or(|name| kernel.has_tracepoint(name));
            let name = program.name().to_string_lossy().into_owned();
            program.set_autoload(there && !without.contains(&name.as_str()));
        }
        set(&mut open).map_err(LoadError)?;
        let object = open.load().map_err(LoadError)?;
        Ok(Bpf { object, links: Vec::new(), by_windows: Vec::new() })
    }

    /// Whether it can be loaded: usable on the base named so, or not and why.
    pub(crate) fn probe(code: &[u8], kernel: &Kernel, without: &[&str], base: &str) -> Support {
        match Bpf::load(code, kernel, without) {
            Ok(_) => Support::Usable { base: base.to_owned() },
            Err(error) => error.support(),
        }
    }

    /// Tells the programs which processes are of which side.
    pub(crate) fn watch(&mut self, targets: &Targets) -> Result<(), InstrumentError> {
        let server = targets.servers.iter().map(|pid| (*pid, SERVER));
        for (pid, side) in server.chain(targets.crowds.iter().map(|pid| (*pid, CROWD))) {
            let entry = u64::from(pid) << 32 | side;
            let place = (pid % PLACES).to_ne_bytes();
            self.map("sides")?.update(&place, &entry.to_ne_bytes(), MapFlags::ANY).map_err(said)?;
        }
        Ok(())
    }

    /// Attaches all programs for the whole time.
    pub(crate) fn attach(&mut self) -> Result<(), InstrumentError> {
        for program in self.object.progs_mut().filter(|program| program.autoload()) {
            self.links.push(program.attach().map_err(said)?);
        }
        Ok(())
    }

    /// Attaches the programs `always` for the whole time, the others by windows.
    pub(crate) fn attach_by(
        &mut self,
        windows: &mut Windows,
        always: &[&str],
    ) -> Result<(), InstrumentError> {
        let numbers = MapHandle::try_from(&self.map("window")?).map_err(said)?;
        for program in self.object.progs_mut().filter(|program| program.autoload()) {
            if always.iter().any(|name| program.name() == *name) {
                self.links.push(program.attach().map_err(said)?);
                continue;
            }
            let failed = |error| InstrumentError(format!("a BPF program cannot be attached: {error}"));
            let numbers = MapHandle::try_from(&numbers).map_err(said)?;
            windows.add(program.as_fd().try_clone_to_owned().map_err(failed)?, numbers).map_err(failed)?;
            self.by_windows.push(program.name().to_owned());
        }
        Ok(())
    }

    /// Attaches the program `name` to an open perf event.
    pub(crate) fn attach_event(&mut self, name: &str, event: OwnedFd) -> Result<(), InstrumentError> {
        let program: ProgramMut<'_> =
            self.object.progs_mut().find(|program| program.name() == name).ok_or_else(|| absent(name))?;
        let link = program.attach_perf_event(event.as_raw_fd()).map_err(said)?;
        // From here on it is the link's.
        let _ = event.into_raw_fd();
        self.links.push(link);
        Ok(())
    }

    /// Detaches what is attached for the whole time; the tables stay.
    pub(crate) fn stop(&mut self) {
        self.links.clear();
    }

    /// The table `name`.
    pub(crate) fn map(&self, name: &str) -> Result<Map<'_>, InstrumentError> {
        self.object.maps().find(|map| map.name() == name).ok_or_else(|| absent(name))
    }

    /// The numbers under `key`, one list a CPU.
    pub(crate) fn numbers_by_cpu(&self, name: &str, key: u32) -> Result<Vec<Vec<u64>>, InstrumentError> {
        let found = self.map(name)?.lookup_percpu(&key.to_ne_bytes(), MapFlags::ANY).map_err(said)?;
        Ok(found.unwrap_or_default().iter().map(|bytes| numbers(bytes)).collect())
    }

    /// The same, all CPUs added up.
    pub(crate) fn numbers(&self, name: &str, key: u32) -> Result<Vec<u64>, InstrumentError> {
        let mut sum = Vec::new();
        for of_cpu in self.numbers_by_cpu(name, key)? {
            sum.resize(of_cpu.len(), 0);
            sum.iter_mut().zip(of_cpu).for_each(|(sum, value)| *sum += value);
        }
        Ok(sum)
    }

    /// What the programs used in the whole time, by what was counted in a part of it, and the memory of their tables.
    pub(crate) fn cost(&self, looked: &Looked) -> Cost {
        let mut cost = Cost { cpu_s: 0.0, runs: 0, share_of_cpu: None, memory_bytes: 0 };
        for program in self.object.progs().filter(|program| program.autoload()) {
            let (ns, runs) = system::cost_of(program.as_fd());
            let by_windows = self.by_windows.iter().any(|name| program.name() == name);
            let looked_s = if by_windows { looked.open_s() } else { looked.elapsed_s };
            // Nothing was counted: then nothing is to be scaled.
            let factor = if looked.counted_s > 0.0 { looked_s / looked.counted_s } else { 1.0 };
            cost.cpu_s += ns as f64 / 1e9 * factor;
            cost.runs += (runs as f64 * factor).round() as u64;
        }
        cost.memory_bytes = self.object.maps().map(|map| system::memory_of(map.as_fd())).sum();
        cost
    }
}

/// Numbers in the machine's order.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|eight| u64::from_ne_bytes(*eight)).collect()
}

/// The kernel does not take the programs.
pub(crate) struct LoadError(libbpf_rs::Error);

impl LoadError {
    /// The same as what to do about it.
    pub(crate) fn support(&self) -> Support {
        let (why, remedy) = if self.0.kind() == libbpf_rs::ErrorKind::PermissionDenied {
            ("BPF programs need root (or CAP_BPF and CAP_PERFMON)", "run klatch as root: sudo klatch …")
        } else {
            let why = format!("the kernel refuses the BPF programs: {:#}", self.0);
            return Support::NotAvailable {
                why,
                remedy: "boot a kernel 5.11 or newer with CONFIG_BPF_SYSCALL=y".to_owned(),
            };
        };
        Support::NotAvailable { why: why.to_owned(), remedy: remedy.to_owned() }
    }
}

impl From<LoadError> for InstrumentError {
    fn from(error: LoadError) -> InstrumentError {
        InstrumentError(format!("the BPF programs cannot be loaded: {:#}", error.0))
    }
}

pub(crate) fn said(error: libbpf_rs::Error) -> InstrumentError {
    InstrumentError(format!("{error:#}"))
}

fn absent(name: &str) -> InstrumentError {
    InstrumentError(format!("the BPF object has no {name}"))
}
