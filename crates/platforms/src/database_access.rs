//! What a server and the audit need to reach a database.

use crate::secrets::Environment;

/// What connects to a running database.
#[derive(Clone, Debug, Default)]
pub struct DatabaseAccess {
    /// Its address, and the user; not the password.
    pub url: String,
    /// Environment variables with the password.
    pub environment: Environment,
}
