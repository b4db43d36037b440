//! The CPUs that a run may use. The kernel counts more: those that may appear later, and those of other containers.

use klatch_host::machine::{CpuQuota, allowed_cpus, is_allowed_cpu};

/// CPUs that the run may use together: those it may run on, or the quota of its control groups if that is less.
pub(crate) fn usable_cpus() -> f64 {
    CpuQuota::read().map_or(f64::INFINITY, |quota| quota.cpus()).min(f64::from(allowed_cpus()))
}

/// Of values by CPU number, those of the CPUs that the run may use.
pub(crate) fn of_usable<T>(by_cpu: &[T]) -> impl Iterator<Item = &T> {
    by_cpu.iter().enumerate().filter(|(number, _)| is_allowed_cpu(*number)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_the_run_may_not_use_do_not_count() {
        // Of a thread, so that other tests keep their CPUs.
        let (all, one) = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let possible: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU + 64).collect();
                let of_all = of_usable(&possible).copied().collect::<Vec<_>>();
                let mut set = rustix::thread::CpuSet::new();
                set.set(of_all[0]);
                rustix::thread::sched_setaffinity(None, &set).unwrap();
                let of_one: Vec<usize> = of_usable(&possible).copied().collect();
                assert_eq!(usable_cpus(), CpuQuota::read().map_or(1.0, |quota| quota.cpus().min(1.0)));
                (of_all, of_one)
            });
            thread.join().unwrap()
        });
        assert_eq!(one, all[..1]);
    }
}
