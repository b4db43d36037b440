//! One trader at a DayTrader: its operations, request by request, and the words of their pages.

use std::collections::HashMap;
use std::ops::Range;

use super::page::Page;
use super::request::{Request, Sender};
use crate::audited::{ReplyError, not_ok};
use crate::trade::ledger::UserLedger;
use crate::trade::operation::{Mix, OperationKind};
use crate::trade::player::{Player, Progress};
use crate::trade::script::Script;

/// What a trader at a DayTrader plays.
#[derive(Clone, Debug)]
pub struct DayTraderOptions {
    /// Number of the trader, from 1.
    pub number: u32,
    /// Context root of the application, such as `/daytrader`.
    pub root: String,
    /// The mix of operations.
    pub mix: Mix,
    /// Seed of all draws.
    pub seed: u64,
    /// Quotes that the application has, `s:0` and so on.
    pub quotes: u32,
    /// Users of this trader alone, as numbers of `uid:0` and so on. Not empty.
    pub users: Range<u32>,
    /// A number that no earlier run on the same database had. It is part of the names of new users.
    pub run: u64,
}

/// A trader at a DayTrader, who plays one user at a time.
pub struct DayTrader {
    options: DayTraderOptions,
    script: Script,
    /// Holdings of each user, as far as its portfolio was seen.
    holdings: HashMap<u32, usize>,
    /// The user in session, or the last one.
    user: User,
    in_session: bool,
    cookie: Option<String>,
    registered: u32,
    updates: u32,
    operation: OperationKind,
    request: Request,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct User {
    /// Number of a first user; `None` for one that the trader has registered.
    number: Option<u32>,
    name: String,
}

impl User {
    fn first(number: u32) -> User {
        User { number: Some(number), name: format!("uid:{number}") }
    }
}

impl DayTrader {
    /// A trader without a session, and without a request.
    pub fn new(options: DayTraderOptions) -> DayTrader {
        let DayTraderOptions { number, mix, seed, quotes, ref users, .. } = options;
        DayTrader {
            script: Script::new(seed, number, mix, quotes, users.clone()),
            holdings: HashMap::new(),
            user: User::first(users.start),
            in_session: false,
            cookie: None,
            registered: 0,
            updates: 0,
            operation: OperationKind::Quote,
            request: Request::Welcome,
            options,
        }
    }

    /// Whether the user has nothing to sell; `None` if its portfolio was not seen.
    fn holds_nothing(&self) -> Option<bool> {
        let seen = self.user.number.and_then(|number| self.holdings.get(&number));
        seen.map(|count| *count == 0)
    }

    fn quotes(&mut self) -> Request {
        Request::Quotes(self.script.symbols())
    }

    /// Checks a page by its words.
    fn check(&self, page: &Page) -> Result<(), ReplyError> {
        page.has_title(match self.request {
            Request::Welcome | Request::Logout => "DayTrader Login",
            Request::Login | Request::Register | Request::Home => "Welcome to DayTrader",
            Request::Quotes(_) => "DayTrader: Quotes and Trading",
            Request::Account | Request::Update(_) => "DayTrader Account Information",
            Request::Portfolio => "DayTrader Portfolio",
            Request::Buy { .. } | Request::Sell { .. } => "DayTrader Order information",
        })?;
        match &self.request {
            Request::Login | Request::Register | Request::Home => {
                page.says(&format!("Welcome {},", self.user.name))
            }
            Request::Quotes(symbols) => symbols.iter().try_for_each(|symbol| page.quotes(*symbol)),
            Request::Update(_) => page.says("Account profile update successful"),
            Request::Buy { symbol, quantity } => page.confirms("buy", Some(*quantity), Some(*symbol)),
            Request::Sell { .. } => page.confirms("sell", None, None),
            Request::Account => page.says("Account Information"),
            Request::Portfolio => page.says("Number of Holdings:"),
            Request::Welcome | Request::Logout => Ok(()),
        }
    }

    /// The next request of an operation that has several.
    fn next_request(&mut self, page: &Page) -> Option<Request> {
        match (self.operation, &self.request) {
            (OperationKind::Buy, Request::Quotes(symbols)) => {
                Some(Request::Buy { symbol: symbols[0], quantity: self.script.quantity() })
            }
            (OperationKind::Sell, Request::Portfolio) => {
                let holdings = page.holdings();
                if holdings.is_empty() {
                    self.script.add_missing_sell();
                    self.operation = OperationKind::Buy;
                    return Some(self.quotes());
                }
                Some(Request::Sell { holding: holdings[self.script.index(holdings.len())] })
            }
            (OperationKind::Update, Request::Account) => {
                self.updates += 1;
                Some(Request::Update(self.updates))
            }
            (OperationKind::Register, Request::Logout) => {
                self.registered += 1;
                let DayTraderOptions { number, run, .. } = self.options;
                self.user = User { number: None, name: format!("ru:{run}.{number}.{}", self.registered) };
                Some(Request::Register)
            }
            _ => None,
        }
    }

    fn count_holdings(&mut self, page: &Page) {
        let Some(number) = self.user.number else { return };
        match self.request {
            Request::Portfolio => {
                self.holdings.insert(number, page.holdings().len());
            }
            Request::Buy { .. } => *self.holdings.entry(number).or_default() += 1,
            Request::Sell { .. } => {
                let count = self.holdings.entry(number).or_default();
                *count = count.saturating_sub(1);
            }
            _ => {}
        }
    }
}

impl Player for DayTrader {
    /// The usual cookie of servlets.
    const COOKIE: &'static str = "JSESSIONID";
    const MAY_CLOSE: bool = true;
    type Market = ();

    fn join(&mut self) {
        self.operation = OperationKind::Quote;
        self.request = Request::Welcome;
    }

    fn begin(&mut self) {
        self.operation = if self.in_session {
            let holds_nothing = self.holds_nothing();
            self.script.next_operation(holds_nothing)
        } else {
            OperationKind::Login
        };
        self.request = match self.operation {
            OperationKind::Login => {
                self.user = User::first(self.script.next_user());
                Request::Login
            }
            OperationKind::Home => Request::Home,
            OperationKind::Quote | OperationKind::Buy => self.quotes(),
            OperationKind::Logout | OperationKind::Register => Request::Logout,
            OperationKind::Account | OperationKind::Update => Request::Account,
            OperationKind::Portfolio | OperationKind::Sell => Request::Portfolio,
        };
    }

    fn operation(&self) -> OperationKind {
        self.operation
    }

    fn write_request(&self, host: &str, out: &mut Vec<u8>) {
        let cookie = self.cookie.as_deref();
        let sender = Sender { root: &self.options.root, host, user: &self.user.name, cookie };
        self.request.write(&sender, out);
    }

    fn request_name(&self) -> &'static str {
        self.request.name()
    }

    fn user_name(&self) -> String {
        self.user.name.clone()
    }

    fn on_reply(&mut self, (): &mut (), status: u16, set_cookie: Option<&[u8]>, body: &[u8]) -> Progress {
        if let Some(value) = set_cookie {
            let pair = value.split(|byte| *byte == b';').next().unwrap_or_default();
            self.cookie = Some(String::from_utf8_lossy(pair).into_owned());
        }
        let page = Page::new(body);
        let checked = if status == 200 { self.check(&page) } else { Err(not_ok(status, body)) };
        if let Err(error) = checked {
            self.on_lost();
            return Progress::Failed(error);
        }
        match self.request {
            Request::Login | Request::Register => self.in_session = true,
            Request::Logout => self.in_session = false,
            _ => self.count_holdings(&page),
        }
        match self.next_request(&page) {
            Some(request) => {
                self.request = request;
                Progress::Next
            }
            None => Progress::Complete,
        }
    }

    /// Whether the session is open is not known then, so a login follows.
    fn on_lost(&mut self) {
        self.in_session = false;
    }

    /// None: the accounts of DayTrader are not audited.
    fn take_ledgers(&mut self) -> Vec<UserLedger> {
        Vec::new()
    }
}

#[cfg(test)]
#[path = "day_trader_tests.rs"]
mod tests;
