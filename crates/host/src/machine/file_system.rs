//! The file system of a path, from the list of mounts.

use std::path::Path;

/// The kernel's name for the file system of `path`: `ext4`, `tmpfs`; `None` if the list of mounts cannot be read.
pub fn file_system(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    mounted_at(&std::fs::read_to_string("/proc/self/mountinfo").ok()?, &path)
}

/// Of the mounts that contain a path the one with the longest path counts, and of two with the same the later one, which hides the other.
fn mounted_at(mountinfo: &str, path: &Path) -> Option<String> {
    let mount = |line: &str| {
        let (head, tail) = line.split_once(" - ")?;
        let point = head.split(' ').nth(4)?.replace("\\040", " ");
        let length = path.starts_with(&point).then_some(point.len())?;
        Some((length, tail.split(' ').next()?.to_owned()))
    };
    mountinfo.lines().filter_map(mount).max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

/// Whether a crash of the machine empties a file system of this name.
pub fn is_volatile(file_system: &str) -> bool {
    matches!(file_system, "tmpfs" | "ramfs" | "rootfs" | "hugetlbfs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_has_the_file() {
        let mounts = "22 1 254:0 / / rw - ext4 /dev/vda rw\n\
                      23 22 0:20 / /tmp rw - xfs /dev/vdb rw\n\
                      24 22 0:21 / /tmp rw - tmpfs tmpfs rw\n\
                      25 24 0:22 / /tmp/a\\040b rw - btrfs /dev/vdc rw\n";
        let at = |path: &str| mounted_at(mounts, Path::new(path));
        for (path, kind) in
            [("/srv", "ext4"), ("/tmpx", "ext4"), ("/tmp/x", "tmpfs"), ("/tmp/a b/c", "btrfs")]
        {
            assert_eq!(at(path).as_deref(), Some(kind), "{path}");
        }
        assert_eq!(mounted_at("", Path::new("/")), None);
    }

    #[test]
    fn proc_is_no_disk() {
        assert_eq!(file_system(Path::new("/proc")).as_deref(), Some("proc"));
        assert!(is_volatile("tmpfs") && !is_volatile("ext4"));
    }
}
