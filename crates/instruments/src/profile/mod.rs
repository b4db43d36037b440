//! Where CPU time goes: a timer's samples of both stacks.

mod shares;

use std::collections::BTreeMap;
use std::io::Write;

use klatch_record::observed::{Profile, Sides};
use klatch_record::{Found, InstrumentName, Support};
use libbpf_rs::{MapCore, MapFlags};

use crate::bpf::{Bpf, CROWD, SERVER, numbers, object, online_cpus, said, sample_clock};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::java::PerfMap;
use crate::kernel::Kernel;
use crate::symbols::Symbols;
use shares::Tally;

const CODE: &[u8] = object!("profile");

/// Not a divisor of what timers of programs use, so that samples do not fall into step with them.
const FREQUENCY_HZ: u64 = 499;

/// The instrument.
pub(crate) struct TimerProfile;

impl Instrument for TimerProfile {
    fn name(&self) -> InstrumentName {
        InstrumentName::Profile
    }

    fn shows(&self) -> &'static str {
        "where CPU time goes: kernel routines, shares, stacks"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        if let Some(lack) = kernel.lacks(&[]) {
            return lack;
        }
        match Bpf::probe(CODE, kernel, &[], "BPF at a timer of 499 Hz on each CPU (cpu-clock)") {
            Support::Usable { base } => match sample_clock(0, FREQUENCY_HZ) {
                Ok(_) => Support::Usable { base },
                Err(error) => Support::NotAvailable {
                    why: format!("no timer event can be opened ({error})"),
                    remedy: "run as root, or: sysctl kernel.perf_event_paranoid=-1".to_owned(),
                },
            },
            support => support,
        }
    }

    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        _: &Files,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        bpf.watch(targets)?;
        for cpu in online_cpus() {
            let failed = |error| InstrumentError(format!("the timer event on CPU {cpu}: {error}"));
            bpf.attach_event("sample", sample_clock(cpu, FREQUENCY_HZ).map_err(failed)?)?;
        }
        Ok(Box::new(Watch { bpf, targets: targets.clone() }))
    }
}

struct Watch {
    bpf: Bpf,
    targets: Targets,
}

/// Samples that are alike.
struct Alike {
    tgid: u32,
    side: u64,
    /// The innermost routine first; `None` if its place was taken.
    kernel: Option<Vec<String>>,
    user: Option<Vec<String>>,
    count: u64,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, files: &Files) -> Result<Seen, InstrumentError> {
        let all = self.samples()?;
        let mut stored = 0;
        let mut stacks_lost = 0;
        let (mut machine, mut server, mut crowd) = (Tally::default(), Tally::default(), Tally::default());
        for alike in &all {
            stored += alike.count;
            let of_side = match alike.side {
                SERVER => Some(&mut server),
                CROWD => Some(&mut crowd),
                _ => None,
            };
            for tally in std::iter::once(&mut machine).chain(of_side) {
                match &alike.kernel {
                    Some(stack) => tally.add(stack, alike.count),
                    None => tally.add_unknown(alike.count),
                }
            }
            if alike.kernel.is_none() || alike.user.is_none() {
                stacks_lost += alike.count;
            }
        }
        let mut samples = 0;
        for side in 0..=CROWD {
            samples += self.bpf.numbers("taken", side as u32)?[0];
        }
        let (name, path) = files.named("folded");
        let failed = |error| InstrumentError(format!("cannot write {}: {error}", path.display()));
        write_folded(&all, std::fs::File::create(&path).map_err(failed)?).map_err(failed)?;
        let found = Profile {
            frequency_hz: FREQUENCY_HZ,
            samples,
            stacks_lost: stacks_lost + samples.saturating_sub(stored),
            machine: machine.side(),
            sides: Sides {
                server: (!self.targets.servers.is_empty()).then(|| server.side()),
                crowd: (!self.targets.crowds.is_empty()).then(|| crowd.side()),
            },
        };
        Ok(Seen { found: Found::Profile(found), cost: Some(self.bpf.cost()), files: vec![name] })
    }
}

impl Watch {
    fn samples(&self) -> Result<Vec<Alike>, InstrumentError> {
        let mut symbols = Symbols::new();
        let pids = || self.targets.servers.iter().chain(&self.targets.crowds);
        // They are read when the first name is looked up, so they stay until the last.
        let _perf_maps: Vec<PerfMap> = pids().filter_map(|pid| PerfMap::write(*pid)).collect();
        let table = self.bpf.map("samples")?;
        let mut all = Vec::new();
        for key in table.keys() {
            let field = |number: usize| {
                u32::from_ne_bytes(key[4 * number..4 * number + 4].try_into().expect("four bytes"))
            };
            let (tgid, side) = (field(0), u64::from(field(3)));
            let kernel = self.frames("kernel_stacks", field(1) as i32)?;
            let user = self.frames("user_stacks", field(2) as i32)?;
            let count =
                table.lookup(&key, MapFlags::ANY).map_err(said)?.map_or(0, |count| numbers(&count)[0]);
            let kernel =
                kernel.map(|frames| frames.iter().map(|at| symbols.kernel(*at).to_owned()).collect());
            let ours = side == SERVER || side == CROWD;
            let user = user.map(|frames| match ours {
                true => frames.iter().map(|at| symbols.user(tgid, *at).to_owned()).collect(),
                // Somebody else's program is not looked into.
                false => Vec::new(),
            });
            all.push(Alike { tgid, side, kernel, user, count });
        }
        Ok(all)
    }

    /// The addresses of a stack; none where there was no stack of this kind; `None` if its place was taken.
    fn frames(&self, table: &str, id: i32) -> Result<Option<Vec<u64>>, InstrumentError> {
        const NO_STACK: i32 = -libc::EFAULT;
        match id {
            NO_STACK => Ok(Some(Vec::new())),
            id if id < 0 => Ok(None),
            id => {
                let found = self.bpf.map(table)?.lookup(&id.to_ne_bytes(), MapFlags::ANY).map_err(said)?;
                let frames = numbers(&found.unwrap_or_default());
                Ok(Some(frames.into_iter().take_while(|address| *address != 0).collect()))
            }
        }
    }
}

/// One line for each stack, as flame graphs are made of: `side;process;outermost;…;innermost count`, kernel routines with
/// `_[k]` at their end.
fn write_folded(all: &[Alike], file: std::fs::File) -> std::io::Result<()> {
    let mut names = BTreeMap::new();
    let mut file = std::io::BufWriter::new(file);
    for alike in all {
        let side = match alike.side {
            SERVER => "server",
            CROWD => "crowd",
            _ => "others",
        };
        let process = names.entry(alike.tgid).or_insert_with(|| {
            let name = std::fs::read_to_string(format!("/proc/{}/comm", alike.tgid)).unwrap_or_default();
            if name.is_empty() {
                format!("process {}", alike.tgid)
            } else {
                name.trim().replace([' ', ';'], "_")
            }
        });
        write!(file, "{side};{process}")?;
        match &alike.user {
            Some(user) => {
                user.iter().rev().try_for_each(|name| write!(file, ";{}", name.replace([' ', ';'], "_")))?
            }
            None => write!(file, ";[stack_lost]")?,
        }
        match &alike.kernel {
            Some(kernel) => kernel.iter().rev().try_for_each(|name| write!(file, ";{name}_[k]"))?,
            None => write!(file, ";[stack_lost]_[k]")?,
        }
        writeln!(file, " {}", alike.count)?;
    }
    file.flush()
}
