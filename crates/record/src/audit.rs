//! The audit of a database after a run of `trade` or `orders`.

use serde::{Deserialize, Serialize};

/// What a process of its own found in the database after the server had stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit {
    /// Number of all orders that are stored.
    pub orders: u64,
    /// Users of `trade`, or customers of `orders`, whose accounts were compared with a ledger of the crowd.
    pub users: u64,
    /// Time that the audit of the database took, seconds.
    pub audit_s: f64,
    /// The rules that do not hold; empty if all is right.
    pub broken: Vec<BrokenRule>,
}

/// A rule of the audit that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BrokenRule {
    /// The name of the rule, as in the definition of the workload.
    pub rule: String,
    /// How often it is broken.
    pub count: u64,
    /// The first places where it is broken, as text.
    pub examples: Vec<String>,
}

impl std::fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BrokenRule { rule, count, examples } = self;
        write!(f, "audit: {rule} broken {count} times")?;
        examples.first().map_or(Ok(()), |example| write!(f, ", first: {example}"))
    }
}

/// The database behind a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Database {
    /// Its name in the catalog.
    pub name: String,
    /// Its version, if it reports one.
    pub version: Option<String>,
    /// Whether a confirmed transaction survives a crash of the machine, by the settings of the database.
    pub durable: bool,
    /// The file system of its data; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
}

/// What a server counted of its transactions with the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatabaseCounts {
    /// Transactions that changed something and were stored.
    pub transactions: u64,
    /// Transactions that the database ended for the sake of others, and that were made again.
    pub repeats: u64,
    /// Time that requests waited for a connection of the pool, all together, µs.
    pub pool_wait_us: u64,
}

impl DatabaseCounts {
    /// What was counted since `before`.
    pub fn since(&self, before: &DatabaseCounts) -> DatabaseCounts {
        self.each(before, u64::saturating_sub)
    }

    /// The counts of two servers together. Those beyond 64 bits are not counted.
    pub(crate) fn with(&self, other: &DatabaseCounts) -> DatabaseCounts {
        self.each(other, u64::saturating_add)
    }

    /// The counts of one server by two crowds, which see nearly the same.
    pub(crate) fn or_more(&self, other: &DatabaseCounts) -> DatabaseCounts {
        self.each(other, u64::max)
    }

    fn each(&self, other: &DatabaseCounts, of: impl Fn(u64, u64) -> u64) -> DatabaseCounts {
        DatabaseCounts {
            transactions: of(self.transactions, other.transactions),
            repeats: of(self.repeats, other.repeats),
            pool_wait_us: of(self.pool_wait_us, other.pool_wait_us),
        }
    }
}
