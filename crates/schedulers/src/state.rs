//! What the kernel tells about sched_ext.

use std::path::Path;

const FOLDER: &str = "/sys/kernel/sched_ext";

/// `SCX_EXIT_ERROR_STALL` of the kernel: some task waited for 30 s.
pub const EXIT_STALL: i64 = 1026;

/// What the kernel tells about sched_ext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// `enabled`, `disabled`, or on the way between them.
    pub state: String,
    /// The scheduler that is in force.
    pub scheduler: Option<String>,
    /// How often schedulers were loaded since the boot.
    pub loads: u64,
    /// How often the kernel had to throw one out or refuse its tasks; `None` where it does not tell.
    pub rejected: Option<u64>,
}

/// What the kernel tells; `None` if it has no sched_ext.
pub fn state() -> Option<State> {
    let read = |name: &str| std::fs::read_to_string(Path::new(FOLDER).join(name)).ok();
    let number = |name| read(name).and_then(|text| text.trim().parse().ok());
    Some(State {
        state: read("state")?.trim().to_owned(),
        scheduler: read("root/ops").map(|name| name.trim().to_owned()),
        loads: number("enable_seq").unwrap_or(0),
        rejected: number("nr_rejected"),
    })
}

/// The kernel's name for how a scheduler ended.
pub fn exit_kind(kind: i64) -> String {
    match kind {
        0 => "not ended".to_owned(),
        1 => "done".to_owned(),
        64 => "unloaded".to_owned(),
        65 => "ended by itself".to_owned(),
        66 => "ended by the kernel".to_owned(),
        67 => "ended by SysRq-S".to_owned(),
        1024 => "error".to_owned(),
        1025 => "error told by the scheduler".to_owned(),
        EXIT_STALL => "stalled".to_owned(),
        other => format!("kind {other}"),
    }
}
