//! What the calling thread caused to be read from a disk.

/// Bytes read from storage by this thread so far; `None` if the kernel does not count them.
pub(super) fn read_bytes() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/thread-self/io").ok()?)
}

fn parse(io: &str) -> Option<u64> {
    io.lines().find_map(|line| line.strip_prefix("read_bytes: "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bytes_from_storage_count() {
        let io = "rchar: 9000\nwchar: 1\nsyscr: 2\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 0\n";
        assert_eq!(parse(io), Some(4096));
        assert_eq!(parse("rchar: 9000\n"), None);
    }
}
