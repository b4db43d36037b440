//! System calls by side, and the outcome of each `sched_yield`.

use std::collections::BTreeMap;

use klatch_record::observed::{SideCalls, Yields};
use klatch_record::{InstrumentName, ObservationData};

use crate::bpf::object;
use crate::bpf_instrument::{BpfInstrument, Measurement};
use crate::error::InstrumentError;
use crate::targets::Side;

pub(crate) static SYSCALL_COUNTS: BpfInstrument = BpfInstrument {
    name: InstrumentName::Syscalls,
    description: "system calls; what yields led to",
    object: object!("syscalls"),
    tracepoints: &["sys_enter", "sched_switch", "sys_exit"],
    by_process: true,
    whole_run: &[],
    preferred: None,
    read,
};

/// `CALLS` of syscalls.bpf.c: entries per side.
const CALLS: u32 = 512;

/// The calls that the record lists, those of a chat server and its crowd, with their numbers on this architecture.
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

fn read(measurement: &Measurement<'_>) -> Result<ObservationData, InstrumentError> {
    Ok(ObservationData::Syscalls(measurement.targets.sides(|side| read_side(measurement, side))?))
}

fn read_side(measurement: &Measurement<'_>, side: Side) -> Result<SideCalls, InstrumentError> {
    let Measurement { bpf, coverage, .. } = measurement;
    let mut calls = BTreeMap::new();
    for (name, number) in COUNTED {
        let count = bpf.numbers("calls", side as u32 * CALLS + number as u32)?[0];
        if count > 0 {
            calls.insert(name.to_owned(), coverage.scaled(count));
        }
    }
    // `struct yields` of syscalls.bpf.c.
    let counts: Vec<u64> =
        bpf.numbers("yields", side as u32)?.into_iter().map(|count| coverage.scaled(count)).collect();
    let [all, only, same, higher, lower, continued] = counts[..] else {
        return Err(InstrumentError("the map of yields has another layout than expected".to_owned()));
    };
    Ok(SideCalls { calls, yields: Yields { all, only, same, higher, lower, continued } })
}
