//! Clock frequency of the CPUs, from the kernel's cpufreq files. Most virtual machines have none.

use std::path::{Path, PathBuf};

/// Mean frequency of the fastest CPU, over samples.
///
/// The fastest CPU is a busy one; the idle ones would only lower a mean over all.
#[derive(Clone, Debug)]
pub struct CpuFrequency {
    cpus: PathBuf,
    sum_mhz: f64,
    samples: u32,
}

impl CpuFrequency {
    /// No samples yet, of this machine's CPUs.
    #[expect(clippy::new_without_default, reason = "it reads the machine")]
    pub fn new() -> CpuFrequency {
        CpuFrequency::below(Path::new("/sys/devices/system/cpu"))
    }

    fn below(cpus: &Path) -> CpuFrequency {
        CpuFrequency { cpus: cpus.to_owned(), sum_mhz: 0.0, samples: 0 }
    }

    /// Takes one sample, if the kernel reports frequencies.
    pub fn sample(&mut self) {
        if let Some(mhz) = self.fastest_mhz() {
            self.sum_mhz += mhz;
            self.samples += 1;
        }
    }

    /// Mean of the samples, in MHz; `None` without a sample.
    pub fn mean_mhz(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.sum_mhz / f64::from(self.samples))
    }

    fn fastest_mhz(&self) -> Option<f64> {
        let cpus = std::fs::read_dir(&self.cpus).ok()?.flatten();
        let khz = |cpu: std::fs::DirEntry| -> Option<f64> {
            let file = cpu.path().join("cpufreq/scaling_cur_freq");
            std::fs::read_to_string(file).ok()?.trim().parse().ok()
        };
        cpus.filter_map(khz).max_by(f64::total_cmp).map(|khz| khz / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_the_fastest_cpu() {
        let folder = tempfile::tempdir().unwrap();
        let set = |cpu: &str, khz: &str| {
            let cpufreq = folder.path().join(cpu).join("cpufreq");
            std::fs::create_dir_all(&cpufreq).unwrap();
            std::fs::write(cpufreq.join("scaling_cur_freq"), khz).unwrap();
        };
        let mut frequency = CpuFrequency::below(folder.path());
        frequency.sample();
        assert_eq!(frequency.mean_mhz(), None);
        set("cpu0", "800000\n");
        set("cpu1", "3000000\n");
        set("cpufreq", "<unknown>\n");
        frequency.sample();
        set("cpu0", "2000000\n");
        set("cpu1", "800000\n");
        frequency.sample();
        assert_eq!(frequency.mean_mhz(), Some(2_500.0));
    }
}
