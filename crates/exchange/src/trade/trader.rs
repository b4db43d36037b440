//! One trader: its operations, request by request, and the ledgers of its users.

use std::collections::HashMap;
use std::ops::Range;

use super::check::check;
use super::ledger::{Ledgers, UserLedger};
use super::market::Market;
use super::operation::{Mix, OperationKind};
use super::player::{Player, Progress};
use super::population::Population;
use super::price::Prices;
use super::request::Request;
use super::script::Script;
use crate::audited::{ReplyError, not_ok};

/// New users that one trader can register, so that their numbers do not meet those of the next one.
const REGISTERED_MAX: u64 = 1 << 32;

/// A trader, who plays one user at a time.
pub struct Trader {
    number: u32,
    population: Population,
    script: Script,
    ledgers: HashMap<u64, UserLedger>,
    /// Fewest changes that each quote must have by now.
    seen: Vec<u32>,
    /// The user in session, or the last one.
    user: u64,
    in_session: bool,
    registered: u64,
    operation: OperationKind,
    request: Request,
}

impl Trader {
    /// A trader who plays the users `own_users` of the population, and draws from `seed`. It continues from `ledgers` of earlier runs.
    ///
    /// # Panics
    /// If `own_users` is empty.
    pub fn new(
        number: u32,
        population: Population,
        mix: Mix,
        seed: u64,
        own_users: Range<u32>,
        ledgers: &Ledgers,
    ) -> Trader {
        assert!(!own_users.is_empty(), "a trader without users");
        let first_new = u64::from(population.users) + u64::from(number) * REGISTERED_MAX;
        let new_users = first_new..first_new + REGISTERED_MAX;
        let is_own = |user: u64| u32::try_from(user).is_ok_and(|user| own_users.contains(&user));
        let own = ledgers.users.iter().filter(|one| is_own(one.user) || new_users.contains(&one.user));
        let ledgers: HashMap<u64, UserLedger> = own.map(|one| (one.user, one.clone())).collect();
        let registered = ledgers.keys().filter(|user| new_users.contains(user)).count() as u64;
        // Another run draws other numbers.
        let earlier: u32 = ledgers.values().map(|one| one.logins).sum();
        let seed = seed.wrapping_add(u64::from(earlier) << 32);
        // A session of an earlier run that is still open goes on.
        let open = ledgers.values().filter(|one| one.logins > one.logouts).map(|one| one.user).min();
        let user = open.unwrap_or(own_users.start.into());
        let mut trader = Trader {
            number,
            population,
            script: Script::new(seed, number, mix, population.quotes, own_users),
            ledgers,
            seen: vec![0; population.quotes as usize],
            user,
            in_session: open.is_some(),
            registered,
            operation: OperationKind::Quote,
            request: Request::Quotes(vec![0]),
        };
        trader.open_ledger(user);
        trader
    }

    fn fail(&mut self, error: ReplyError) -> Progress {
        self.on_lost();
        Progress::Failed(error)
    }

    fn follows_session(&self, request: &Request) -> bool {
        match request {
            Request::Login | Request::Register => true,
            Request::Logout => false,
            _ => self.in_session,
        }
    }

    /// The second request of an operation that has two.
    fn next_request(&mut self) -> Option<Request> {
        match (self.operation, &self.request) {
            (OperationKind::Buy, Request::Quotes(symbols)) => {
                let symbol = symbols[0];
                Some(Request::Buy { symbol, quantity: self.script.quantity() })
            }
            (OperationKind::Sell, Request::Portfolio) => {
                let count = self.ledger().holdings.len();
                let index = self.script.index(count);
                self.ledger().holdings.keys().nth(index).map(|holding| Request::Sell { holding: *holding })
            }
            (OperationKind::Update, Request::Account) => Some(Request::Update),
            (OperationKind::Register, Request::Logout) => {
                let first_new = u64::from(self.population.users) + u64::from(self.number) * REGISTERED_MAX;
                self.user = first_new + self.registered;
                self.registered += 1;
                self.ledgers.insert(self.user, UserLedger::registered(self.user));
                Some(Request::Register)
            }
            _ => None,
        }
    }

    fn open_ledger(&mut self, user: u64) {
        let population = &self.population;
        let first = || UserLedger::first(population, user as u32);
        self.ledgers.entry(user).or_insert_with(first);
    }

    fn ledger(&self) -> &UserLedger {
        &self.ledgers[&self.user]
    }

    fn ledger_mut(&mut self) -> &mut UserLedger {
        self.ledgers.get_mut(&self.user).expect("the user in session has a ledger")
    }
}

impl Player for Trader {
    const COOKIE: &'static str = "user";
    const MAY_CLOSE: bool = false;
    type Market = Prices;

    fn join(&mut self) {
        self.operation = OperationKind::Quote;
        self.request = Request::Quotes(vec![0]);
    }

    fn begin(&mut self) {
        self.operation = if self.in_session {
            let holds_nothing = self.ledger().holdings.is_empty();
            self.script.next_operation(Some(holds_nothing))
        } else {
            OperationKind::Login
        };
        self.request = match self.operation {
            OperationKind::Login => {
                let user = self.script.next_user().into();
                self.user = user;
                self.open_ledger(user);
                Request::Login
            }
            OperationKind::Home => Request::Home,
            OperationKind::Quote | OperationKind::Buy => Request::Quotes(self.script.symbols()),
            OperationKind::Logout | OperationKind::Register => Request::Logout,
            OperationKind::Account | OperationKind::Update => Request::Account,
            OperationKind::Portfolio | OperationKind::Sell => Request::Portfolio,
        };
    }

    fn operation(&self) -> OperationKind {
        self.operation
    }

    fn write_request(&self, host: &str, out: &mut Vec<u8>) {
        self.request.write(self.ledger(), host, out);
    }

    fn request_name(&self) -> &'static str {
        self.request.name()
    }

    fn user_name(&self) -> String {
        self.user.to_string()
    }

    fn on_reply(
        &mut self,
        prices: &mut Prices,
        status: u16,
        set_cookie: Option<&[u8]>,
        body: &[u8],
    ) -> Progress {
        if status != 200 {
            return self.fail(not_ok(status, body));
        }
        let request = self.request.clone();
        let user = self.ledgers.get_mut(&self.user).expect("the user in session has a ledger");
        let mut market = Market { prices, seen: &mut self.seen };
        if let Err(error) = check(&request, user, &mut market, body) {
            self.in_session = self.follows_session(&request);
            return Progress::Failed(error);
        }
        self.in_session = self.follows_session(&request);
        let actual = set_cookie.map(|value| value.split(|byte| *byte == b';').next().unwrap_or_default());
        if let Some(expected) = request.sets_cookie(self.user)
            && actual != Some(expected.as_bytes())
        {
            let actual = actual.map_or("none".into(), String::from_utf8_lossy);
            return Progress::Failed(ReplyError(format!("cookie: {actual} instead of {expected}")));
        }
        match self.next_request() {
            Some(request) => {
                self.request = request;
                Progress::Next
            }
            None => Progress::Complete,
        }
    }

    fn on_lost(&mut self) {
        if self.request.changes() {
            self.ledger_mut().uncertain = true;
        }
        // Whether the session is open is not known; a login begins one in any case.
        self.in_session = false;
    }

    fn take_ledgers(&mut self) -> Vec<UserLedger> {
        std::mem::take(&mut self.ledgers).into_values().collect()
    }
}

#[cfg(test)]
#[path = "trader_tests.rs"]
mod tests;
