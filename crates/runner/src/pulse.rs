//! CPUs that server and crowd have while a run goes on, for whoever watches it.

use std::time::{Duration, Instant};

use klatch_instruments::{Targets, cpu_time_ns};
use klatch_record::CrowdEvent;

/// CPU time within less than this says little.
const LEAST: Duration = Duration::from_millis(400);

/// CPU time as it was told last.
pub(crate) struct Pulse {
    targets: Targets,
    at: Instant,
    /// Of servers and crowds, ns; `None` where nothing runs on this machine.
    used_ns: [Option<u64>; 2],
}

impl Pulse {
    pub(crate) fn new(targets: Targets) -> Pulse {
        Pulse { at: Instant::now(), used_ns: used_ns(&targets), targets }
    }

    /// CPUs that both had since this was told before; `None` if that was just now.
    pub(crate) fn cpus(&mut self) -> Option<CrowdEvent> {
        let elapsed = self.at.elapsed();
        if elapsed < LEAST {
            return None;
        }
        let now_ns = used_ns(&self.targets);
        let had = |side: usize| {
            let used_ns = now_ns[side]?.saturating_sub(self.used_ns[side]?);
            Some(used_ns as f64 / elapsed.as_nanos() as f64)
        };
        let event = CrowdEvent::Cpus { server: had(0), crowd: had(1) };
        (self.at, self.used_ns) = (Instant::now(), now_ns);
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
    fn who_is_busy_has_a_cpu_and_who_is_elsewhere_is_not_known() {
        let me = std::process::id();
        let mut pulse = Pulse::new(Targets { servers: vec![me], crowds: vec![] });
        let began_ns = cpu_time_ns(me).unwrap();
        while pulse.at.elapsed() < LEAST || cpu_time_ns(me).unwrap() < began_ns + 50_000_000 {
            std::hint::black_box(0);
        }
        let Some(CrowdEvent::Cpus { server: Some(server), crowd: None }) = pulse.cpus() else {
            panic!("the server is this process")
        };
        assert!(server > 0.0, "{server}");
    }
}
