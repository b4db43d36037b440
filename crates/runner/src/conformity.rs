//! What `klatch conformance` found of a platform, saved for later runs in `conformance.json` in Klatch's state folder.

use std::collections::BTreeMap;
use std::io::{BufReader, Error, Result};
use std::path::Path;

use klatch_host::privileges::{PrivateFolder, state_folder};

const FILE: &str = "conformance.json";

/// Names of the checks that each platform failed although a score counts on them, by the platform's name.
type Failures = BTreeMap<String, Vec<String>>;

/// The checks that this platform failed when it was last checked, and that a score counts on. Empty if none are known.
pub fn load_failed_musts(platform: &str) -> Vec<String> {
    let folder = state_folder().ok().and_then(|path| PrivateFolder::open(&path).ok().flatten());
    folder.and_then(|folder| read(&folder)?.remove(platform)).unwrap_or_default()
}

/// Saves the checks that this platform failed, for later runs; without any, it forgets earlier ones.
///
/// # Errors
/// The state folder cannot be created or written.
pub fn save_failed_musts(platform: &str, failed: &[String]) -> Result<()> {
    let folder = state_folder().and_then(|path| PrivateFolder::create(&path)).map_err(Error::other)?;
    let mut all = read(&folder).unwrap_or_default();
    let is_same = all.get(platform).map_or(failed.is_empty(), |known| known == failed);
    if is_same {
        return Ok(());
    }
    match failed {
        [] => all.remove(platform),
        failed => all.insert(platform.to_owned(), failed.to_vec()),
    };
    folder.write(FILE, (serde_json::to_string_pretty(&all)? + "\n").as_bytes())
}

fn read(folder: &PrivateFolder) -> Option<Failures> {
    serde_json::from_reader(BufReader::new(folder.read(Path::new(FILE)).ok()??)).ok()
}
