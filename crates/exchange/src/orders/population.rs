//! The first state of every customer, assembly and component, as functions of a seed.

use super::order::{Line, Order};
use crate::random::{Part, Random, output, part_seed};

/// Customers of each district.
pub const CUSTOMERS_PER_DISTRICT: u32 = 75;
/// Components of a bill.
const BILL_LINES: u32 = 5;
/// The credit limit of most customers, which no order reaches, cents.
const AMPLE_LIMIT_CENTS: i64 = 1_000_000_000;

/// What a server loads before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// Seed of all draws.
    pub seed: u64,
    /// Its injection rate, 1 to 10,000.
    pub rate: u32,
}

/// An assembly as the server loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Price of one piece, cents.
    pub price_cents: i64,
    /// The five components of one piece, each with its quantity.
    pub bill: Vec<(u32, u32)>,
}

/// A customer as the server loads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstCustomer {
    /// Discount, hundredths of a per cent.
    pub discount: u32,
    /// The most that the customer may owe, cents.
    pub limit_cents: i64,
    /// Its order, whose id is the customer's number.
    pub order: Order,
}

impl Population {
    /// Number of customers, 75 for each district.
    pub fn customers(&self) -> u32 {
        CUSTOMERS_PER_DISTRICT * self.rate
    }

    /// Number of assemblies: one hundred for each hundred of the rate that has begun.
    pub fn assemblies(&self) -> u32 {
        100 * self.rate.div_ceil(100)
    }

    /// Number of components, five for each assembly.
    pub fn components(&self) -> u32 {
        5 * self.assemblies()
    }

    /// The lowest id of an order that is made later.
    pub fn first_new_order(&self) -> u64 {
        self.customers().into()
    }

    /// The assembly `assembly`, below [`Population::assemblies`].
    pub fn assembly(&self, assembly: u32) -> Assembly {
        let mut random = self.sequence(Part::Assemblies, assembly);
        let components = self.components();
        let price_cents = 1_000 + i64::from(random.below(9_001));
        let first = random.below(components);
        let step = 1 + random.below(components / BILL_LINES - 1);
        let component = |index| (first + index * step) % components;
        let bill = (0..BILL_LINES).map(|index| (component(index), 1 + random.below(3))).collect();
        Assembly { price_cents, bill }
    }

    /// The price of one piece of an assembly, cents.
    pub fn price_cents(&self, assembly: u32) -> i64 {
        1_000 + i64::from(self.sequence(Part::Assemblies, assembly).below(9_001))
    }

    /// The total of these lines for a customer with this discount, cents, rounded half up.
    pub fn total_cents(&self, discount: u32, lines: &[Line]) -> i64 {
        let value: i64 =
            lines.iter().map(|line| self.price_cents(line.assembly) * i64::from(line.quantity)).sum();
        (value * i64::from(10_000 - discount) + 5_000) / 10_000
    }

    /// The pieces of a component that are on hand at first.
    pub fn on_hand(&self, component: u32) -> u32 {
        1_000 + self.sequence(Part::Components, component).below(200)
    }

    /// The customer `customer`, below [`Population::customers`].
    pub fn customer(&self, customer: u32) -> FirstCustomer {
        let mut random = self.sequence(Part::Customers, customer);
        let discount = random.below(2_001);
        let lines = self.first_lines(customer);
        let total_cents = self.total_cents(discount, &lines);
        let limit_cents = match random.below(10) {
            0 => total_cents + i64::from(random.below(200_001)),
            _ => AMPLE_LIMIT_CENTS,
        };
        let order = Order { id: customer.into(), customer, total_cents, is_cancelled: false, lines };
        FirstCustomer { discount, limit_cents, order }
    }

    fn first_lines(&self, customer: u32) -> Vec<Line> {
        let mut random = self.sequence(Part::FirstOrders, customer);
        let count = 1 + random.below(5);
        let assemblies = self.assemblies();
        (0..count)
            .map(|_| Line { assembly: random.below(assemblies), quantity: 1 + random.below(10) })
            .collect()
    }

    fn sequence(&self, part: Part, index: u32) -> Random {
        Random::new(output(part_seed(self.seed, part), index.into()))
    }
}
