//! Classification of kernel stacks.

use klatch_record::observed::{MissedData, ProfiledSide, Routine, Shares};
use std::collections::HashMap;
use std::rc::Rc;

/// Routines, and kinds of data, in the record: those with the most samples.
const TOP: usize = 10;

/// A routine of the kernel, with the activities that it stands for.
///
/// They are found once for each name: the lab counts stacks by the million.
#[derive(Clone)]
pub(super) struct KernelRoutine {
    pub(super) name: Rc<str>,
    /// A bit for each of [`ACTIVITIES`].
    activities: u8,
    /// Whether it is the system call with which threads wait for each other.
    pub(super) is_futex: bool,
}

/// What the kernel does, as the places of [`ACTIVITIES`].
#[derive(Clone, Copy)]
pub(super) enum Activity {
    Scheduler,
    WakeUp,
    Network,
    Lock,
    Copy,
}

/// What tells by its name whether a routine belongs to an activity, in the order of [`StackCounts::activities`].
const ACTIVITIES: [fn(&str) -> bool; 5] = [is_scheduler, is_wake_up, is_network, is_lock, is_copy];

impl KernelRoutine {
    pub(super) fn new(name: &str) -> KernelRoutine {
        let bits = ACTIVITIES.iter().enumerate().map(|(bit, is)| u8::from(is(name)) << bit);
        KernelRoutine { name: name.into(), activities: bits.sum(), is_futex: name == "do_futex" }
    }

    /// Whether it belongs to an activity.
    pub(super) fn is(&self, activity: Activity) -> bool {
        self.activities >> activity as u8 & 1 == 1
    }
}

/// Samples of a side by kernel activity. A sample counts for every activity on its stack.
#[derive(Default)]
pub(super) struct StackCounts {
    samples: u64,
    kernel: u64,
    /// Samples with each of [`ACTIVITIES`] on the stack.
    activities: [u64; ACTIVITIES.len()],
    /// By innermost kernel routine.
    innermost: HashMap<Rc<str>, u64>,
    /// By the name of the data that was missed.
    data: HashMap<Rc<str>, u64>,
    /// Samples in processes that are JVMs.
    jvm: u64,
    /// Those of them in which threads were synchronized.
    synchronization: u64,
}

impl StackCounts {
    /// Adds `count` samples with the kernel routines `stack`, innermost first; empty for samples in user mode.
    pub(super) fn add(&mut self, stack: &[KernelRoutine], count: u64) {
        self.samples += count;
        let Some(innermost) = stack.first() else { return };
        self.kernel += count;
        *self.innermost.entry(innermost.name.clone()).or_default() += count;
        let seen = stack.iter().fold(0, |seen, routine| seen | routine.activities);
        for (bit, sum) in self.activities.iter_mut().enumerate() {
            *sum += u64::from(seen >> bit & 1) * count;
        }
    }

    /// Adds `count` samples without a kernel stack, because the table of stacks was full.
    pub(super) fn add_without_stack(&mut self, count: u64) {
        self.samples += count;
    }

    /// Marks `count` of the samples as those of a JVM, in which it synchronized threads or did not.
    pub(super) fn add_jvm(&mut self, synchronizes: bool, count: u64) {
        self.jvm += count;
        self.synchronization += u64::from(synchronizes) * count;
    }

    /// Tells for `count` of the samples what data was missed.
    pub(super) fn add_data(&mut self, name: &str, count: u64) {
        *self.data.entry(name.into()).or_default() += count;
    }

    /// The counts as shares of all samples.
    pub(super) fn shares(self) -> ProfiledSide {
        let share = |count: u64| if self.samples == 0 { 0.0 } else { count as f64 / self.samples as f64 };
        let [scheduler, wake_up, network, locks, copy] = self.activities.map(share);
        let inclusive = Shares { scheduler, wake_up, network, locks, copy };
        let routine = |(name, samples): (&Rc<str>, &u64)| Routine {
            name: name.to_string(),
            samples: *samples,
            share: share(*samples),
        };
        let missed = |(name, samples): (&Rc<str>, &u64)| MissedData {
            name: name.to_string(),
            samples: *samples,
            share: share(*samples),
        };
        ProfiledSide {
            samples: self.samples,
            kernel: share(self.kernel),
            inclusive,
            synchronization: (self.jvm > 0).then(|| self.synchronization as f64 / self.jvm as f64),
            top_self: most(&self.innermost).map(routine).collect(),
            top_data: most(&self.data).map(missed).collect(),
        }
    }
}

/// The names with the largest counts, largest first.
fn most(counts: &HashMap<Rc<str>, u64>) -> impl Iterator<Item = (&Rc<str>, &u64)> {
    let mut all: Vec<(&Rc<str>, &u64)> = counts.iter().collect();
    all.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    all.into_iter().take(TOP)
}

/// Scheduler work has one of these on its stack; wake-ups are counted separately.
fn is_scheduler(name: &str) -> bool {
    matches!(name, "__schedule" | "schedule_tail" | "schedule_idle")
}

fn is_wake_up(name: &str) -> bool {
    matches!(
        name,
        "try_to_wake_up" | "ttwu_do_activate" | "wake_up_q" | "sched_ttwu_pending" | "default_wake_function"
    ) || name.starts_with("__wake_up")
        || name.starts_with("ep_poll_callback")
}

fn is_network(name: &str) -> bool {
    const STARTS: [&str; 14] = [
        "tcp_",
        "__tcp_",
        "ip_",
        "__ip_",
        "sock_",
        "__sock_",
        "sk_",
        "__sk_",
        "net_rx_",
        "__netif_",
        "__dev_queue_xmit",
        "inet_",
        "__sys_send",
        "__sys_recv",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

fn is_lock(name: &str) -> bool {
    const STARTS: [&str; 12] = [
        "_raw_spin_",
        "_raw_read_",
        "_raw_write_",
        "queued_spin_",
        "queued_read_",
        "queued_write_",
        "native_queued_spin_",
        "__pv_queued_spin_",
        "mutex_",
        "__mutex_",
        "rwsem_",
        "osq_lock",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

fn is_copy(name: &str) -> bool {
    const PARTS: [&str; 6] =
        ["copy_from_user", "copy_to_user", "copy_user_", "_copy_to_iter", "_copy_from_iter", "rep_movs"];
    PARTS.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(names: &str) -> Vec<KernelRoutine> {
        names.split(';').filter(|name| !name.is_empty()).map(KernelRoutine::new).collect()
    }

    #[test]
    fn a_sample_counts_for_every_activity_on_its_stack() {
        let mut counts = StackCounts::default();
        counts.add(&stack("finish_task_switch;__schedule;schedule;futex_wait"), 30);
        counts.add(
            &stack("_raw_spin_unlock_irqrestore;try_to_wake_up;sock_def_readable;tcp_rcv_established"),
            20,
        );
        counts.add(&stack("rep_movs_alternative;_copy_to_iter;tcp_recvmsg"), 10);
        counts.add(&stack(""), 40);
        counts.add_jvm(true, 20);
        counts.add_jvm(false, 30);
        counts.add_data("slab filp", 5);
        counts.add_data("kernel stacks", 20);
        let side = counts.shares();
        assert_eq!((side.samples, side.kernel, side.synchronization), (100, 0.6, Some(0.4)));
        let Shares { scheduler, wake_up, network, locks, copy } = side.inclusive;
        assert_eq!((scheduler, wake_up, network, locks, copy), (0.3, 0.2, 0.3, 0.2, 0.1));
        assert_eq!((side.top_self[0].name.as_str(), side.top_self[0].share), ("finish_task_switch", 0.3));
        let data: Vec<_> = side.top_data.iter().map(|one| (one.name.as_str(), one.share)).collect();
        assert_eq!(data, [("kernel stacks", 0.2), ("slab filp", 0.05)]);
        assert_eq!(StackCounts::default().shares(), ProfiledSide::default());
    }
}
