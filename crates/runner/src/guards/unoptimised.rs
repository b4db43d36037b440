//! Warns of a program that is not what is measured.

use klatch_record::{Record, Warning, WarningKind};

use super::warning;

/// Cargo's profile for work by hand. Only `release` and `dist` optimise the native servers and the crowd.
const UNOPTIMISED: &str = "debug";

pub(super) fn guard(record: &Record) -> Option<Warning> {
    let profile = record.klatch.profile.as_deref().filter(|profile| *profile == UNOPTIMISED)?;
    let message = format!("this klatch was compiled without optimisation (profile {profile})");
    Some(warning(
        WarningKind::Unoptimised,
        message,
        "measure with target/release/klatch, which make build makes",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use klatch_record::samples::record;

    #[test]
    fn a_build_without_optimisation_gives_a_warning() {
        let mut record = record(1, 1, 1e7);
        let mut warned = |profile: Option<&str>| {
            record.klatch.profile = profile.map(str::to_owned);
            guard(&record).map(|warning| warning.kind)
        };
        assert_eq!(warned(Some("debug")), Some(WarningKind::Unoptimised));
        assert_eq!([Some("release"), Some("dist"), None].map(&mut warned), [None; 3]);
    }
}
