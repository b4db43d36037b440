//! How the moments of a schedule that is fixed in advance follow one another.

use serde::{Deserialize, Serialize};

/// Names and meanings, in the order of [`Arrivals::ALL`].
pub(super) const ARRIVALS: &[(&str, &str)] = &[
    ("even", "Equal intervals, from a moment of the first that is drawn from the seed"),
    (
        "poisson",
        "Intervals drawn from the seed, exponentially distributed, as of many users who know nothing of each other",
    ),
];

/// How the moments of a schedule that is fixed in advance follow one another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub const ALL: [Arrivals; 2] = [Arrivals::Even, Arrivals::Poisson];

    /// Its name on the command line and in study files.
    pub fn name(self) -> &'static str {
        ARRIVALS[self as usize].0
    }

    pub(crate) fn is_even(&self) -> bool {
        *self == Arrivals::Even
    }
}

impl std::fmt::Display for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Arrivals, String> {
        let arrivals = Arrivals::ALL.into_iter().find(|arrivals| arrivals.name() == text);
        arrivals.ok_or_else(|| format!("no arrivals are called {text}"))
    }
}
