//! How the moments of a schedule that is fixed in advance follow one another.

use serde::{Deserialize, Serialize};

/// Names and meanings.
pub(super) const ARRIVALS: &[(&str, &str)] = &[
    ("even", "Equal intervals, from a moment of the first that is drawn from the seed"),
    (
        "poisson",
        "Intervals drawn from the seed, exponentially distributed, as of many users who know nothing of each other",
    ),
];

/// How the moments of a schedule that is fixed in advance follow one another.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Equal intervals; the first moment is drawn from the seed.
    #[default]
    Even,
    /// Exponentially distributed intervals, drawn from the seed.
    Poisson,
}

impl Arrivals {
    /// All of them, in the order in which help lists them.
    pub const ALL: [Arrivals; 2] = crate::variants();

    /// Its name on the command line and in study files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn is_even(&self) -> bool {
        *self == Arrivals::Even
    }
}
