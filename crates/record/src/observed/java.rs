//! Data from Java virtual machines.

use serde::{Deserialize, Serialize};

use super::{Distribution, Sides};

/// The Java virtual machines of each side. `null` where a side is not Java, or its JVM keeps no counters.
pub type Jvm = Sides<JvmSide>;

/// What a Java virtual machine did, by its own counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JvmSide {
    /// The garbage collectors of the virtual machine.
    pub collectors: Vec<Collector>,
    /// Time in which it stood still for garbage collection as a share of the observed time, 0..=1. With Shenandoah, which does not
    /// count its pauses apart from its work beside the program, the time of all safepoints.
    pub gc_share: f64,
    /// How often all threads were stopped.
    pub safepoints: u64,
    /// How long they were stopped in all, seconds. Java 17 leaves out the time that it took to stop them; Java 25 has some of it.
    pub safepoint_s: f64,
    /// Pauses for garbage collection one by one, ms; `null` where there was none, and with Shenandoah. Of two pauses of one
    /// collector within 10 ms only the later is in it.
    pub gc_pause_ms: Option<Distribution>,
    /// Time of the JIT compilers, seconds, all compiler threads together.
    pub jit_s: f64,
    /// Methods that the JIT compiled in the run.
    pub jit_methods: u64,
    /// Live threads at the end; virtual threads are not counted.
    pub threads: u64,
    /// Most live threads since its start.
    pub threads_peak: u64,
    /// Heap in use at the end, bytes, with garbage.
    pub heap_used_bytes: u64,
    /// Heap committed at the end, bytes.
    pub heap_committed_bytes: u64,
}

/// A garbage collector of a JVM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collector {
    /// What the JVM calls it.
    pub name: String,
    /// How often it collected.
    pub collections: u64,
    /// How long it took in all, seconds; that of Shenandoah with its work beside the program.
    pub time_s: f64,
}

/// Waits inside Java, by the recorder of each side's JVMs (JFR). `null` where a side is not Java.
pub type JavaWaits = Sides<JavaWaitsSide>;

/// Waits inside the Java of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JavaWaitsSide {
    /// Shorter waits are not recorded, µs.
    pub threshold_us: u64,
    /// For monitors (`synchronized`) that another thread held.
    pub monitors: Waits,
    /// Of virtual threads that pinned their carrier; virtual threads exist since Java 21.
    pub pinned: Waits,
}

/// Waits of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waits {
    /// Number of waits longer than the threshold.
    pub count: u64,
    /// Duration of all these waits together, seconds.
    pub wait_s: f64,
    /// Duration of the longest wait, ms.
    pub max_ms: f64,
    /// Where in the program, the ten with the longest waits first.
    pub places: Vec<WaitPlace>,
}

/// Waits at one place of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitPlace {
    /// Class and method, as `org.klatch.chat.Hall.join`.
    pub method: String,
    /// Class of the monitor; `null` for other waits.
    pub monitor: Option<String>,
    /// Number of waits at this place.
    pub count: u64,
    /// Duration of these waits together, seconds.
    pub wait_s: f64,
}
