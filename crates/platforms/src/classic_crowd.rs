//! The crowds of the classic VolanoMark test.

use serde::Deserialize;

/// The crowd that forms the classic test with a platform: two threads for each connection at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClassicCrowd {
    /// The crowd in Java.
    Java,
    /// The native crowd with two threads a user.
    NativeThreads,
}
