//! Routines of programs, and which of them synchronize threads of a JVM.

use std::rc::Rc;

/// A routine on a user stack.
///
/// As for the kernel's, what it stands for is found once for each name.
#[derive(Clone)]
pub(super) struct UserRoutine {
    /// Without spaces and semicolons, which separate the parts of folded stacks.
    pub(super) name: Rc<str>,
    /// Whether it synchronizes threads, if the program is a JVM.
    pub(super) synchronizes: bool,
}

impl UserRoutine {
    pub(super) fn new(name: &str) -> UserRoutine {
        UserRoutine { name: name.replace([' ', ';'], "_").into(), synchronizes: synchronizes(name) }
    }
}

/// Routines of HotSpot for `synchronized`, `wait`, `notify` and `LockSupport`, and those of the C library that they call, whose callers a
/// stack often lacks. Routines of identity hash codes are in the same classes.
fn synchronizes(name: &str) -> bool {
    const PARTS: [&str; 9] = [
        "ObjectMonitor",
        "ObjectSynchronizer",
        "LightweightSynchronizer",
        "complete_monitor",
        "::monitorenter",
        "Unsafe_Park",
        "Unsafe_Unpark",
        "Parker::",
        "pthread_cond_",
    ];
    PARTS.iter().any(|part| name.contains(part)) && !name.to_ascii_lowercase().contains("hash")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monitors_and_parked_threads_are_synchronization() {
        let names = [
            "ObjectMonitor::enter(JavaThread*)",
            "SharedRuntime::complete_monitor_unlocking_C(oopDesc*, BasicLock*, JavaThread*)",
            "InterpreterRuntime::monitorenter(JavaThread*, BasicObjectLock*)",
            "Parker::park(bool, long)",
            "Unsafe_Unpark",
            "__pthread_cond_wait",
        ];
        names.iter().for_each(|name| assert!(UserRoutine::new(name).synchronizes, "{name}"));
        let others =
            ["ObjectSynchronizer::FastHashCode(Thread*, oopDesc*)", "Chat.line", "write", "[unknown]"];
        others.iter().for_each(|name| assert!(!UserRoutine::new(name).synchronizes, "{name}"));
        assert_eq!(&*UserRoutine::new("byte[] f(int; int)").name, "byte[]_f(int__int)");
    }
}
