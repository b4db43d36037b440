//! The configuration files of a platform.

use serde::Deserialize;

/// A file that a platform reads when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// Name of the file within `{folder}`.
    pub name: String,
    /// Content of the file, with the same placeholders as the command.
    pub text: String,
}
