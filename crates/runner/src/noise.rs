//! The noise that `klatch calibrate` measured, saved for later runs in `calibration.json` in Klatch's state folder. The
//! file has one entry per machine name, because several machines can share a home folder.

use std::collections::BTreeMap;
use std::io::{BufReader, Error, Result};
use std::path::{Path, PathBuf};

use klatch_host::machine::host_name;
use klatch_host::privileges::{PrivateFolder, state_folder};
use klatch_record::{Comparison, Noise};
use klatch_stats::chance_difference;
use serde::{Deserialize, Serialize};

use crate::shard::now;

const FILE: &str = "calibration.json";
/// Probability that two starts of a server differ by less than the noise.
const CONFIDENCE: f64 = 0.95;

/// The contents of `calibration.json`.
#[derive(Default, Serialize, Deserialize)]
struct CalibrationFile {
    /// By machine name, as `uname -n` prints it.
    machines: BTreeMap<String, Noise>,
}

/// The difference between two starts that chance alone explains, from a comparison of a platform with itself. Each value
/// of the comparison must be one trial of one start of the server.
pub fn noise_between_starts(comparison: &Comparison) -> Noise {
    let between = |metric: &klatch_record::MetricComparison| {
        let all: Vec<f64> = metric.a.iter().chain(&metric.b).copied().collect();
        Some((metric.metric.clone(), chance_difference(&all, CONFIDENCE).ok()?))
    };
    Noise {
        measured_at: now(),
        platform: comparison.a.platform.clone(),
        starts: comparison.a.starts + comparison.b.starts,
        between_starts: comparison.metrics.iter().filter_map(between).collect(),
    }
}

/// The last calibration of this machine; `None` without one, or if the file cannot be read.
pub fn load_noise() -> Option<Noise> {
    read(&PrivateFolder::open(&state_folder().ok()?).ok()??)?.machines.remove(&host_name())
}

/// Saves the noise for later runs on this machine. Returns the path of the file.
///
/// # Errors
/// The state folder cannot be created or written.
pub fn save_noise(noise: &Noise) -> Result<PathBuf> {
    let folder = state_folder().and_then(|path| PrivateFolder::create(&path)).map_err(Error::other)?;
    write(noise, &folder)?;
    Ok(folder.path().join(FILE))
}

fn read(folder: &PrivateFolder) -> Option<CalibrationFile> {
    serde_json::from_reader(BufReader::new(folder.read(Path::new(FILE)).ok()??)).ok()
}

/// Replaces the file atomically, with the entries of other machines unchanged.
fn write(noise: &Noise, folder: &PrivateFolder) -> Result<()> {
    let mut calibrations = read(folder).unwrap_or_default();
    calibrations.machines.insert(host_name(), noise.clone());
    let text = serde_json::to_string_pretty(&calibrations)? + "\n";
    folder.write(FILE, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples;

    #[test]
    fn the_file_is_read_back_and_entries_of_other_machines_survive() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let folder = PrivateFolder::create(folder.path()).unwrap();
        let (mine, theirs) = (samples::noise(0.03), samples::noise(0.5));
        write(&mine, &folder).unwrap();
        let mut calibrations = read(&folder).unwrap();
        assert_eq!(calibrations.machines.get(&host_name()), Some(&mine));
        calibrations.machines.insert("another".into(), theirs.clone());
        std::fs::write(&path, serde_json::to_vec(&calibrations).unwrap()).unwrap();
        write(&mine, &folder).unwrap();
        assert_eq!(read(&folder).unwrap().machines.get("another"), Some(&theirs));
        std::fs::write(&path, "{").unwrap();
        assert!(read(&folder).is_none());
    }
}
