//! Counters of processes and threads, from their files in `/proc`.

use std::io::{Error, ErrorKind, Result};

/// Counters of a process from `/proc/PID/stat`, summed over its threads, also over those that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStat {
    /// Page faults that needed no read from disk.
    pub faults_minor: u64,
    /// Page faults that needed a read from disk.
    pub faults_major: u64,
    /// CPU time in user mode, in clock ticks.
    pub user_ticks: u64,
    /// CPU time in the kernel, in clock ticks.
    pub system_ticks: u64,
    /// CPU time in user mode of children that have ended and were waited for, in clock ticks.
    pub children_user_ticks: u64,
    /// CPU time in the kernel of children that have ended and were waited for, in clock ticks.
    pub children_system_ticks: u64,
    /// Resident memory, bytes.
    pub resident_bytes: u64,
}

impl ProcessStat {
    /// Reads the counters of process `pid`.
    ///
    /// # Errors
    /// There is no such process, or this user may not see it.
    pub fn read(pid: u32) -> Result<ProcessStat> {
        let path = format!("/proc/{pid}/stat");
        let parsed = ProcessStat::parse(&read_text(&path)?);
        parsed.ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("{path} has too few fields")))
    }

    fn parse(text: &str) -> Option<ProcessStat> {
        // The name in parentheses may contain anything; field 3, the state, follows it. Fields are counted from 1, as in proc(5).
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse().ok();
        Some(ProcessStat {
            faults_minor: field(10)?,
            faults_major: field(12)?,
            user_ticks: field(14)?,
            system_ticks: field(15)?,
            children_user_ticks: field(16)?,
            children_system_ticks: field(17)?,
            resident_bytes: field(24)? * rustix::param::page_size() as u64,
        })
    }
}

/// The text of a process's or a thread's `status` in `/proc`.
#[derive(Clone, Debug)]
pub struct ProcessStatus(String);

impl ProcessStatus {
    /// The status of process `pid`.
    ///
    /// # Errors
    /// There is no such process, or this user may not see it.
    pub fn read(pid: u32) -> Result<ProcessStatus> {
        read_text(&format!("/proc/{pid}/status")).map(ProcessStatus)
    }

    /// The status of thread `tid` of process `pid`.
    ///
    /// # Errors
    /// The thread has ended, or this user may not see it.
    pub fn read_thread(pid: u32, tid: u32) -> Result<ProcessStatus> {
        read_text(&format!("/proc/{pid}/task/{tid}/status")).map(ProcessStatus)
    }

    /// The text after `name` and its colon; `None` if this kernel does not have the field.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    }

    /// The first number of a field: of ids that of this process's namespace, of memory the amount in KiB.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.split_ascii_whitespace().next()?.parse().ok()
    }
}

/// The text of a file in `/proc`. Names of threads may be cut within a character, or have never been text.
pub(crate) fn read_text(path: &str) -> Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

/// The ids of the threads of process `pid`; one that ends meanwhile may be among them.
///
/// # Errors
/// There is no such process, or this user may not see its threads.
pub fn thread_ids(pid: u32) -> Result<Vec<u32>> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task"))?;
    Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_moves_no_field() {
        let text = "42 (a) b (c) S 1 42 42 0 -1 4194304 10 11 12 13 14 15 16 17 20 0 1 0 100 5000 7 0\n";
        let stat = ProcessStat::parse(text).unwrap();
        assert_eq!((stat.faults_minor, stat.faults_major), (10, 12));
        assert_eq!((stat.user_ticks, stat.system_ticks), (14, 15));
        assert_eq!((stat.children_user_ticks, stat.children_system_ticks), (16, 17));
        assert_eq!(stat.resident_bytes, 7 * rustix::param::page_size() as u64);
        assert_eq!(ProcessStat::parse("42 (a) S 1 42"), None);
    }

    #[test]
    fn fields_of_a_status_have_their_exact_name() {
        let status = ProcessStatus("Name:\ta: b\nTgid:\t7\nVmRSS:\t  12 kB\nNStgid:\t7\t1\n".to_owned());
        assert_eq!((status.text("Name"), status.number("VmRSS")), (Some("a: b"), Some(12)));
        assert_eq!((status.text("NStgid"), status.number("NStgid")), (Some("7\t1"), Some(7)));
        assert_eq!((status.text("Vm"), status.number("Name")), (None, None));
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_thread() {
        let own = std::thread::spawn(|| {
            let tid = std::fs::read_link("/proc/thread-self").unwrap();
            let tid = tid.file_name().unwrap().to_str().unwrap().parse().unwrap();
            std::fs::write("/proc/thread-self/comm", b"gr\xc3").unwrap();
            ProcessStatus::read_thread(std::process::id(), tid).unwrap()
        });
        assert_eq!(own.join().unwrap().text("Name"), Some("gr\u{fffd}"));
    }

    #[test]
    fn this_process_and_its_threads_are_read() {
        let me = std::process::id();
        assert!(ProcessStat::read(me).unwrap().resident_bytes > 100_000);
        assert_eq!(ProcessStatus::read(me).unwrap().number("Tgid"), Some(u64::from(me)));
        let (own, others) = (ProcessStatus::read_thread(me, me).unwrap(), thread_ids(me).unwrap());
        assert!(own.number("voluntary_ctxt_switches").is_some() && others.contains(&me));
        assert!(ProcessStat::read(u32::MAX).is_err() && thread_ids(u32::MAX).is_err());
    }
}
