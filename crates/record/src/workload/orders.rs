//! Workload `orders`: dealers, a factory and suppliers, whose customers and orders a database keeps.

use serde::{Deserialize, Serialize};

use super::error::within;
use super::settings::{Range, Scope, Setting, field};
use super::trade::{DATABASE, DURABLE};
use super::values::Seconds;
use super::{SECONDS_MAX, WorkloadError};

/// Connections of a district: five dealers, a factory and a supplier.
const CONNECTIONS_PER_DISTRICT: u32 = 7;
/// Largest injection rate, in order entries per second.
const RATE_MAX: u32 = 10_000;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new(
        "injection_rate",
        "N",
        "number of districts, which is that of order entries a second",
        field!(Orders, injection_rate),
    )
    .in_range(Range::Whole(1, RATE_MAX)),
    Setting::new(
        "population",
        "N",
        "injection rate of the population that the server loads",
        field!(Orders, population),
    )
    .in_range(Range::Whole(1, RATE_MAX))
    .following("the injection rate"),
    Setting::new(
        "suppliers",
        "N",
        "suppliers of all crowds on the server together",
        field!(Orders, suppliers),
    )
    .in_range(Range::Whole(1, RATE_MAX))
    .following("one for each district"),
    Setting::new("database", "DATABASE", DATABASE, field!(Orders, database)),
    Setting::new("durable", "", DURABLE, field!(Orders, durable)),
    Setting::new(
        "ramp",
        "TIME",
        "time before the steady state, in which operations do not count",
        field!(Orders, orders => Seconds(&mut orders.ramp_s)),
    )
    .in_range(Range::FromZero(SECONDS_MAX, "seconds")),
    Setting::new(
        "duration",
        "TIME",
        "time of the steady state",
        field!(Orders, orders => Seconds(&mut orders.duration_s)),
    )
    .in_range(Range::AboveZero(SECONDS_MAX, "seconds"))
    .scoped(Scope::End),
    Setting::new(
        "start",
        "N",
        "number of the first district, for several crowds on one server",
        field!(Orders, start),
    )
    .scoped(Scope::Share),
];

/// Districts, the population, and the phases. Definition: `docs/reference/orders.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OrdersWorkload {
    /// Injection rate, which is the number of districts and of order entries a second, 1..=10000.
    pub injection_rate: u32,
    /// Injection rate of the population that the server loads, 1..=10000.
    pub population: u32,
    /// Suppliers of all crowds on the server together, one a district.
    pub suppliers: u32,
    /// The database that the server uses, a name of the catalog; `null` if somebody else started the server.
    pub database: Option<String>,
    /// Whether the database writes each commit to the disk before it confirms it.
    pub durable: bool,
    /// Time before the steady state, in which operations do not count, seconds.
    pub ramp_s: f64,
    /// Length of the steady state, seconds. The run ends when everything that has begun is complete.
    pub duration_s: f64,
    /// Number of the first district, so that several crowds can share a server.
    pub start: u32,
}

impl Default for OrdersWorkload {
    /// Injection rate 100, a ramp of 2 s and a steady state of 10 s, on H2.
    fn default() -> OrdersWorkload {
        OrdersWorkload {
            injection_rate: 100,
            population: 100,
            suppliers: 100,
            database: Some("h2".to_owned()),
            durable: false,
            ramp_s: 2.0,
            duration_s: 10.0,
            start: 1,
        }
    }
}

impl OrdersWorkload {
    /// Connections of all districts.
    pub fn connections(&self) -> u64 {
        u64::from(self.injection_rate) * u64::from(CONNECTIONS_PER_DISTRICT)
    }

    /// The same at another injection rate. A population of the same rate follows it, and a larger one is never smaller than it.
    #[must_use]
    pub fn with_injection_rate(&self, injection_rate: u32) -> OrdersWorkload {
        let districts = self.start + injection_rate - 1;
        let follows = self.population == self.start + self.injection_rate - 1;
        let population = if follows { districts } else { self.population.max(districts) };
        OrdersWorkload { injection_rate, population, suppliers: districts, ..self.clone() }
    }

    /// Checks what follows from several settings.
    pub(super) fn check_together(&self) -> Result<(), WorkloadError> {
        within("start", 1, RATE_MAX - (self.injection_rate - 1), self.start)?;
        within("population", self.districts(), RATE_MAX, self.population)?;
        within("suppliers", self.districts(), RATE_MAX, self.suppliers)
    }

    pub(super) fn follow(&mut self, is_given: impl Fn(&str) -> bool) {
        if !is_given("population") {
            self.population = self.districts();
        }
        if !is_given("suppliers") {
            self.suppliers = self.districts();
        }
    }

    /// Number of the last district.
    fn districts(&self) -> u32 {
        self.start.saturating_add(self.injection_rate).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let orders = OrdersWorkload::default();
        assert_eq!((Workload::Orders(orders.clone()).check(), orders.connections()), (Ok(()), 700));
        let error = |workload: OrdersWorkload| Workload::Orders(workload).check().unwrap_err().to_string();
        assert_eq!(
            error(OrdersWorkload { injection_rate: 0, ..orders.clone() }),
            "injection_rate must be 1 to 10,000, got 0"
        );
        assert_eq!(
            error(OrdersWorkload { population: 99, ..orders.clone() }),
            "population must be 100 to 10,000, got 99"
        );
        assert_eq!(
            error(OrdersWorkload { ramp_s: -1.0, ..orders.clone() }),
            "ramp must be 0 to 86,400 seconds, got -1"
        );
        assert_eq!(
            error(OrdersWorkload { duration_s: 0.0, ..orders }),
            "duration must be above 0 and at most 86,400 seconds, got 0"
        );
    }

    #[test]
    fn a_population_follows_the_injection_rate_unless_it_is_larger() {
        let orders = OrdersWorkload::default();
        let more = orders.with_injection_rate(300);
        assert_eq!((more.population, more.suppliers, Workload::Orders(more).check()), (300, 300, Ok(())));
        let large = OrdersWorkload { population: 500, ..orders };
        assert_eq!(large.with_injection_rate(300).population, 500);
        assert_eq!(large.with_injection_rate(700).population, 700);
    }
}
