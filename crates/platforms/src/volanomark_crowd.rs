//! The crowds of the VolanoMark test.

use serde::Deserialize;

/// The crowd that forms the VolanoMark test with a platform: two threads for each connection at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VolanoMarkCrowd {
    /// The crowd in Java.
    Java,
    /// The native crowd with two threads a user.
    NativeThreads,
}
