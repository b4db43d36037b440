//! Version of this program.

use klatch_host::machine::program_build_id;
use klatch_record::Build;

/// Version, and the commit of the source if known.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("KLATCH_COMMIT"));

/// Version, commit and profile as a record contains them.
pub(crate) fn build() -> Build {
    let commit = Some(env!("KLATCH_COMMIT").to_owned()).filter(|commit| !commit.is_empty());
    let build = Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit,
        profile: Some(env!("KLATCH_PROFILE").to_owned()),
        build_id: None,
    };
    let build_id = if build.has_source() { None } else { program_build_id() };
    Build { build_id, ..build }
}
