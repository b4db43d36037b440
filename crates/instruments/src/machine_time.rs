//! Where the machine's CPU time goes, as /proc/stat counts it.

use procfs::{CurrentSI, KernelStats};

/// CPU time of the whole machine since boot, in ticks.
#[derive(Clone, Copy, Debug)]
pub struct MachineTime {
    all: u64,
    steal: u64,
    /// Of processes and of the kernel on their behalf.
    busy: u64,
}

impl MachineTime {
    /// Reads the counters now. `None` if the kernel does not tell.
    pub fn now() -> Option<MachineTime> {
        let total = KernelStats::current().ok()?.total;
        let steal = total.steal.unwrap_or(0);
        let all = total.user
            + total.nice
            + total.system
            + total.idle
            + total.iowait.unwrap_or(0)
            + total.irq.unwrap_or(0)
            + total.softirq.unwrap_or(0)
            + steal;
        Some(MachineTime { all, steal, busy: total.user + total.nice + total.system })
    }

    /// Share of the time that the hypervisor gave to others since boot, 0..=1.
    pub fn steal_share(&self) -> f64 {
        share(self.steal, self.all)
    }

    /// The same since `earlier`.
    pub fn steal_share_since(&self, earlier: &MachineTime) -> f64 {
        share(self.steal.saturating_sub(earlier.steal), self.all.saturating_sub(earlier.all))
    }

    /// Share of the time since `earlier` that was used by others than those who used `cpu_s` seconds, 0..=1.
    pub fn others_share_since(&self, earlier: &MachineTime, cpu_s: f64) -> f64 {
        let ticks = (cpu_s * procfs::ticks_per_second() as f64) as u64;
        let busy = self.busy.saturating_sub(earlier.busy);
        share(busy.saturating_sub(ticks), self.all.saturating_sub(earlier.all))
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_between() {
        let early = MachineTime { all: 1_000, steal: 100, busy: 300 };
        let late = MachineTime { all: 1_200, steal: 150, busy: 400 };
        assert_eq!(late.steal_share_since(&early), 0.25);
        assert_eq!(early.steal_share(), 0.1);
        assert_eq!(early.steal_share_since(&early), 0.0);
        let of_ours = 60.0 / procfs::ticks_per_second() as f64;
        assert_eq!(late.others_share_since(&early, of_ours), 0.2);
        assert_eq!(late.others_share_since(&early, 10.0 * of_ours), 0.0);
    }

    #[test]
    fn this_machine_tells_its_time() {
        assert!(MachineTime::now().is_some_and(|time| time.all > 0 && time.steal_share() <= 1.0));
    }
}
