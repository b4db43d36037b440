//! Which Klatch this is.

use klatch_record::Build;

/// Version, and the commit it was built from.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("KLATCH_COMMIT"));

/// The same for a record.
pub(crate) fn build() -> Build {
    let commit = Some(env!("KLATCH_COMMIT").to_owned()).filter(|commit| !commit.is_empty());
    Build { version: env!("CARGO_PKG_VERSION").to_owned(), commit }
}
