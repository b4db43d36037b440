//! The control groups that contain this process, in both versions, and their limits.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Where control groups are mounted if the list of mounts does not tell.
const USUAL_MOUNT: &str = "sys/fs/cgroup";
/// Version 1 has no word for no limit of memory, but a number near 2^63.
const MEMORY_UNLIMITED_MIN: u64 = 1 << 60;

/// The control groups of this process for one controller.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    /// Whether they are of version 2, the unified hierarchy.
    pub(crate) unified: bool,
    /// Their folders, the innermost first. In a container the outermost is the container's.
    pub(crate) folders: Vec<PathBuf>,
}

/// The groups of this process with `controller` (`cpu`, `memory`) in the file system below `root`; `None` without any.
pub(crate) fn groups_in(root: &Path, controller: &str) -> Option<Groups> {
    let own = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = mounts(&read_to_string(root.join("proc/self/mountinfo")).unwrap_or_default());
    let place = |list: &str| own.lines().find_map(|line| path_in(line, list, controller));
    // A controller is in one hierarchy; version 2 has those that version 1 does not have.
    if let Some((list, path)) = place(controller) {
        let mount =
            mounts.iter().find(|mount| !mount.unified && mount.controllers.contains(&controller.to_owned()));
        let usual = || Mount::usual(&format!("{USUAL_MOUNT}/{list}"));
        return Some(Groups {
            unified: false,
            folders: mount.cloned().unwrap_or_else(usual).folders(root, path),
        });
    }
    let (_, path) = place("")?;
    let mount = mounts.iter().find(|mount| mount.unified).cloned();
    let folders = mount.unwrap_or_else(|| Mount::usual(USUAL_MOUNT)).folders(root, path);
    Some(Groups { unified: true, folders })
}

/// The list of controllers and the path in a line of `/proc/self/cgroup`, if it is of this controller, or of version 2 if `wanted` is empty.
fn path_in<'a>(line: &'a str, wanted: &str, controller: &str) -> Option<(&'a str, &'a str)> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (list, path) = (fields.next()?, fields.next()?);
    let is_it =
        if wanted.is_empty() { list.is_empty() } else { list.split(',').any(|one| one == controller) };
    is_it.then_some((list, path))
}

/// A mounted hierarchy.
#[derive(Clone, Debug)]
struct Mount {
    unified: bool,
    controllers: Vec<String>,
    /// The group that is mounted.
    group: String,
    /// Where, without the leading slash.
    point: String,
}

impl Mount {
    fn usual(point: &str) -> Mount {
        let (controllers, group) = (Vec::new(), "/".to_owned());
        Mount { unified: false, controllers, group, point: point.to_owned() }
    }

    /// The folders of the group at `path` and of those that contain it, as far as they are mounted.
    fn folders(&self, root: &Path, path: &str) -> Vec<PathBuf> {
        let top = root.join(&self.point);
        let below = Path::new(path).strip_prefix(&self.group).unwrap_or(Path::new(""));
        // A path of another namespace begins with `..`.
        let own = top.join(below.strip_prefix("/").unwrap_or(below));
        own.ancestors().take_while(|folder| folder.starts_with(&top)).map(Path::to_owned).collect()
    }
}

/// The hierarchies in the text of a `mountinfo`.
fn mounts(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (head, tail) = line.split_once(" - ")?;
        let mut head = head.split(' ').skip(3);
        let (group, point) = (head.next()?, head.next()?);
        let mut tail = tail.split(' ');
        let (kind, options) = (tail.next()?, tail.nth(1)?);
        let unified = kind == "cgroup2";
        (unified || kind == "cgroup").then(|| Mount {
            unified,
            controllers: options.split(',').map(str::to_owned).collect(),
            group: group.to_owned(),
            point: point.trim_start_matches('/').to_owned(),
        })
    };
    text.lines().filter_map(mount).collect()
}

/// The limits of this process's groups, by name: bytes of memory, threads, and the CPUs of its cpuset. [`super::CpuQuota`] has their CPU time. Of several groups the
/// least counts. A limit that no group sets is absent.
pub(crate) fn limits_in(root: &Path) -> Vec<(&'static str, String)> {
    let read = |folder: &Path, file: &str| read_to_string(folder.join(file)).ok();
    let least = |controller: &str, limit: &dyn Fn(&Path, bool) -> Option<f64>| {
        let Groups { unified, folders } = groups_in(root, controller)?;
        folders.iter().filter_map(|folder| limit(folder, unified)).min_by(f64::total_cmp)
    };
    let number = |folder: &Path, file: &str| read(folder, file)?.trim().parse::<f64>().ok();
    let memory = least("memory", &|folder, unified| {
        number(folder, if unified { "memory.max" } else { "memory.limit_in_bytes" })
            .filter(|bytes| *bytes < MEMORY_UNLIMITED_MIN as f64)
    });
    let threads = least("pids", &|folder, _| number(folder, "pids.max"));
    let cpuset = groups_in(root, "cpuset").and_then(|Groups { unified, folders }| {
        let files =
            if unified { ["cpuset.cpus.effective"; 2] } else { ["cpuset.effective_cpus", "cpuset.cpus"] };
        let of_group = |folder: &PathBuf| files.iter().find_map(|file| read(folder, file));
        folders.iter().find_map(of_group).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    });
    let text = |value: f64| value.to_string();
    let limits = [
        ("cgroup.memory_bytes", memory.map(text)),
        ("cgroup.threads", threads.map(text)),
        ("cgroup.cpuset", cpuset),
    ];
    limits.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system of these files, and what this process's groups limit in it.
    fn limits(files: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let root = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        limits_in(root.path())
    }

    fn texts(all: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        all.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
    }

    #[test]
    fn the_least_limit_of_the_unified_hierarchy_counts() {
        let found = limits(&[
            ("proc/self/cgroup", "0::/a.slice/b\n"),
            ("sys/fs/cgroup/a.slice/b/cpuset.cpus.effective", "0-1\n"),
            ("sys/fs/cgroup/a.slice/memory.max", "1073741824\n"),
            ("sys/fs/cgroup/a.slice/b/memory.max", "2147483648\n"),
            ("sys/fs/cgroup/a.slice/b/pids.max", "max\n"),
        ]);
        let wanted = [("cgroup.memory_bytes", "1073741824"), ("cgroup.cpuset", "0-1")];
        assert_eq!(found, texts(&wanted));
    }

    #[test]
    fn each_controller_of_version_1_has_its_own_groups() {
        let mounts = "31 30 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      32 31 0:29 /docker/c1 /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n\
                      33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let found = limits(&[
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", "4:memory:/jobs/7\n1:cpu,cpuacct:/docker/c1/x\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "536870912\n"),
            ("sys/fs/cgroup/unified/pids.max", "99\n"),
        ]);
        let wanted = [("cgroup.memory_bytes", "536870912"), ("cgroup.threads", "99")];
        assert_eq!(found, texts(&wanted));
    }

    #[test]
    fn a_path_outside_of_what_is_mounted_is_the_mounted_group() {
        let mounts = "32 31 0:29 /docker/c1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
        for path in ["/../../other", "/docker/c1", "/host/docker/c1"] {
            let found = limits(&[
                ("proc/self/mountinfo", mounts),
                ("proc/self/cgroup", &format!("4:memory:{path}\n")),
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n"),
            ]);
            assert_eq!(found, texts(&[("cgroup.memory_bytes", "4096")]), "{path}");
        }
        assert_eq!(limits(&[]), []);
    }
}
