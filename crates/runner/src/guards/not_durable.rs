//! Warns if commits were to be durable, and a crash of the machine would lose them.

use klatch_host::machine::is_volatile;
use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// The variable with libraries that replace functions of the C library, and one that makes fsync do nothing.
const PRELOADED: (&str, &str) = ("LD_PRELOAD", "eatmydata");

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let database = record.platform.database.as_ref().filter(|database| database.durable)?;
    let (variable, library) = PRELOADED;
    let preloaded = record.environment.variables.get(variable).filter(|value| value.contains(library));
    let volatile = database.file_system.as_deref().filter(|name| is_volatile(name));
    let (why, advice) = match (volatile, preloaded) {
        (Some(name), _) => {
            (format!("its data are on {name}, in memory"), "set TMPDIR to a folder on a disk".to_owned())
        }
        (None, Some(value)) => {
            (format!("{variable}={value} makes fsync do nothing"), format!("unset {variable}"))
        }
        (None, None) => return None,
    };
    let message = format!("commits are not durable although the run is to be: of {}, {why}", database.name);
    Some(warning(WarningKind::NotDurable, message, &advice))
}

#[cfg(test)]
mod tests {
    use klatch_record::Database;
    use klatch_record::samples::record;

    use super::*;

    #[test]
    fn memory_and_a_disabled_fsync_are_not_durable() {
        let guarded = |durable, file_system: &str, preload: &str| {
            let (name, version, file_system) = ("h2".to_owned(), None, Some(file_system.to_owned()));
            let mut record = record(1, 1, 1.0);
            record.platform.database = Some(Database { name, version, durable, file_system });
            record.environment.variables.insert("LD_PRELOAD".to_owned(), preload.to_owned());
            guard(&record).map(|warning| warning.message)
        };
        let start = "commits are not durable although the run is to be: of h2, ";
        let of_memory = guarded(true, "tmpfs", "").unwrap();
        assert_eq!(of_memory, format!("{start}its data are on tmpfs, in memory"));
        let of_library = guarded(true, "ext4", "/usr/lib/libeatmydata.so").unwrap();
        assert!(
            of_library.starts_with(start) && of_library.ends_with("makes fsync do nothing"),
            "{of_library}"
        );
        assert_eq!((guarded(false, "tmpfs", ""), guarded(true, "ext4", "")), (None, None));
    }
}
