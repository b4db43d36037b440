//! System calls by process, and what yields lead to.

use std::collections::BTreeMap;

use klatch_record::observed::{SideCalls, Sides, Yields};
use klatch_record::{Found, InstrumentName, Support};

use crate::bpf::{Bpf, CROWD, Looked, SERVER, Windows, object};
use crate::instrument::{Files, Instrument, InstrumentError, Seen, Targets, Watching};
use crate::kernel::Kernel;

const CODE: &[u8] = object!("syscalls");

/// As in syscalls.bpf.c.
const CALLS: u32 = 512;

const TRACEPOINTS: [&str; 3] = ["sys_enter", "sched_switch", "sys_exit"];

/// What is told of: the calls of a chat server and of its crowd, with the number of each on this architecture.
const COUNTED: [(&str, libc::c_long); 16] = [
    ("read", libc::SYS_read),
    ("readv", libc::SYS_readv),
    ("recvfrom", libc::SYS_recvfrom),
    ("recvmsg", libc::SYS_recvmsg),
    ("write", libc::SYS_write),
    ("writev", libc::SYS_writev),
    ("sendto", libc::SYS_sendto),
    ("sendmsg", libc::SYS_sendmsg),
    ("futex", libc::SYS_futex),
    ("sched_yield", libc::SYS_sched_yield),
    ("epoll_pwait", libc::SYS_epoll_pwait),
    ("epoll_ctl", libc::SYS_epoll_ctl),
    ("ppoll", libc::SYS_ppoll),
    ("io_uring_enter", libc::SYS_io_uring_enter),
    #[cfg(target_arch = "x86_64")]
    ("epoll_wait", libc::SYS_epoll_wait),
    #[cfg(target_arch = "x86_64")]
    ("poll", libc::SYS_poll),
    #[cfg(not(target_arch = "x86_64"))]
    ("nanosleep", libc::SYS_nanosleep),
    #[cfg(not(target_arch = "x86_64"))]
    ("clock_nanosleep", libc::SYS_clock_nanosleep),
];

/// The instrument.
pub(crate) struct SyscallCounts;

impl Instrument for SyscallCounts {
    fn name(&self) -> InstrumentName {
        InstrumentName::Syscalls
    }

    fn shows(&self) -> &'static str {
        "system calls; what yields led to"
    }

    fn probe(&self, kernel: &Kernel) -> Support {
        let lack = kernel.lacks(&TRACEPOINTS);
        lack.unwrap_or_else(|| Bpf::probe(CODE, kernel, &[], "BPF at sys_enter, sched_switch, sys_exit"))
    }

    fn start(
        &self,
        kernel: &Kernel,
        targets: &Targets,
        _: &Files,
        windows: &mut Windows,
    ) -> Result<Box<dyn Watching>, InstrumentError> {
        let mut bpf = Bpf::load(CODE, kernel, &[])?;
        bpf.watch(targets)?;
        bpf.attach_by(windows, &[])?;
        Ok(Box::new(Watch { bpf, targets: targets.clone() }))
    }
}

struct Watch {
    bpf: Bpf,
    targets: Targets,
}

impl Watching for Watch {
    fn stop(&mut self) {
        self.bpf.stop();
    }

    fn read(&mut self, _: &Files, looked: &Looked) -> Result<Seen, InstrumentError> {
        let found = Sides {
            server: (!self.targets.servers.is_empty())
                .then(|| self.side(SERVER as u32, looked))
                .transpose()?,
            crowd: (!self.targets.crowds.is_empty()).then(|| self.side(CROWD as u32, looked)).transpose()?,
        };
        Ok(Seen {
            found: Found::Syscalls(found),
            cost: Some(self.bpf.cost(looked)),
            share_of_time: Some(looked.share),
            files: Vec::new(),
        })
    }
}

impl Watch {
    fn side(&self, side: u32, looked: &Looked) -> Result<SideCalls, InstrumentError> {
        let mut calls = BTreeMap::new();
        for (name, number) in COUNTED {
            let count = self.bpf.numbers("calls", side * CALLS + number as u32)?[0];
            if count > 0 {
                calls.insert(name.to_owned(), looked.scaled(count));
            }
        }
        let of: Vec<u64> =
            self.bpf.numbers("yields", side)?.into_iter().map(|count| looked.scaled(count)).collect();
        let yields =
            Yields { all: of[0], only: of[1], same: of[2], higher: of[3], lower: of[4], itself: of[5] };
        Ok(SideCalls { calls, yields })
    }
}
