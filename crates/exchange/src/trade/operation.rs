//! The operations of a trader, and their mixes.

/// What a trader does. The order is that in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// Begin the session of a user.
    Login,
    /// Look at the first page: the account and the market.
    Home,
    /// Look at some quotes.
    Quote,
    /// End the session of the user.
    Logout,
    /// End the session, and begin one as a new user.
    Register,
    /// Look at the account, its profile and its last orders.
    Account,
    /// Look at the holdings.
    Portfolio,
    /// Look at some quotes, and buy shares of the first.
    Buy,
    /// Look at the holdings, and sell one.
    Sell,
    /// Look at the account, and change the profile.
    Update,
}

impl OperationKind {
    /// All kinds, in their order.
    pub const ALL: [OperationKind; 10] = [
        OperationKind::Login,
        OperationKind::Home,
        OperationKind::Quote,
        OperationKind::Logout,
        OperationKind::Register,
        OperationKind::Account,
        OperationKind::Portfolio,
        OperationKind::Buy,
        OperationKind::Sell,
        OperationKind::Update,
    ];

    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            OperationKind::Login => "login",
            OperationKind::Home => "home",
            OperationKind::Quote => "quote",
            OperationKind::Logout => "logout",
            OperationKind::Register => "register",
            OperationKind::Account => "account",
            OperationKind::Portfolio => "portfolio",
            OperationKind::Buy => "buy",
            OperationKind::Sell => "sell",
            OperationKind::Update => "update",
        }
    }
}

/// How often each operation comes. Logins follow from logouts, and belong to no mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// The standard mix of DayTrader.
    Standard,
    /// The high-volume mix of DayTrader: more orders.
    HighVolume,
    /// Each operation as often as the others.
    Equal,
}

impl Mix {
    /// Cards of each operation in a deck, from [`OperationKind::Home`] on.
    const fn cards(self) -> [usize; 9] {
        match self {
            Mix::Standard => [20, 40, 4, 2, 10, 12, 4, 4, 4],
            Mix::HighVolume => [20, 40, 4, 2, 7, 7, 7, 7, 6],
            Mix::Equal => [1; 9],
        }
    }

    /// A deck in the order of the kinds: 100 cards, or 9 of the equal mix.
    pub(super) fn deck(self) -> impl Iterator<Item = OperationKind> {
        let kinds = OperationKind::ALL[1..].iter();
        kinds.zip(self.cards()).flat_map(|(kind, count)| std::iter::repeat_n(*kind, count))
    }
}
