//! A scheduler in force. Dropping it gives the machine back to the kernel's own.

use std::ffi::OsStr;

use klatch_record::lab::{SchedulerCounts, SchedulerReport};
use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, Object, ObjectBuilder};

use crate::catalog::{KNOB_BYTES, KNOB_VALUE, Scheduler};
use crate::error::SchedulerError;
use crate::observed::observed;
use crate::state::{State, exit_kind, state};
use crate::words;

/// A scheduler in force.
pub struct Loaded {
    /// Which.
    pub scheduler: &'static Scheduler,
    /// What was set about it, and what the other knobs are.
    pub knobs: Vec<(String, u64)>,
    object: Object,
    link: Option<Link>,
}

impl Loaded {
    /// Loads it; all ordinary tasks of the machine are its affair from then on.
    ///
    /// # Errors
    /// See [`SchedulerError`].
    pub fn load(
        scheduler: &'static Scheduler,
        settings: &[(String, String)],
    ) -> Result<Loaded, SchedulerError> {
        let values = values(scheduler, settings)?;
        check_free(state())?;
        check_cpus(scheduler, libbpf_rs::num_possible_cpus().unwrap_or_default())?;
        words::listen();
        let refused = |source: libbpf_rs::Error| match source.kind() {
            ErrorKind::PermissionDenied => SchedulerError::NotRoot,
            _ => match words::last() {
                words if words.contains("incompatible with vmlinux") => {
                    SchedulerError::Misdescribed { name: scheduler.name, words }
                }
                words => SchedulerError::Refused { name: scheduler.name, source, words },
            },
        };
        let mut open = ObjectBuilder::default().open_memory(scheduler.code).map_err(refused)?;
        for mut map in open.maps_mut() {
            if map.name() == OsStr::new(".rodata.knobs")
                && let Some(bytes) = map.initial_value_mut()
            {
                for (row, value) in bytes.chunks_exact_mut(KNOB_BYTES).zip(&values) {
                    row[KNOB_VALUE..KNOB_VALUE + 8].copy_from_slice(&value.to_ne_bytes());
                }
            }
        }
        let mut object = open.load().map_err(refused)?;
        let mut ops =
            object.maps_mut().find(|map| map.name() == "scheduler").expect("every scheduler has its ops");
        let link = ops.attach_struct_ops().map_err(refused)?;
        let names = scheduler.knobs().into_iter().map(|knob| knob.name);
        let loaded = Loaded { scheduler, knobs: names.zip(values).collect(), object, link: Some(link) };
        match loaded.lost() {
            Some(why) => Err(SchedulerError::ThrownOut { name: scheduler.name, why }),
            None => Ok(loaded),
        }
    }

    /// Why it is not in force any more, if so: the workload goes on under the kernel's own, silently.
    pub fn lost(&self) -> Option<String> {
        let there = state()?;
        let ours = there.scheduler.as_deref().is_some_and(|name| name.starts_with(&self.kernel_name()));
        if there.state == "enabled" && ours {
            return None;
        }
        let (kind, reason, message) = self.ending();
        Some(match kind {
            0 => format!("sched_ext is {}", there.state),
            _ => format!("{}: {reason} {message}", exit_kind(kind)).trim().to_owned(),
        })
    }

    /// What it counted so far.
    ///
    /// # Errors
    /// The kernel does not give it out.
    pub fn observed(&self) -> Result<SchedulerCounts, SchedulerError> {
        let map = |name: &str| self.object.maps().find(|map| map.name() == name);
        match (map("klatch_stats"), map("klatch_costs")) {
            (Some(stats), Some(costs)) => observed(self.scheduler, &stats, &costs),
            _ => unreachable!("klatch.bpf.h has both"),
        }
    }

    /// Settings and counters so far.
    ///
    /// # Errors
    /// The kernel refuses to read its maps.
    pub fn report(&self) -> Result<SchedulerReport, SchedulerError> {
        Ok(SchedulerReport {
            scheduler: self.scheduler.name.to_owned(),
            knobs: self.knobs.clone(),
            lost: self.lost(),
            observed: self.observed()?,
        })
    }

    /// Unloads it. What the kernel says of the end: kind, reason and message.
    pub fn unload(mut self) -> (i64, String, String) {
        self.link = None;
        // The kernel ends it aside; the link is gone when that is done, or the state tells.
        self.ending()
    }

    fn kernel_name(&self) -> String {
        self.scheduler.kernel_name()
    }

    fn ending(&self) -> (i64, String, String) {
        let found = self.object.maps().find(|map| map.name() == "klatch_ending");
        let bytes = found.and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
        let bytes = bytes.unwrap_or_else(|| vec![0; 656]);
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        let kind = i64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
        (kind, text(&bytes[16..144]), text(&bytes[144..]))
    }
}

/// Refuses a kernel without sched_ext, or with a scheduler loaded already.
fn check_free(state: Option<State>) -> Result<(), SchedulerError> {
    let there = state.ok_or(SchedulerError::NoSchedExt)?;
    match there.state.as_str() {
        "disabled" => Ok(()),
        _ => Err(SchedulerError::Busy { name: there.scheduler.unwrap_or(there.state) }),
    }
}

/// Refuses a machine with more CPUs than the scheduler's tables hold: tasks bound to the others would starve.
fn check_cpus(scheduler: &'static Scheduler, cpus: usize) -> Result<(), SchedulerError> {
    match scheduler.cpus_max() {
        Some(max) if cpus > max as usize => {
            Err(SchedulerError::TooManyCpus { name: scheduler.name, max, cpus })
        }
        _ => Ok(()),
    }
}

/// The value of every knob, in order.
pub(crate) fn values(
    scheduler: &'static Scheduler,
    settings: &[(String, String)],
) -> Result<Vec<u64>, SchedulerError> {
    let knobs = scheduler.knobs();
    let mut values: Vec<u64> = knobs.iter().map(|knob| knob.default).collect();
    for (name, value) in settings {
        let Some(place) = knobs.iter().position(|knob| knob.name == *name) else {
            let knobs = knobs.iter().map(|knob| knob.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(SchedulerError::NoKnob { scheduler: scheduler.name, knob: name.clone(), knobs });
        };
        let knob = &knobs[place];
        let parsed = value.parse().ok().filter(|number| (knob.min..=knob.max).contains(number));
        values[place] = parsed.ok_or_else(|| SchedulerError::KnobValue {
            scheduler: scheduler.name,
            knob: name.clone(),
            min: knob.min,
            max: knob.max,
            value: value.clone(),
        })?;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    fn set(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn knobs_are_within_their_range() {
        let goodness = find("goodness").unwrap();
        assert_eq!(values(goodness, &set("version", "24")).unwrap()[0], 24);
        let told = values(goodness, &set("version", "25")).unwrap_err().to_string();
        assert_eq!(told, "version of the scheduler goodness must be 23..=24, got 25");
        let told = values(goodness, &set("coffee", "1")).unwrap_err().to_string();
        assert!(told.contains("no knob coffee; it has version, "), "{told}");
    }

    #[test]
    fn more_cpus_than_the_tables_hold_are_refused() {
        for name in ["goodness", "head", "multiqueue", "o1"] {
            let scheduler = find(name).unwrap();
            assert!(check_cpus(scheduler, 64).is_ok());
            let told = check_cpus(scheduler, 65).unwrap_err().to_string();
            let expected =
                format!("the scheduler {name} takes at most 64 CPUs, and this machine can have 65; ");
            assert!(told.starts_with(&expected), "{told}");
        }
        assert!(check_cpus(find("fifo").unwrap(), 1024).is_ok());
    }

    #[test]
    fn a_kernel_without_sched_ext_is_told_of_the_lab() {
        let told = check_free(None).unwrap_err().to_string();
        assert!(told.contains("sched_ext") && told.contains("klatch lab"), "{told}");
    }

    #[test]
    fn a_scheduler_that_is_loaded_already_is_named() {
        let there = |state: &str, scheduler: Option<&str>| {
            let scheduler = scheduler.map(str::to_owned);
            Some(State { state: state.to_owned(), scheduler, loads: 1, rejected: None })
        };
        assert!(check_free(there("disabled", None)).is_ok());
        let told = check_free(there("enabled", Some("scx_rusty"))).unwrap_err().to_string();
        assert!(told.starts_with("the scheduler scx_rusty is loaded already"), "{told}");
    }
}
