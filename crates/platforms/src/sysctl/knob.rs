//! Reads and writes one sysctl through its file.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use klatch_host::privileges::as_root;

use super::SysctlError;
use super::table::{self, Values};

const FEATURES: &str = "/sys/kernel/debug/sched/features";

/// A sysctl that Klatch may change.
#[derive(Debug)]
pub(super) struct SystemKnob {
    name: String,
    file: PathBuf,
    values: Values,
    /// The scheduler feature that it stands for, if it is one.
    feature: Option<String>,
}

impl SystemKnob {
    /// Accepts `thp`, `sched.FEATURE`, `sched.file` and sysctls, if the table lists them.
    pub(super) fn from_name(name: &str) -> Result<SystemKnob, SysctlError> {
        let values = table::values(name).ok_or_else(|| SysctlError::Name(name.to_owned()))?;
        let of_scheduler = name.strip_prefix("sched.");
        let feature = of_scheduler.filter(|rest| table::is_feature(rest));
        let file = match (name, of_scheduler) {
            ("thp", _) => PathBuf::from("/sys/kernel/mm/transparent_hugepage/enabled"),
            (_, Some(_)) if feature.is_some() => PathBuf::from(FEATURES),
            (_, Some(rest)) => Path::new("/sys/kernel/debug/sched").join(rest),
            _ => Path::new("/proc/sys").join(name.replace('.', "/")),
        };
        Ok(SystemKnob { name: name.to_owned(), file, values, feature: feature.map(str::to_owned) })
    }

    /// Checks the value against the table.
    pub(super) fn check(&self, value: &str) -> Result<(), SysctlError> {
        if self.values.allow(value) {
            return Ok(());
        }
        let (name, value, allowed) = (self.name.clone(), value.to_owned(), self.values.to_string());
        Err(SysctlError::Value { name, value, allowed })
    }

    pub(super) fn read(&self) -> Result<String, SysctlError> {
        let text = as_root(|| std::fs::read_to_string(&self.file))
            .map_err(|source| self.file_error("read", source))?;
        if let Some(feature) = &self.feature {
            let off = format!("NO_{feature}");
            let actual = text.split_whitespace().find(|word| *word == feature || *word == off);
            let actual = actual.ok_or_else(|| SysctlError::Name(self.name.clone()))?;
            return Ok(if actual == off { "off" } else { "on" }.to_owned());
        }
        // Files with a choice of values mark the current one with brackets.
        let bracketed = text.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
        Ok(bracketed.unwrap_or(text.trim()).to_owned())
    }

    /// Checks the permission to write, without writing.
    pub(super) fn writable(&self) -> Result<(), SysctlError> {
        self.open().map_err(|source| self.file_error("write", source))?;
        Ok(())
    }

    fn open(&self) -> std::io::Result<File> {
        as_root(|| File::options().write(true).open(&self.file))
    }

    pub(super) fn write(&self, value: &str) -> Result<(), SysctlError> {
        self.check(value)?;
        let word = match (&self.feature, value) {
            (Some(feature), "on") => feature.clone(),
            (Some(feature), "off") => format!("NO_{feature}"),
            _ => value.to_owned(),
        };
        // The kernel takes a value in a single write.
        self.open().and_then(|mut file| file.write_all(format!("{word}\n").as_bytes())).map_err(|source| {
            let wrong_value = matches!(source.kind(), ErrorKind::InvalidInput);
            self.file_error(if wrong_value { "write such a value to" } else { "write" }, source)
        })
    }

    fn file_error(&self, what: &'static str, source: std::io::Error) -> SysctlError {
        let (name, file) = (self.name.clone(), self.file.display().to_string());
        if source.kind() != ErrorKind::NotFound {
            let hint = match (source.kind(), rustix::process::geteuid().is_root()) {
                (ErrorKind::PermissionDenied, false) => "; run klatch as root",
                (ErrorKind::PermissionDenied, true) => "; the kernel forbids it (a container, or lockdown)",
                _ => "",
            };
            return SysctlError::File { name, what, file, source, hint };
        }
        let debug = self.file.starts_with("/sys/kernel/debug");
        let hint = if debug { "; as root, `mount -t debugfs none /sys/kernel/debug`" } else { "" };
        SysctlError::Missing { name, file, hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knob(name: &str, file: &Path) -> SystemKnob {
        SystemKnob { file: file.to_owned(), ..SystemKnob::from_name(name).unwrap() }
    }

    #[test]
    fn names_map_to_files() {
        for (name, file) in [
            ("vm.nr_hugepages", "/proc/sys/vm/nr_hugepages"),
            ("thp", "/sys/kernel/mm/transparent_hugepage/enabled"),
            ("sched.base_slice_ns", "/sys/kernel/debug/sched/base_slice_ns"),
            ("sched.WAKEUP_PREEMPTION", "/sys/kernel/debug/sched/features"),
        ] {
            assert_eq!(SystemKnob::from_name(name).unwrap().file, Path::new(file));
        }
    }

    #[test]
    fn features_and_bracketed_values_are_parsed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, "PLACE_LAG NO_RUN_TO_PARITY WAKEUP_PREEMPTION\n").unwrap();
        let read = |name: &str| knob(name, file.path()).read().map_err(|error| error.to_string());
        assert_eq!(read("sched.WAKEUP_PREEMPTION").unwrap(), "on");
        assert_eq!(read("sched.RUN_TO_PARITY").unwrap(), "off");
        assert!(read("sched.PARITY").unwrap_err().starts_with("sched.PARITY is not a setting"));
        std::fs::write(&file, "always [madvise] never\n").unwrap();
        assert_eq!(read("thp").unwrap(), "madvise");
        for (name, value, written) in [
            ("sched.WAKEUP_PREEMPTION", "off", "NO_WAKEUP_PREEMPTION\n"),
            ("sched.WAKEUP_PREEMPTION", "on", "WAKEUP_PREEMPTION\n"),
            ("vm.nr_hugepages", "64", "64\n"),
        ] {
            std::fs::write(&file, "").unwrap();
            knob(name, file.path()).write(value).unwrap();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
        }
    }
}
