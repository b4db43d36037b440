//! Unlike cores of one machine: big and little ones of Arm, performance and efficiency cores of x86.

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::Path;

use crate::machine::cpu_quota::is_allowed_cpu;
use klatch_record::{CORE_CLASSES, parse_cpu_list, write_cpu_list};

/// As many as a mask of CPUs has here.
const CPUS_MAX: usize = rustix::thread::CpuSet::MAX_CPU;

/// Event sources of an x86 processor with unlike cores, the fastest first. Each lists its CPUs.
const HYBRID: [&str; 3] = ["cpu_core", "cpu_atom", "cpu_lowpower"];

/// The classes of this machine's cores with their CPUs, the fastest first: `big`, `medium` and `little`. Empty if all are alike, or if the kernel does
/// not say how they differ.
pub fn core_classes() -> Vec<(&'static str, Vec<usize>)> {
    classes_in(Path::new("/"))
}

/// The CPUs of each core that this process may use, in the order of their first CPU. Where the kernel does not say which CPUs share a core, each
/// has one of its own.
pub fn cores() -> Vec<Vec<usize>> {
    let usable: Vec<usize> = (0..CPUS_MAX).filter(|&cpu| is_allowed_cpu(cpu)).collect();
    cores_in(Path::new("/"), &usable)
}

fn cores_in(root: &Path, usable: &[usize]) -> Vec<Vec<usize>> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    for &cpu in usable {
        let file = root.join(format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
        let siblings = read_to_string(file).ok().and_then(|text| parse_cpu_list(&text)).unwrap_or_default();
        match cores.iter_mut().find(|core| siblings.contains(&core[0])) {
            Some(core) => core.push(cpu),
            None => cores.push(vec![cpu]),
        }
    }
    cores
}

/// The same as settings, by name.
pub(crate) fn settings_of_cores(root: &Path) -> Vec<(String, String)> {
    classes_in(root)
        .into_iter()
        .map(|(name, cpus)| (format!("cores_{name}"), write_cpu_list(&cpus)))
        .collect()
}

fn classes_in(root: &Path) -> Vec<(&'static str, Vec<usize>)> {
    let hybrid: Vec<Vec<usize>> = HYBRID.iter().filter_map(|name| source_cpus(root, name)).collect();
    let classes = if hybrid.len() > 1 { hybrid } else { by_capacity(root) };
    match classes.len() {
        0 | 1 => Vec::new(),
        // What is between the fastest and the slowest is one class.
        _ => {
            let [big, medium, little] = CORE_CLASSES;
            let last = classes.len() - 1;
            let mut named: Vec<(&'static str, Vec<usize>)> = Vec::new();
            for (place, mut cpus) in classes.into_iter().enumerate() {
                let name = if place == 0 {
                    big
                } else if place == last {
                    little
                } else {
                    medium
                };
                match named.last_mut() {
                    Some((before, all)) if *before == name => all.append(&mut cpus),
                    _ => named.push((name, cpus)),
                }
            }
            named.iter_mut().for_each(|(_, cpus)| cpus.sort_unstable());
            named
        }
    }
}

fn source_cpus(root: &Path, source: &str) -> Option<Vec<usize>> {
    let file = root.join("sys/bus/event_source/devices").join(source).join("cpus");
    parse_cpu_list(&read_to_string(file).ok()?)
}

/// CPUs by what the kernel says that a core can do of the fastest one's work, of 1,024 parts.
fn by_capacity(root: &Path) -> Vec<Vec<usize>> {
    let folders = std::fs::read_dir(root.join("sys/devices/system/cpu")).into_iter().flatten().flatten();
    let mut by_capacity: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for folder in folders {
        let name = folder.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("cpu")?.parse().ok());
        let capacity = read_to_string(folder.path().join("cpu_capacity")).ok();
        let capacity = capacity.and_then(|text| text.trim().parse().ok());
        if let (Some(number), Some(capacity)) = (number, capacity) {
            by_capacity.entry(capacity).or_default().push(number);
        }
    }
    by_capacity.into_values().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn cores_of_arm_have_classes_by_their_capacity() {
        let root = tempfile::tempdir().unwrap();
        let capacities = [446, 446, 871, 871, 1024];
        for (cpu, capacity) in capacities.iter().enumerate() {
            write(
                root.path(),
                &format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"),
                &format!("{capacity}\n"),
            );
        }
        write(root.path(), "sys/devices/system/cpu/cpufreq/boost", "1\n");
        let expected = [("big", vec![4]), ("medium", vec![2, 3]), ("little", vec![0, 1])];
        assert_eq!(classes_in(root.path()), expected);
        let settings = settings_of_cores(root.path());
        assert_eq!(settings[2], ("cores_little".to_owned(), "0-1".to_owned()));
    }

    #[test]
    fn cores_of_x86_have_classes_by_their_event_sources() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "sys/bus/event_source/devices/cpu_core/cpus", "0-3\n");
        assert_eq!(classes_in(root.path()), []);
        write(root.path(), "sys/bus/event_source/devices/cpu_atom/cpus", "4-11\n");
        assert_eq!(classes_in(root.path()), [("big", vec![0, 1, 2, 3]), ("little", (4..=11).collect())]);
    }

    #[test]
    fn threads_of_a_core_are_together() {
        let root = tempfile::tempdir().unwrap();
        for cpu in 0..4 {
            let file = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
            write(root.path(), &file, &format!("{},{}\n", cpu % 2, cpu % 2 + 2));
        }
        assert_eq!(cores_in(root.path(), &[0, 1, 3, 9]), [vec![0], vec![1, 3], vec![9]]);
    }

    #[test]
    fn cores_that_are_alike_have_no_classes() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(classes_in(root.path()), []);
        for cpu in 0..4 {
            write(root.path(), &format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity"), "1024\n");
        }
        assert_eq!(classes_in(root.path()), []);
    }
}
