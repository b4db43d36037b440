//! The state of sched_ext, from `/sys/kernel/sched_ext`.

use std::path::Path;

const FOLDER: &str = "/sys/kernel/sched_ext";

/// `SCX_EXIT_ERROR_STALL` of the kernel: a runnable task waited for 30 s.
pub const EXIT_STALL: i64 = 1026;

/// The state of sched_ext.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedExtState {
    /// `enabled`, `disabled`, or a transition such as `enabling`.
    pub state: String,
    /// The kernel's name for the loaded scheduler; `None` without one.
    pub scheduler: Option<String>,
    /// Schedulers loaded since the boot.
    pub loads: u64,
    /// Tasks that the kernel refused to hand to sched_ext since the boot; `None` if it does not count them.
    pub rejected: Option<u64>,
}

/// Reads the state; `None` if the kernel has no sched_ext.
pub fn sched_ext_state() -> Option<SchedExtState> {
    let read = |name: &str| std::fs::read_to_string(Path::new(FOLDER).join(name)).ok();
    let number = |name| read(name).and_then(|text| text.trim().parse().ok());
    Some(SchedExtState {
        state: read("state")?.trim().to_owned(),
        scheduler: read("root/ops").map(|name| name.trim().to_owned()),
        loads: number("enable_seq").unwrap_or(0),
        rejected: number("nr_rejected"),
    })
}

/// An English name for a value of `enum scx_exit_kind`.
pub fn exit_kind(kind: i64) -> String {
    match kind {
        0 => "not ended".to_owned(),
        1 => "done".to_owned(),
        64 => "unloaded".to_owned(),
        65 => "unloaded by itself".to_owned(),
        66 => "unloaded by the kernel".to_owned(),
        67 => "unloaded by SysRq-S".to_owned(),
        1024 => "error".to_owned(),
        1025 => "error reported by the scheduler".to_owned(),
        EXIT_STALL => "stalled".to_owned(),
        other => format!("kind {other}"),
    }
}
