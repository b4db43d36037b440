//! The lab's count of both sides of a duet.

use serde::{Deserialize, Serialize};

use crate::Workload;
use crate::lab::CountedBy;

/// Instructions of both sides of a duet, by routine: counted in an emulated machine, one boot for each side, while operations went on.
/// Boots with the same programs, kernel and settings count the same to the digit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExactCount {
    /// Version of the kernel in the machine.
    pub kernel: String,
    /// CPUs of the machine.
    pub cpus: u32,
    /// Memory of the machine, MB.
    pub memory_mb: u32,
    /// Seed of the machine's random numbers.
    pub seed: u32,
    /// The workload, shorter than that of the duet.
    pub workload: Workload,
    /// Whether a JVM ran in a machine.
    pub jvm: bool,
    /// Operations of side A that were counted.
    pub a_operations: u64,
    /// Operations of side B that were counted.
    pub b_operations: u64,
    /// All instructions of both sides, by routine: those with the largest change per operation first, and those too small for a row of
    /// their own together, by process and part, as `all others`.
    pub routines: Vec<ExactRow>,
}

/// The own instructions of a routine, without those that it called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExactRow {
    /// Whose process executed them.
    pub by: CountedBy,
    /// Name of the routine, or of its file, `[ngircd]`, if that has no symbols; `[unknown]` for one that a JVM compiled.
    pub routine: String,
    /// Whether it is the kernel's.
    pub kernel: bool,
    /// Instructions of side A, all operations together.
    pub a: u64,
    /// Instructions of side B.
    pub b: u64,
}

impl ExactCount {
    /// Name of the rows that have all that are not listed.
    pub const REST: &str = "all others";

    /// The instructions of a row per operation, of A and B.
    pub fn per_operation(&self, row: &ExactRow) -> [f64; 2] {
        self.divided([row.a, row.b])
    }

    /// The instructions of some rows per operation, of A and B.
    pub fn total(&self, is_counted: impl Fn(&ExactRow) -> bool) -> [f64; 2] {
        let rows = || self.routines.iter().filter(|row| is_counted(row));
        self.divided([rows().map(|row| row.a).sum(), rows().map(|row| row.b).sum()])
    }

    fn divided(&self, [a, b]: [u64; 2]) -> [f64; 2] {
        [a as f64 / self.a_operations.max(1) as f64, b as f64 / self.b_operations.max(1) as f64]
    }
}
