//! The machine's CPU time by use, from `/proc/stat`.

use rustix::param::clock_ticks_per_second;

/// CPU time of the whole machine since boot, in clock ticks, all CPUs together.
#[derive(Clone, Copy, Debug)]
pub struct MachineTime {
    all: u64,
    steal: u64,
    /// Time that the clocks of processes contain.
    busy: u64,
}

impl MachineTime {
    /// Reads the counters; `None` if `/proc/stat` cannot be read.
    pub fn read() -> Option<MachineTime> {
        MachineTime::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(stat: &str) -> Option<MachineTime> {
        let total = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let mut times = [0_u64; 8];
        for (time, text) in times.iter_mut().zip(total.split_ascii_whitespace()) {
            *time = text.parse().ok()?;
        }
        // Guest time, which follows, is in user and nice already.
        let [user, nice, system, idle, iowait, irq, softirq, steal] = times;
        let of_processes = user + nice + system;
        let all = of_processes + idle + iowait + irq + softirq + steal;
        // A kernel without CONFIG_IRQ_TIME_ACCOUNTING attributes time by ticks, and no tick sees an interrupt. Such a kernel charges
        // the work of interrupts to the process that they interrupt, and so do the clocks of processes.
        let busy = if irq == 0 { of_processes + softirq } else { of_processes };
        Some(MachineTime { all, steal, busy })
    }

    /// Share of the CPU time since boot that the hypervisor gave to other guests, 0..=1. `None` if no time is counted, as in gVisor,
    /// whose file has zeros.
    pub fn steal_share(&self) -> Option<f64> {
        share(self.steal, self.all)
    }

    /// Share of the CPU time since `earlier` that the hypervisor gave to other guests, 0..=1; `None` if no time was counted.
    pub fn steal_share_since(&self, earlier: &MachineTime) -> Option<f64> {
        share(self.steal.saturating_sub(earlier.steal), self.all.saturating_sub(earlier.all))
    }

    /// Share of the CPU time since `earlier` that other processes used, 0..=1; `own_cpu_s` seconds were the caller's. `None` if no
    /// time was counted.
    pub fn others_share_since(&self, earlier: &MachineTime, own_cpu_s: f64) -> Option<f64> {
        let own_ticks = (own_cpu_s * clock_ticks_per_second() as f64) as u64;
        let busy = self.busy.saturating_sub(earlier.busy);
        share(busy.saturating_sub(own_ticks), self.all.saturating_sub(earlier.all))
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_between() {
        let early = MachineTime { all: 1_000, steal: 100, busy: 300 };
        let late = MachineTime { all: 1_200, steal: 150, busy: 400 };
        assert_eq!(late.steal_share_since(&early), Some(0.25));
        assert_eq!(early.steal_share(), Some(0.1));
        let own_s = 60.0 / clock_ticks_per_second() as f64;
        assert_eq!(late.others_share_since(&early, own_s), Some(0.2));
        assert_eq!(late.others_share_since(&early, 10.0 * own_s), Some(0.0));
    }

    #[test]
    fn a_file_that_does_not_move_has_no_shares() {
        let of_gvisor = MachineTime::parse("cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n").unwrap();
        let stuck = MachineTime { all: 1_000, steal: 100, busy: 300 };
        for time in [of_gvisor, stuck] {
            assert_eq!((time.steal_share_since(&time), time.others_share_since(&time, 0.0)), (None, None));
        }
        assert_eq!(of_gvisor.steal_share(), None);
    }

    #[test]
    fn guest_time_counts_once_and_interrupts_without_a_clock_belong_to_processes() {
        let time = |text| MachineTime::parse(text).map(|time| (time.all, time.steal, time.busy));
        assert_eq!(time("cpu  1 2 3 40 5 0 7 8 1 2\ncpu0 9 9 9 9\n"), Some((66, 8, 13)));
        assert_eq!(time("cpu  1 2 3 40 5 6 7 8 1 2\n"), Some((72, 8, 6)));
        assert_eq!(time("intr 1 2\n"), None);
    }

    #[test]
    fn this_machine_has_cpu_time() {
        assert!(MachineTime::read().is_some_and(|time| time.all > 0 && time.steal_share() <= Some(1.0)));
    }
}
