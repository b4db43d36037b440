//! The Java versions with which a program runs.

use std::fmt;

use serde::Deserialize;

/// The Java that a platform needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NeedsJava {
    /// The oldest supported feature version.
    pub version_min: u32,
    /// The newest supported feature version, if newer ones do not run it.
    pub version_max: Option<u32>,
}

impl NeedsJava {
    /// This feature version or a newer one.
    pub(crate) fn or_newer(version_min: u32) -> NeedsJava {
        NeedsJava { version_min, version_max: None }
    }

    /// Whether it runs with this feature version.
    pub(crate) fn accept(self, feature: u32) -> bool {
        feature >= self.version_min && self.version_max.is_none_or(|newest| feature <= newest)
    }
}

impl fmt::Display for NeedsJava {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version_max {
            Some(newest) => write!(f, "Java {} to {newest}", self.version_min),
            None => write!(f, "Java {} or newer", self.version_min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_outside_the_range_are_not_accepted() {
        let range = NeedsJava { version_min: 17, version_max: Some(21) };
        assert_eq!([16, 17, 21, 22].map(|feature| range.accept(feature)), [false, true, true, false]);
        assert_eq!(range.to_string(), "Java 17 to 21");
        let newer = NeedsJava::or_newer(17);
        assert_eq!([16, 17, 99].map(|feature| newer.accept(feature)), [false, true, true]);
        assert_eq!(newer.to_string(), "Java 17 or newer");
    }
}
