//! Files of the repository that are made of declarations.

use std::path::Path;

/// Asserts that a committed file has this text. If the environment has `variable`, the file is written instead.
///
/// # Panics
/// The file has another text, or cannot be written.
pub fn assert_committed(path: &Path, text: &str, variable: &str) {
    if std::fs::read_to_string(path).is_ok_and(|there| there == text) {
        return;
    }
    let writes = std::env::var_os(variable).is_some();
    assert!(writes, "{} is out of date: repeat this test with {variable}=1", path.display());
    std::fs::write(path, text).expect("a committed file can be written");
}
