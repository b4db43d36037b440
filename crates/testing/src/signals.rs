//! Signals that a test sends to the programs that it starts.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::{SIGHUP, SIGINT};
use signal_hook::flag::register_conditional_default;

/// Lets the programs that this process starts from now on end on SIGINT and SIGHUP. In a background job of a script, and under `nohup`,
/// they would inherit that these are ignored, and obey. They do not inherit a handler; this process ends on both as by default.
///
/// # Panics
/// The kernel refuses a handler.
pub fn let_interrupts_through() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for signal in [SIGHUP, SIGINT] {
            let always = Arc::new(AtomicBool::new(true));
            register_conditional_default(signal, always).expect("a process may handle these signals");
        }
    });
}
