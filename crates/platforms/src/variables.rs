//! Variables of the environment that change how a runtime works: a list in each file of `platforms/runtimes`.
//!
//! A server or crowd inherits them, and its runtime obeys them whatever a command line says.

use std::collections::BTreeMap;

use crate::catalog::{JAVA, Runtime, runtimes};

/// The variables of this process's environment that change a runtime or the C library, by name. Those of a Java are not among them: they are
/// part of its description, [`klatch_record::Runtime::environment`].
pub fn runtime_variables() -> BTreeMap<String, String> {
    in_environment(
        &others().flat_map(|file| [file.variables, file.build_variables].concat()).collect::<Vec<_>>(),
    )
}

/// The variables of this process's environment that change what a compiler makes, by name.
pub(crate) fn build_variables() -> BTreeMap<String, String> {
    in_environment(&others().flat_map(|file| file.build_variables).collect::<Vec<_>>())
}

/// All runtimes but Java.
fn others() -> impl Iterator<Item = Runtime> {
    runtimes().filter(|(name, _)| name != JAVA).map(|(_, runtime)| runtime)
}

/// The variables of this process's environment that match one of these patterns and are not empty.
pub(crate) fn in_environment(patterns: &[String]) -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    };
    let all = std::env::vars_os().filter_map(text);
    all.filter(|(name, value)| matches(patterns, name) && !value.trim().is_empty()).collect()
}

fn matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_lists_its_variables_once_and_in_order() {
        let mut all = Vec::new();
        for (name, Runtime { variables, build_variables, .. }) in runtimes() {
            assert!(!variables.is_empty() && variables.is_sorted(), "{name}");
            // A password would be in every record.
            assert!(!matches(&variables, "PGPASSWORD"), "{name}");
            all.extend([variables, build_variables].concat());
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "a variable is in two files");
        for name in ["GODEBUG", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX", "LD_PRELOAD", "NODE_OPTIONS"] {
            assert!(matches(&all, name), "{name}");
        }
        assert!(!matches(&all, "MALLOC") && !matches(&all, "PATH"));
    }
}
