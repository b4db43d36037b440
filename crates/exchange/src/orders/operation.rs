//! The operations of a district, and the deck from which dealers draw theirs.

use crate::random::{Part, Random, output, part_seed};

/// Cards of a deck.
const DECK: usize = 20;
/// The sequence of the decks, beside those of the dealers.
const DECKS: u64 = u64::MAX;

/// What a district does. The order is that in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// Enter a new order.
    NewOrder,
    /// Change or cancel an order.
    ChangeOrder,
    /// Look up an order.
    OrderStatus,
    /// Look up a customer with its last orders.
    CustomerStatus,
    /// Make an assembly, in four steps.
    WorkOrder,
    /// Deliver what was purchased.
    Delivery,
}

impl OperationKind {
    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            OperationKind::NewOrder => "new_order",
            OperationKind::ChangeOrder => "change_order",
            OperationKind::OrderStatus => "order_status",
            OperationKind::CustomerStatus => "customer_status",
            OperationKind::WorkOrder => "work_order",
            OperationKind::Delivery => "delivery",
        }
    }
}

/// What a dealer does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Card {
    New,
    NewLarge,
    Change,
    Cancel,
    Order,
    Customer,
}

impl Card {
    /// Cards of each kind in a deck: one new order in ten is large, and one change in four cancels an order.
    const COUNTS: [(Card, usize); 6] = [
        (Card::New, 9),
        (Card::NewLarge, 1),
        (Card::Change, 3),
        (Card::Cancel, 1),
        (Card::Order, 4),
        (Card::Customer, 2),
    ];

    pub(super) fn kind(self) -> OperationKind {
        match self {
            Card::New | Card::NewLarge => OperationKind::NewOrder,
            Card::Change | Card::Cancel => OperationKind::ChangeOrder,
            Card::Order => OperationKind::OrderStatus,
            Card::Customer => OperationKind::CustomerStatus,
        }
    }
}

/// The decks of one dealer: in a round all dealers have the same, and begin it at different cards. So dealers together have the exact
/// shares at any time, not only at the end of a deck.
pub(super) struct Decks {
    random: Random,
    cards: Vec<Card>,
    /// Cards of the deck that were drawn.
    drawn: usize,
    /// The card at which this dealer begins.
    first: usize,
}

impl Decks {
    /// The decks of the dealer with this number in the whole crowd, from 0.
    pub(super) fn new(seed: u64, dealer: u32) -> Decks {
        let random = Random::new(output(part_seed(seed, Part::Dealers), DECKS));
        // The five dealers of a district are four cards apart, and four districts begin at all twenty cards.
        let first = (dealer % 5 * 4 + dealer / 5 % 4) as usize;
        Decks { random, cards: Vec::new(), drawn: DECK, first }
    }

    pub(super) fn draw(&mut self) -> Card {
        if self.drawn == DECK {
            self.drawn = 0;
            self.cards.clear();
            self.cards
                .extend(Card::COUNTS.iter().flat_map(|(card, count)| std::iter::repeat_n(*card, *count)));
            self.random.shuffle(&mut self.cards);
        }
        let card = self.cards[(self.first + self.drawn) % DECK];
        self.drawn += 1;
        card
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_deck_and_twenty_dealers_at_once_have_the_exact_shares() {
        let sorted = |mut cards: Vec<Card>| {
            cards.sort_unstable();
            cards
        };
        let one: Vec<Card> = Card::COUNTS.iter().flat_map(|(card, count)| vec![*card; *count]).collect();
        let mut decks: Vec<Decks> = (0..20).map(|dealer| Decks::new(7, dealer)).collect();
        let mut of_first = Vec::new();
        for _ in 0..DECK {
            let at_once: Vec<Card> = decks.iter_mut().map(Decks::draw).collect();
            of_first.push(at_once[0]);
            assert_eq!(sorted(at_once), one);
        }
        assert_eq!(sorted(of_first), one);
        let next: Vec<Card> = (0..DECK).map(|_| decks[0].draw()).collect();
        assert_eq!(sorted(next), one);
    }
}
