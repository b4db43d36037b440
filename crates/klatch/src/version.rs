//! Version of this program.

use klatch_record::Build;

/// Version, and the commit of the source if known.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("KLATCH_COMMIT"));

/// Version, commit and profile as a record contains them.
pub(crate) fn build() -> Build {
    let commit = Some(env!("KLATCH_COMMIT").to_owned()).filter(|commit| !commit.is_empty());
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit,
        profile: Some(env!("KLATCH_PROFILE").to_owned()),
    }
}
