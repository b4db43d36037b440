//! Where samples were taken: by area, by system call, by routine. Each sample is in one place of each kind.

use std::collections::BTreeMap;

use super::shares::Activity;
use super::stacks::StackSample;
use super::user_routine::UserRoutine;

/// Samples of some processes by place, three times: each map has all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places {
    /// All samples.
    pub samples: u64,
    /// By what the time was used for.
    pub areas: BTreeMap<String, u64>,
    /// By the system call in which it was used, with all that it led to.
    pub calls: BTreeMap<String, u64>,
    /// By routine, without those that it called. Those of the kernel end in `_[k]`.
    pub routines: BTreeMap<String, u64>,
}

impl Places {
    /// Adds a sample of a JVM or of another program.
    pub(super) fn add(&mut self, sample: &StackSample, is_jvm: bool) {
        self.samples += sample.count;
        let mut add = |place: fn(&mut Places) -> &mut BTreeMap<String, u64>, name: String| {
            *place(self).entry(name).or_default() += sample.count;
        };
        add(|places| &mut places.areas, area(sample, is_jvm).to_owned());
        add(|places| &mut places.calls, call(sample));
        add(|places| &mut places.routines, routine(sample));
    }
}

/// Stands for samples whose stack was lost, as the table of stacks was full.
const LOST: &str = "stack lost";
/// What the program itself does, without the kernel.
const PROGRAM: &str = "program";

/// What the time was used for.
fn area(sample: &StackSample, is_jvm: bool) -> &'static str {
    let (Some(kernel), Some(user)) = (&sample.kernel, &sample.user) else { return LOST };
    if kernel.is_empty() {
        return if is_jvm { area_of_java(user) } else { PROGRAM };
    }
    // What led to a piece of work says more than the work itself: a wake-up takes locks.
    const ORDER: [(Activity, &str); 5] = [
        (Activity::Scheduler, "scheduler"),
        (Activity::WakeUp, "wake-ups"),
        (Activity::Copy, "copies"),
        (Activity::Network, "network"),
        (Activity::Lock, "locks of the kernel"),
    ];
    let on_stack = |activity| kernel.iter().any(|routine| routine.is(activity));
    let found = ORDER.into_iter().find(|(activity, _)| on_stack(*activity));
    found.map_or("kernel, other", |(_, name)| name)
}

/// What a JVM did: its threads have their own tasks, which are outermost on their stacks.
fn area_of_java(user: &[UserRoutine]) -> &'static str {
    const COLLECTOR: [&str; 8] = [
        "WorkerThread::run",
        "GangWorker::",
        "GCTaskThread::",
        "ConcurrentGCThread::",
        "ZWorker",
        "ZThread::",
        "ShenandoahControlThread",
        "VM_GC_Operation",
    ];
    let any =
        |parts: &[&str]| user.iter().any(|routine| parts.iter().any(|part| routine.name.contains(part)));
    match user.first() {
        _ if any(&["CompileBroker::", "C2Compiler::", "Compiler::compile_method"]) => "compiler of Java",
        _ if any(&COLLECTOR) => "garbage collector",
        Some(innermost) if innermost.name.contains("::") => "runtime of Java",
        _ => PROGRAM,
    }
}

/// The system call, or what else made the kernel run.
fn call(sample: &StackSample) -> String {
    let Some(kernel) = &sample.kernel else { return LOST.to_owned() };
    if kernel.is_empty() {
        return PROGRAM.to_owned();
    }
    let outermost_first = || kernel.iter().rev().map(|routine| &*routine.name);
    let name = outermost_first().find_map(system_call);
    let has = |part: &str| outermost_first().any(|name| name.contains(part));
    match name {
        Some(name) => name.to_owned(),
        None if has("exc_page_fault") || has("do_page_fault") => "page faults".to_owned(),
        None if has("do_syscall_64") || has("el0_svc") => "entry and exit of system calls".to_owned(),
        None => "interrupts".to_owned(),
    }
}

/// The name of the system call whose entry a routine is.
fn system_call(routine: &str) -> Option<&str> {
    // What an entry calls last has its place on the stack: `ksys_write` without `__x64_sys_write`.
    const ENTRIES: [&str; 7] =
        ["__x64_sys_", "__arm64_sys_", "__ia32_sys_", "__se_sys_", "__do_sys_", "ksys_", "__sys_"];
    ENTRIES.iter().find_map(|entry| routine.strip_prefix(entry))
}

fn routine(sample: &StackSample) -> String {
    match (&sample.kernel, &sample.user) {
        (Some(kernel), _) if !kernel.is_empty() => format!("{}_[k]", kernel[0].name),
        (Some(_), Some(user)) => {
            user.first().map_or_else(|| PROGRAM.to_owned(), |user| same_name(&user.name))
        }
        _ => LOST.to_owned(),
    }
}

/// The name without what changes from start to start: the addresses of hidden classes.
fn same_name(name: &str) -> String {
    let mut same = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("0x") {
        let digits = rest[at + 2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - at - 2);
        same.push_str(&rest[..at]);
        same.push_str("0x");
        rest = &rest[at + 2 + digits..];
    }
    same + rest
}

#[cfg(test)]
mod tests {
    use super::super::shares::KernelRoutine;
    use super::*;
    use crate::targets::Side;

    fn sample(kernel: &str, user: &str, count: u64) -> StackSample {
        let names = |text: &str| {
            text.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        StackSample {
            tgid: 1,
            side: Some(Side::Server),
            kernel: Some(names(kernel).iter().map(|name| KernelRoutine::new(name)).collect()),
            user: Some(names(user).iter().map(|name| UserRoutine::new(name)).collect()),
            count,
        }
    }

    /// Area, call and routine of one sample.
    fn place(kernel: &str, user: &str, is_jvm: bool) -> [String; 3] {
        let mut places = Places::default();
        places.add(&sample(kernel, user, 3), is_jvm);
        assert_eq!(places.samples, 3);
        [places.areas, places.calls, places.routines].map(|map| {
            assert_eq!(map.len(), 1, "one place of each kind");
            assert_eq!(map.values().sum::<u64>(), 3);
            map.into_keys().next().unwrap()
        })
    }

    #[test]
    fn a_sample_is_in_one_place_of_each_kind() {
        let write =
            "try_to_wake_up sock_def_readable tcp_rcv_established tcp_sendmsg __x64_sys_write do_syscall_64";
        assert_eq!(place(write, "write main", false), ["wake-ups", "write", "try_to_wake_up_[k]"]);
        let receive = "_copy_to_iter tcp_recvmsg __do_sys_recvfrom";
        assert_eq!(place(receive, "recv", false), ["copies", "recvfrom", "_copy_to_iter_[k]"]);
        assert_eq!(
            place("clear_page asm_exc_page_fault", "f", false),
            ["kernel, other", "page faults", "clear_page_[k]"]
        );
        assert_eq!(place("net_rx_action handle_softirqs", "f", false)[..2], ["network", "interrupts"]);
        assert_eq!(place("", "core::fmt::write main", false), ["program", "program", "core::fmt::write"]);
    }

    #[test]
    fn threads_of_a_jvm_have_areas_of_their_own() {
        let area = |user| place("", user, true)[0].clone();
        assert_eq!(area("G1ParScanThreadState::trim WorkerThread::run()"), "garbage collector");
        assert_eq!(area("PhaseIdealLoop::build CompileBroker::compiler_thread_loop()"), "compiler of Java");
        assert_eq!(area("ObjectMonitor::enter(JavaThread*)"), "runtime of Java");
        assert_eq!(area("org.klatch.chat.Hall.join"), "program");
    }

    #[test]
    fn addresses_of_hidden_classes_are_no_part_of_a_name() {
        assert_eq!(same_name("A$$Lambda/0x00007f12.run"), "A$$Lambda/0x.run");
        assert_eq!(same_name("plain"), "plain");
    }
}
