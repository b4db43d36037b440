//! A Java of a newer Debian, which the set-up of the tests installs outside Klatch's search path.

use std::path::{Path, PathBuf};

/// The program `java` of a Java 21. The Java of Debian 12 is older, and has no virtual threads.
///
/// # Panics
/// It is not there.
pub fn newer_java() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| {
        let home = std::env::var_os("HOME").expect("a test has HOME or XDG_CACHE_HOME");
        Path::new(&home).join(".cache")
    });
    let java = cache.join("klatch/tests/klatch/jdks/jdk-21/bin/java");
    assert!(java.exists(), "no Java 21 at {}; scripts/setup.sh test-all installs it", java.display());
    java
}
