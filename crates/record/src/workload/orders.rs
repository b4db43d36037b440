//! Workload `orders`: dealers, a factory and suppliers, whose customers and orders a database keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rr::SECONDS_MAX;
use super::{WorkloadError, out_of, within};

/// Connections of a district: five dealers, a factory and a supplier.
const CONNECTIONS_PER_DISTRICT: u32 = 7;
/// Largest injection rate, in order entries per second.
const RATE_MAX: u32 = 10_000;

/// Districts, the population, and the phases. Definition: `docs/reference/orders.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

    /// Checks every number against its range.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check(&self) -> Result<(), WorkloadError> {
        within("injection rate", 1, RATE_MAX, self.injection_rate)?;
        within("first district", 1, RATE_MAX - (self.injection_rate - 1), self.start)?;
        let districts = self.start + self.injection_rate - 1;
        within("population", districts, RATE_MAX, self.population)?;
        within("supplier count", districts, RATE_MAX, self.suppliers)?;
        let possible = (0.0..=SECONDS_MAX).contains(&self.ramp_s);
        possible
            .then_some(())
            .ok_or_else(|| out_of("ramp", &format!("from 0 to {SECONDS_MAX} seconds"), self.ramp_s))?;
        let possible = self.duration_s > 0.0 && self.duration_s <= SECONDS_MAX;
        possible.then_some(()).ok_or_else(|| {
            out_of("duration", &format!("above 0 and at most {SECONDS_MAX} seconds"), self.duration_s)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let orders = OrdersWorkload::default();
        assert_eq!((orders.check(), orders.connections()), (Ok(()), 700));
        let error = |workload: OrdersWorkload| workload.check().unwrap_err().to_string();
        assert_eq!(
            error(OrdersWorkload { injection_rate: 0, ..orders.clone() }),
            "injection rate must be 1..=10000, got 0"
        );
        assert_eq!(
            error(OrdersWorkload { population: 99, ..orders.clone() }),
            "population must be 100..=10000, got 99"
        );
        assert_eq!(
            error(OrdersWorkload { ramp_s: -1.0, ..orders.clone() }),
            "ramp must be from 0 to 86400 seconds, got -1"
        );
        assert_eq!(
            error(OrdersWorkload { duration_s: 0.0, ..orders }),
            "duration must be above 0 and at most 86400 seconds, got 0"
        );
    }

    #[test]
    fn a_population_follows_the_injection_rate_unless_it_is_larger() {
        let orders = OrdersWorkload::default();
        let more = orders.with_injection_rate(300);
        assert_eq!((more.population, more.suppliers, more.check()), (300, 300, Ok(())));
        let large = OrdersWorkload { population: 500, ..orders };
        assert_eq!(large.with_injection_rate(300).population, 500);
        assert_eq!(large.with_injection_rate(700).population, 700);
    }
}
