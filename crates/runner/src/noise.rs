//! What `klatch calibrate` found on each machine, kept for later runs in `calibration.json` of Klatch's state folder.
//! A home folder can be that of several machines, so it is kept by the machine's name.

use std::collections::BTreeMap;
use std::io::{BufReader, Error, Result, Write};
use std::path::{Path, PathBuf};

use klatch_instruments::host_name;
use klatch_privileges::{PrivateFolder, state_folder};
use klatch_record::{Comparison, Noise};
use klatch_stats::chance_difference;
use serde::{Deserialize, Serialize};

use crate::shard::now;

const FILE: &str = "calibration.json";
/// How sure it is that two starts differ by less.
const CONFIDENCE: f64 = 0.95;

/// The file.
#[derive(Default, Serialize, Deserialize)]
struct Kept {
    /// By the machine's name, as `uname -n`.
    machines: BTreeMap<String, Noise>,
}

/// The noise in a comparison of a platform with itself, of which each value is one trial of one start of the server.
pub fn noise_of(of: &Comparison) -> Noise {
    let between = |metric: &klatch_record::MetricComparison| {
        let all: Vec<f64> = metric.a.iter().chain(&metric.b).copied().collect();
        Some((metric.metric.clone(), chance_difference(&all, CONFIDENCE).ok()?))
    };
    Noise {
        measured_at: now(),
        platform: of.a.platform.clone(),
        starts: of.a.starts + of.b.starts,
        between_starts: of.metrics.iter().filter_map(between).collect(),
    }
}

/// What was last found on this machine; `None` if nothing was, or it cannot be read any more.
pub(crate) fn here() -> Option<Noise> {
    read(&PrivateFolder::open(&state_folder().ok()?).ok()??)?.machines.remove(&host_name())
}

/// Keeps it for later runs on this machine; returns where.
///
/// # Errors
/// The state folder cannot be created or written.
pub fn save_noise(noise: &Noise) -> Result<PathBuf> {
    let folder = state_folder().and_then(|path| PrivateFolder::create(&path)).map_err(Error::other)?;
    write(noise, &folder)?;
    Ok(folder.path().join(FILE))
}

fn read(folder: &PrivateFolder) -> Option<Kept> {
    serde_json::from_reader(BufReader::new(folder.read(Path::new(FILE)).ok()??)).ok()
}

/// Whole or not at all, beside what is there of other machines.
fn write(noise: &Noise, folder: &PrivateFolder) -> Result<()> {
    let mut kept = read(folder).unwrap_or_default();
    kept.machines.insert(host_name(), noise.clone());
    let mut file = tempfile::NamedTempFile::new_in(folder.path())?;
    serde_json::to_writer_pretty(&mut file, &kept)?;
    file.write_all(b"\n")?;
    file.persist(folder.path().join(FILE)).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples;

    #[test]
    fn what_is_written_is_read_and_other_machines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let folder = PrivateFolder::create(folder.path()).unwrap();
        let (mine, theirs) = (samples::noise(0.03), samples::noise(0.5));
        write(&mine, &folder).unwrap();
        let mut kept = read(&folder).unwrap();
        assert_eq!(kept.machines.get(&host_name()), Some(&mine));
        kept.machines.insert("another".into(), theirs.clone());
        std::fs::write(&path, serde_json::to_vec(&kept).unwrap()).unwrap();
        write(&mine, &folder).unwrap();
        assert_eq!(read(&folder).unwrap().machines.get("another"), Some(&theirs));
        std::fs::write(&path, "{").unwrap();
        assert!(read(&folder).is_none());
    }
}
