//! Samples how many CPUs server and crowd use while a run goes on, for its live display.

use std::time::{Duration, Instant};

use klatch_host::machine::cpu_time_ns;
use klatch_instruments::Targets;
use klatch_record::CrowdEvent;

/// Shortest time between two samples: over less, CPU times are too coarse.
const INTERVAL_MIN: Duration = Duration::from_millis(400);

/// The last sample of the CPU time of both sides.
pub(crate) struct CpuSampler {
    targets: Targets,
    sampled_at: Instant,
    /// Of servers and crowds; `None` for a side without a process on this machine.
    used_ns: [Option<u64>; 2],
}

impl CpuSampler {
    pub(crate) fn new(targets: Targets) -> CpuSampler {
        CpuSampler { sampled_at: Instant::now(), used_ns: used_ns(&targets), targets }
    }

    /// The mean number of CPUs that each side used since the last sample; `None` if that was too short ago.
    pub(crate) fn sample(&mut self) -> Option<CrowdEvent> {
        let elapsed = self.sampled_at.elapsed();
        if elapsed < INTERVAL_MIN {
            return None;
        }
        let now_ns = used_ns(&self.targets);
        let cpus = |side: usize| {
            let used_ns = now_ns[side]?.saturating_sub(self.used_ns[side]?);
            Some(used_ns as f64 / elapsed.as_nanos() as f64)
        };
        let event = CrowdEvent::Cpus { server: cpus(0), crowd: cpus(1) };
        (self.sampled_at, self.used_ns) = (Instant::now(), now_ns);
        Some(event)
    }
}

fn used_ns(targets: &Targets) -> [Option<u64>; 2] {
    [&targets.servers, &targets.crowds].map(|pids| {
        let each: Option<Vec<u64>> = pids.iter().map(|&pid| cpu_time_ns(pid).ok()).collect();
        each.filter(|each| !each.is_empty()).map(|each| each.iter().sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_side_uses_cpu_time_and_a_remote_side_is_unknown() {
        let pid = std::process::id();
        let mut sampler = CpuSampler::new(Targets { servers: vec![pid], crowds: vec![] });
        let began_ns = cpu_time_ns(pid).unwrap();
        while sampler.sampled_at.elapsed() < INTERVAL_MIN || cpu_time_ns(pid).unwrap() < began_ns + 50_000_000
        {
            std::hint::black_box(0);
        }
        let Some(CrowdEvent::Cpus { server: Some(server), crowd: None }) = sampler.sample() else {
            panic!("the server is this process")
        };
        assert!(server > 0.0, "{server}");
    }
}
