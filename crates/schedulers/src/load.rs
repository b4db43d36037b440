//! Loads a scheduler into this kernel. Dropping it returns the machine to the kernel's own scheduler.

use std::ffi::OsStr;

use klatch_record::instead_of;
use klatch_record::lab::{SchedulerCounts, SchedulerReport};
use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, Object, ObjectBuilder};

use crate::catalog::{KNOB_BYTES, KNOB_VALUE, Scheduler};
use crate::counters::read_counters;
use crate::error::SchedulerError;
use crate::libbpf_log;
use crate::per_cpu::possible_cpus;
use crate::state::{SchedExtState, exit_kind, sched_ext_state};

/// A loaded scheduler; unloaded on drop.
pub struct Loaded {
    /// Its entry in the catalogue.
    pub scheduler: &'static Scheduler,
    /// Every knob with its value, defaults included.
    pub knobs: Vec<(String, u64)>,
    object: Object,
    /// Closing it waits until the kernel has unloaded the scheduler.
    _link: Link,
}

impl Loaded {
    /// Loads it. From then on it schedules all tasks of the machine that are not real-time.
    ///
    /// # Errors
    /// See [`SchedulerError`].
    pub fn load(
        scheduler: &'static Scheduler,
        settings: &[(String, String)],
    ) -> Result<Loaded, SchedulerError> {
        let values = knob_values(scheduler, settings)?;
        check_free(sched_ext_state())?;
        libbpf_log::start();
        let refused = |source: libbpf_rs::Error| match source.kind() {
            ErrorKind::PermissionDenied => SchedulerError::NotRoot,
            _ => match libbpf_log::tail() {
                log if log.contains("incompatible with vmlinux") => {
                    SchedulerError::WrongBtf { name: scheduler.name, log }
                }
                log => SchedulerError::Refused { name: scheduler.name, source, log },
            },
        };
        check_cpus(scheduler, possible_cpus().map_err(refused)?)?;
        let mut open = ObjectBuilder::default().open_memory(scheduler.object).map_err(refused)?;
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
        let loaded = Loaded { scheduler, knobs: names.zip(values).collect(), object, _link: link };
        match loaded.lost() {
            Some(cause) => Err(SchedulerError::Unloaded { name: scheduler.name, cause }),
            None => Ok(loaded),
        }
    }

    /// Why it is no longer loaded; `None` while it is. The kernel falls back to its own scheduler without a message.
    pub fn lost(&self) -> Option<String> {
        let state = sched_ext_state()?;
        let is_ours = state.scheduler.as_deref().is_some_and(|name| name.starts_with(&self.kernel_name()));
        if state.state == "enabled" && is_ours {
            return None;
        }
        let (kind, reason, message) = self.ending();
        Some(match kind {
            0 => format!("sched_ext is {}", state.state),
            _ => format!("{}: {reason} {message}", exit_kind(kind)).trim().to_owned(),
        })
    }

    /// Counters so far.
    ///
    /// # Errors
    /// The kernel refuses to read its maps.
    pub fn counters(&self) -> Result<SchedulerCounts, SchedulerError> {
        let map = |name: &str| self.object.maps().find(|map| map.name() == name);
        match (map("klatch_stats"), map("klatch_costs")) {
            (Some(stats), Some(costs)) => read_counters(self.scheduler, &stats, &costs),
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
            observed: self.counters()?,
        })
    }

    fn kernel_name(&self) -> String {
        self.scheduler.kernel_name()
    }

    fn ending(&self) -> (i64, String, String) {
        let map = self.object.maps().find(|map| map.name() == "klatch_ending");
        let bytes = map.and_then(|map| map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten());
        let bytes = bytes.unwrap_or_else(|| vec![0; 656]);
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
        };
        let kind = i64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes"));
        (kind, text(&bytes[16..144]), text(&bytes[144..]))
    }
}

/// Refuses a kernel without sched_ext, or with a scheduler loaded already.
///
/// # Errors
/// [`SchedulerError::NoSchedExt`] or [`SchedulerError::Busy`].
pub fn check_free(state: Option<SchedExtState>) -> Result<(), SchedulerError> {
    let state = state.ok_or(SchedulerError::NoSchedExt)?;
    match state.state.as_str() {
        "disabled" => Ok(()),
        _ => Err(SchedulerError::Busy { name: state.scheduler.unwrap_or(state.state) }),
    }
}

/// Refuses a machine with more CPUs than the scheduler's tables can hold: tasks bound to the excess CPUs would starve.
fn check_cpus(scheduler: &'static Scheduler, cpus: usize) -> Result<(), SchedulerError> {
    match scheduler.cpus_max() {
        Some(max) if cpus > max as usize => {
            Err(SchedulerError::TooManyCpus { name: scheduler.name, max, cpus })
        }
        _ => Ok(()),
    }
}

/// The value of every knob in the catalogue's order; `settings` override defaults.
pub(crate) fn knob_values(
    scheduler: &'static Scheduler,
    settings: &[(String, String)],
) -> Result<Vec<u64>, SchedulerError> {
    let knobs = scheduler.knobs();
    let mut values: Vec<u64> = knobs.iter().map(|knob| knob.default).collect();
    for (name, value) in settings {
        let Some(index) = knobs.iter().position(|knob| knob.name == *name) else {
            let names: Vec<&str> = knobs.iter().map(|knob| knob.name.as_str()).collect();
            let instead = instead_of(name, &names, "it has");
            return Err(SchedulerError::NoKnob { scheduler: scheduler.name, knob: name.clone(), instead });
        };
        let knob = &knobs[index];
        let parsed = value.parse().ok().filter(|number| (knob.min..=knob.max).contains(number));
        values[index] = parsed.ok_or_else(|| SchedulerError::KnobValue {
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
    fn knobs_out_of_range_are_refused() {
        let goodness = find("goodness").unwrap();
        assert_eq!(knob_values(goodness, &set("version", "24")).unwrap()[0], 24);
        let error = knob_values(goodness, &set("version", "25")).unwrap_err().to_string();
        assert_eq!(error, "version of the scheduler goodness must be 23 to 24, got 25");
        let error = knob_values(goodness, &set("coffee", "1")).unwrap_err().to_string();
        assert!(error.contains("no knob coffee; it has version, "), "{error}");
    }

    #[test]
    fn more_cpus_than_the_tables_hold_are_refused() {
        for name in ["goodness", "head", "multiqueue", "o1"] {
            let scheduler = find(name).unwrap();
            assert!(check_cpus(scheduler, 64).is_ok());
            let error = check_cpus(scheduler, 65).unwrap_err().to_string();
            let expected =
                format!("the scheduler {name} takes at most 64 CPUs, and this machine can have 65; ");
            assert!(error.starts_with(&expected), "{error}");
        }
        assert!(check_cpus(find("fifo").unwrap(), 1024).is_ok());
    }

    #[test]
    fn without_sched_ext_the_error_names_the_lab() {
        let error = check_free(None).unwrap_err().to_string();
        assert!(error.contains("sched_ext") && error.contains("run it in the lab"), "{error}");
    }

    #[test]
    fn another_loaded_scheduler_is_named_in_the_error() {
        let state = |state: &str, scheduler: Option<&str>| {
            let scheduler = scheduler.map(str::to_owned);
            Some(SchedExtState { state: state.to_owned(), scheduler, loads: 1, rejected: None })
        };
        assert!(check_free(state("disabled", None)).is_ok());
        let error = check_free(state("enabled", Some("scx_rusty"))).unwrap_err().to_string();
        assert!(error.starts_with("the scheduler scx_rusty is loaded already"), "{error}");
    }
}
