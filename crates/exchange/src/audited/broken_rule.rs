//! Rules of an audit that do not hold, with examples.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// Most examples of one rule.
const EXAMPLES_MAX: usize = 20;

/// A rule that does not hold: the database breaks it by itself, or differs from the ledgers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BrokenRule {
    /// The name of the rule.
    pub rule: String,
    /// How often it is broken.
    pub count: u64,
    /// The first places where it is broken.
    pub examples: Vec<String>,
}

/// 64 bits as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) u64);

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let digits = String::deserialize(deserializer)?;
        u64::from_str_radix(&digits, 16).map(Digest).map_err(serde::de::Error::custom)
    }
}

/// Differences between a database and the ledgers, by the rule that they break.
#[derive(Default)]
pub(crate) struct Differences(BTreeMap<&'static str, BrokenRule>);

impl Differences {
    pub(crate) fn add(&mut self, rule: &'static str, example: String) {
        self.add_several(rule, 1, example);
    }

    /// Adds `count` places where a rule is broken, of which one is described.
    pub(crate) fn add_several(&mut self, rule: &'static str, count: u64, example: String) {
        let new = || BrokenRule { rule: rule.to_owned(), count: 0, examples: Vec::new() };
        let broken = self.0.entry(rule).or_insert_with(new);
        broken.count += count;
        if broken.examples.len() < EXAMPLES_MAX {
            broken.examples.push(example);
        }
    }

    /// The broken rules, sorted by name.
    pub(crate) fn into_rules(self) -> impl Iterator<Item = BrokenRule> {
        self.0.into_values()
    }
}
