//! The CPUs that a process may run on (`sched_setaffinity(2)`).

use std::io;
use std::sync::Arc;

use klatch_host::machine::core_classes;
use klatch_record::{CORE_CLASSES, parse_cpu_list, write_cpu_list};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{ProcessSetting, Refusal};

pub(super) const HELP: &str = "CPUs that it may run on: 0, 0-3,6, first:2 (the first two of those allowed here), \
                               all of these, big, medium or little (a class of unlike cores), or apart (of several servers each has its own part of them)";
const ONLINE: &str = "/sys/devices/system/cpu/online";

#[derive(Debug)]
struct Cpus {
    set: CpuSet,
    /// Whether each of several servers has its own part of the set.
    apart: bool,
}

pub(super) fn parse(text: &str) -> Result<Arc<dyn ProcessSetting>, String> {
    let online = std::fs::read_to_string(ONLINE).map_err(|error| format!("cannot read {ONLINE}: {error}"))?;
    let allowed =
        sched_getaffinity(None).map_err(|error| format!("cannot read the CPU mask of klatch: {error}"))?;
    let apart = text == "apart";
    let set = match text {
        "apart" | "all" => allowed,
        class if CORE_CLASSES.contains(&class) => of_class(class, &core_classes(), &allowed)?,
        _ => cpus(text, online.trim(), &allowed)?,
    };
    Ok(Arc::new(Cpus { set, apart }))
}

/// The CPUs of a class of cores that this process may use.
fn of_class(class: &str, classes: &[(&'static str, Vec<usize>)], allowed: &CpuSet) -> Result<CpuSet, String> {
    let Some((_, cpus)) = classes.iter().find(|(name, _)| *name == class) else {
        let names: Vec<&str> = classes.iter().map(|(name, _)| *name).collect();
        return Err(match names.as_slice() {
            [] => {
                "the cores of this machine are alike, or its kernel does not say how they differ".to_owned()
            }
            names => format!("the cores of this machine are {}", names.join(" and ")),
        });
    };
    let mut set = CpuSet::new();
    cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU && allowed.is_set(**cpu)).for_each(|&cpu| set.set(cpu));
    if set.count() == 0 {
        return Err(format!("klatch may not use the {class} cores, CPUs {}", write_cpu_list(cpus)));
    }
    Ok(set)
}

/// Part `index` of `count` of a set, at least one CPU. Parts have no CPU in common unless there are fewer CPUs than parts.
fn part(set: &CpuSet, index: usize, count: usize) -> CpuSet {
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    let begin = index * cpus.len() / count;
    let end = ((index + 1) * cpus.len() / count).max(begin + 1);
    let mut part = CpuSet::new();
    cpus[begin..end].iter().for_each(|&cpu| part.set(cpu));
    part
}

/// Parses `text` to a set of CPUs. `online` lists the CPUs of the machine, `allowed` is the process's own mask.
fn cpus(text: &str, online: &str, allowed: &CpuSet) -> Result<CpuSet, String> {
    let mut set = CpuSet::new();
    if let Some(count) = text.strip_prefix("first:") {
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
        let most = allowed.len();
        let count = count.parse().ok().filter(|count| (1..=most).contains(count)).ok_or_else(|| {
            format!("the count after first: must be 1 to {most}, the CPUs that this process may run on")
        })?;
        allowed[..count].iter().for_each(|&cpu| set.set(cpu));
        return Ok(set);
    }
    let wrong = || {
        "must be CPU numbers and ranges, such as 0 or 0-3,6, or first:2, all, apart, big or little".to_owned()
    };
    let exists = parse_cpu_list(online).ok_or_else(|| format!("{ONLINE} is odd: {online}"))?;
    for cpu in parse_cpu_list(text).ok_or_else(wrong)? {
        if cpu >= CpuSet::MAX_CPU || !exists.contains(&cpu) {
            return Err(format!("CPU {cpu} does not exist; this machine has {online}"));
        }
        set.set(cpu);
    }
    Ok(set)
}

impl ProcessSetting for Cpus {
    fn set(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.set)?)
    }

    fn in_force(&self) -> io::Result<bool> {
        Ok(sched_getaffinity(None)? == self.set)
    }

    fn of_server(&self, index: usize, count: usize) -> Option<Arc<dyn ProcessSetting>> {
        let of_server = || Arc::new(Cpus { set: part(&self.set, index, count), apart: false });
        self.apart.then(|| of_server() as Arc<dyn ProcessSetting>)
    }

    fn advice(&self, refusal: &Refusal) -> String {
        let cpuset = "the control group (cpuset) that klatch runs in does not give all of these CPUs; \
                      Cpus_allowed_list in /proc/self/status lists those it gives";
        match refusal {
            Refusal::Error(error) if error.raw_os_error() != Some(libc::EINVAL) => error.to_string(),
            _ => cpuset.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus_text(text: &str) -> String {
        let mut allowed = CpuSet::new();
        [1, 3].iter().for_each(|&cpu| allowed.set(cpu));
        match cpus(text, "0-3,6", &allowed) {
            Ok(set) => format!("{:?}", (0..99).filter(|&cpu| set.is_set(cpu)).collect::<Vec<_>>()),
            Err(reason) => reason,
        }
    }

    #[test]
    fn lists_ranges_and_counts_are_cpus() {
        for (text, expected) in
            [("0", "[0]"), ("0-2,6", "[0, 1, 2, 6]"), ("first:1", "[1]"), ("first:2", "[1, 3]")]
        {
            assert_eq!(cpus_text(text), expected, "{text}");
        }
    }

    #[test]
    fn a_class_is_those_of_its_cores_that_are_allowed() {
        let mut allowed = CpuSet::new();
        [1, 3].iter().for_each(|&cpu| allowed.set(cpu));
        let classes = [("big", vec![0, 1]), ("little", vec![2])];
        let of = |class: &str, classes: &[(&'static str, Vec<usize>)]| of_class(class, classes, &allowed);
        let big = of("big", &classes).unwrap();
        assert!(big.count() == 1 && big.is_set(1));
        for (class, classes, reason) in [
            ("little", &classes as &[_], "klatch may not use the little cores, CPUs 2"),
            ("medium", &classes, "the cores of this machine are big and little"),
            ("big", &[], "the cores of this machine are alike, or its kernel does not say how they differ"),
        ] {
            assert_eq!(of(class, classes).unwrap_err(), reason);
        }
    }

    #[test]
    fn servers_apart_share_the_cpus_evenly() {
        let mut set = CpuSet::new();
        [0, 1, 2, 5, 6].iter().for_each(|&cpu| set.set(cpu));
        let parts = |count: usize| -> Vec<Vec<usize>> {
            let cpus = |part: CpuSet| (0..99).filter(|&cpu| part.is_set(cpu)).collect();
            (0..count).map(|index| cpus(part(&set, index, count))).collect()
        };
        assert_eq!(parts(1), [vec![0, 1, 2, 5, 6]]);
        assert_eq!(parts(2), [vec![0, 1], vec![2, 5, 6]]);
        let many = parts(7);
        assert!(many.iter().all(|part| part.len() == 1), "{many:?}");
    }

    #[test]
    fn invalid_cpu_sets_are_errors() {
        assert_eq!(cpus_text("7"), "CPU 7 does not exist; this machine has 0-3,6");
        assert_eq!(cpus_text("2-5"), "CPU 4 does not exist; this machine has 0-3,6");
        for text in ["", "x", "3-1", "0,", "-1", "99999"] {
            assert!(cpus_text(text).starts_with("must be CPU numbers and ranges"), "{text}");
        }
        for text in ["first:0", "first:3", "first:x"] {
            assert!(cpus_text(text).starts_with("the count after first: must be 1 to 2, "), "{text}");
        }
    }
}
