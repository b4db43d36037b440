use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::altered::{altered, changes};
use crate::trade::order::{FEE_CENTS, Order, OrderKind};

const POPULATION: Population = Population { seed: 1, users: 20, quotes: 30 };

/// A brokerage in memory, as the definition says, with one fault at most.
struct Brokerage {
    users: HashMap<u64, UserLedger>,
    /// Changes of each quote.
    changes: Vec<u32>,
    prices: Prices,
    next_id: u64,
    plant: &'static str,
}

impl Brokerage {
    fn new(plant: &'static str) -> Brokerage {
        let users = (0..POPULATION.users).map(|user| (user.into(), UserLedger::first(&POPULATION, user)));
        let changes = vec![0; POPULATION.quotes as usize];
        Brokerage { users: users.collect(), changes, prices: Prices::new(POPULATION), next_id: 200, plant }
    }

    /// The status, the cookie and the body of the reply.
    fn reply(&mut self, request: &str) -> (u16, Option<Vec<u8>>, Vec<u8>) {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let target = head.split(' ').nth(1).unwrap().strip_prefix("/trade/").unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let form: HashMap<&str, &str> = body.split('&').filter_map(|field| field.split_once('=')).collect();
        let number = |name: &str| form[name].parse::<u64>().unwrap();
        let of_cookie = || {
            let cookie = head.lines().find_map(|line| line.strip_prefix("Cookie: user=")).unwrap();
            cookie.parse::<u64>().unwrap()
        };
        let user = if ["login", "register"].contains(&path) { number("user") } else { of_cookie() };
        let mut cookie = None;
        let mut text = match path {
            "login" | "logout" | "register" => {
                if path == "register" {
                    self.users.insert(user, UserLedger { logins: 0, ..UserLedger::registered(user) });
                }
                let stored = self.users.get_mut(&user).unwrap();
                let value = if path == "logout" {
                    stored.logouts += 1;
                    String::new()
                } else {
                    stored.logins += 1;
                    user.to_string()
                };
                cookie = Some(format!("user={value}; Path=/").into_bytes());
                self.account(user)
            }
            "home" => {
                let stored = &self.users[&user];
                let (holdings, cost) = (stored.holdings.len(), stored.cost_cents());
                let gain = |brokerage: &mut Brokerage, symbol: u32| {
                    let changes = brokerage.changes[symbol as usize];
                    let price = brokerage.prices.price_cents(symbol, changes).unwrap();
                    i64::from(price) - i64::from(POPULATION.open_cents(symbol))
                };
                let mut symbols: Vec<u32> = (0..POPULATION.quotes).collect();
                symbols.sort_by_key(|symbol| -gain(self, *symbol));
                let gainers: Vec<String> = symbols[..5].iter().map(|symbol| self.quote(*symbol)).collect();
                let losers: Vec<String> =
                    symbols.iter().rev().take(5).map(|symbol| self.quote(*symbol)).collect();
                let (gainers, losers) = (gainers.join(","), losers.join(","));
                let account = self.account(user);
                format!(
                    r#"{{"account":{account},"holdings":{holdings},"cost":{cost},"market":{{"gainers":[{gainers}],"losers":[{losers}]}}}}"#
                )
            }
            "quotes" => {
                let symbols = query.strip_prefix("symbols=").unwrap().split(',');
                let quotes: Vec<String> = symbols.map(|symbol| self.quote(symbol.parse().unwrap())).collect();
                format!(r#"{{"quotes":[{}]}}"#, quotes.join(","))
            }
            "account" => {
                let orders: Vec<String> = self.users[&user].recent.iter().map(order).collect();
                let (account, profile) = (self.account(user), self.profile(user));
                format!(r#"{{"account":{account},"profile":{profile},"orders":[{}]}}"#, orders.join(","))
            }
            "update" => {
                self.users.get_mut(&user).unwrap().revision += 1;
                assert!(form["email"].starts_with(&format!("{user}.")));
                self.profile(user)
            }
            "portfolio" => {
                let holdings = self.users[&user].holdings.clone();
                let holdings: Vec<String> = holdings
                    .iter()
                    .map(|(id, held)| {
                        let changes = self.changes[held.symbol as usize];
                        let price = self.prices.price_cents(held.symbol, changes).unwrap();
                        format!(
                            r#"{{"holding":{id},"symbol":{},"quantity":{},"paid":{},"price":{price},"changes":{changes}}}"#,
                            held.symbol, held.quantity, held.paid_cents
                        )
                    })
                    .collect();
                format!(r#"{{"holdings":[{}]}}"#, holdings.join(","))
            }
            "buy" => {
                self.trade(user, OrderKind::Buy, number("symbol") as u32, number("quantity") as u32, None)
            }
            "sell" => {
                let held = self.users[&user].holdings[&number("holding")];
                self.trade(user, OrderKind::Sell, held.symbol, held.quantity, Some(number("holding")))
            }
            other => panic!("{other}"),
        };
        if self.plant == path {
            text = text.replacen("\"balance\":", "\"balance\":1", 1);
        }
        (200, cookie, text.into_bytes())
    }

    fn trade(
        &mut self,
        user: u64,
        kind: OrderKind,
        symbol: u32,
        quantity: u32,
        holding: Option<u64>,
    ) -> String {
        self.next_id += 1;
        let changes = self.changes[symbol as usize];
        let price_cents = self.prices.price_cents(symbol, changes).unwrap();
        let holding = holding.unwrap_or(self.next_id);
        let made = Order { id: self.next_id, kind, symbol, quantity, price_cents, changes, holding };
        let stored = self.users.get_mut(&user).unwrap();
        stored.enter(made);
        let balance = stored.balance_cents;
        self.changes[symbol as usize] += 1;
        let mut text = order(&made);
        match self.plant {
            "fee" => text = text.replace("2495", "2494"),
            "price" => text = text.replace(&format!("\"price\":{price_cents}"), "\"price\":7"),
            "stale" => self.changes[symbol as usize] -= 1,
            "open" => text = text.replace("closed", "open"),
            _ => {}
        }
        format!(r#"{{"order":{text},"balance":{balance}}}"#)
    }

    fn account(&self, user: u64) -> String {
        let UserLedger { balance_cents, open_balance_cents, logins, logouts, .. } = &self.users[&user];
        format!(
            r#"{{"user":{user},"balance":{balance_cents},"open_balance":{open_balance_cents},"logins":{logins},"logouts":{logouts}}}"#
        )
    }

    fn profile(&self, user: u64) -> String {
        let revision = self.users[&user].revision;
        format!(
            r#"{{"name":"User {user}","address":"{revision} Street {user}","email":"{user}.{revision}@klatch","card":"card-{user}-{revision}"}}"#
        )
    }

    fn quote(&mut self, symbol: u32) -> String {
        let (open, changes) = (POPULATION.open_cents(symbol), self.changes[symbol as usize]);
        let price = self.prices.price_cents(symbol, changes).unwrap();
        format!(r#"{{"symbol":{symbol},"price":{price},"open":{open},"changes":{changes},"volume":9}}"#)
    }
}

fn order(order: &Order) -> String {
    let Order { id, symbol, quantity, price_cents, changes, holding, .. } = order;
    let kind = if order.kind == OrderKind::Buy { "buy" } else { "sell" };
    format!(
        r#"{{"order":{id},"type":"{kind}","status":"closed","symbol":{symbol},"quantity":{quantity},"price":{price_cents},"changes":{changes},"fee":{FEE_CENTS},"holding":{holding}}}"#
    )
}

/// Makes operations against a brokerage. Returns how often each kind was complete, and the first fault.
fn play(
    trader: &mut Trader,
    brokerage: &mut Brokerage,
    operations: u32,
) -> (HashMap<OperationKind, u32>, Option<String>) {
    let mut prices = Prices::new(POPULATION);
    let mut complete = HashMap::new();
    for _ in 0..operations {
        trader.begin();
        let kind = trader.operation();
        loop {
            let mut request = Vec::new();
            trader.write_request("test", &mut request);
            let (status, cookie, body) = brokerage.reply(std::str::from_utf8(&request).unwrap());
            match trader.on_reply(&mut prices, status, cookie.as_deref(), &body) {
                Progress::Next => {}
                Progress::Complete => break *complete.entry(kind).or_default() += 1,
                Progress::Failed(error) => return (complete, Some(error.to_string())),
            }
        }
    }
    (complete, None)
}

fn trader(ledgers: &Ledgers) -> Trader {
    Trader::new(1, POPULATION, Mix::Standard, 7, 0..20, ledgers)
}

#[test]
fn every_reply_of_a_right_brokerage_is_right_and_the_mix_is_exact() {
    let mut brokerage = Brokerage::new("");
    let mut trader = trader(&Ledgers::default());
    let (complete, fault) = play(&mut trader, &mut brokerage, 1_041);
    assert_eq!(fault, None);
    assert_eq!(complete[&OperationKind::Quote], 400, "1,000 cards of the mix, and 41 logins: {complete:?}");
    assert!(complete[&OperationKind::Sell] > 20, "{complete:?}");
    let ledgers: Vec<UserLedger> = trader.take_ledgers();
    assert!(ledgers.len() > 20 && ledgers.iter().all(|one| *one == brokerage.users[&one.user]));
}

#[test]
fn a_later_run_continues_from_the_ledgers() {
    let mut brokerage = Brokerage::new("");
    let mut first = trader(&Ledgers::default());
    assert_eq!(play(&mut first, &mut brokerage, 333).1, None);
    let users: Vec<UserLedger> = first.take_ledgers();
    let mut second = trader(&Ledgers { users });
    assert_eq!(play(&mut second, &mut brokerage, 333).1, None);
    let open = |one: &UserLedger| u32::from(one.logins > one.logouts);
    assert!(second.take_ledgers().iter().map(open).sum::<u32>() <= 1, "one session at a time");
}

#[test]
fn each_fault_of_a_brokerage_is_named() {
    let fault = |plant| {
        let (_, fault) = play(&mut trader(&Ledgers::default()), &mut Brokerage::new(plant), 2_000);
        fault.unwrap_or_else(|| panic!("{plant} was not detected"))
    };
    for path in ["login", "logout", "home", "account", "buy", "sell"] {
        assert!(fault(path).starts_with("balance: 1"), "{path}: {}", fault(path));
    }
    assert!(fault("fee").starts_with("fee of order "), "{}", fault("fee"));
    assert!(fault("price").starts_with("price out of rule: quote "), "{}", fault("price"));
    assert!(fault("stale").starts_with("stale price: quote "), "{}", fault("stale"));
    assert!(fault("open").starts_with("status of order "), "{}", fault("open"));
}

#[test]
fn a_refusal_or_no_reply_leaves_the_account_uncertain() {
    let mut trader = trader(&Ledgers::default());
    let mut prices = Prices::new(POPULATION);
    trader.begin();
    assert_eq!(trader.operation(), OperationKind::Login);
    let refused = trader.on_reply(&mut prices, 500, None, b"{\"error\":\"no disk\"}\n");
    let Progress::Failed(error) = refused else { panic!("{refused:?}") };
    assert_eq!(error.to_string(), "status 500 instead of 200: {\"error\":\"no disk\"}");
    assert!(trader.ledger().uncertain);
    trader.begin();
    assert_eq!(trader.operation(), OperationKind::Login, "there is no session");
    let wrong = trader.on_reply(&mut prices, 200, None, b"<html>");
    assert!(matches!(wrong, Progress::Failed(_)) && trader.ledger().uncertain);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a server changes in a reply, the trader judges it, and says in its ledgers what it knows.
    #[test]
    fn any_change_of_a_reply_is_judged(number in 0..80_u32, changes in changes()) {
        let (mut trader, mut brokerage) = (trader(&Ledgers::default()), Brokerage::new(""));
        let (mut prices, mut left, mut progress) = (Prices::new(POPULATION), number, Progress::Complete);
        while left > 0 {
            if progress == Progress::Complete {
                trader.begin();
            }
            let mut request = Vec::new();
            trader.write_request("test", &mut request);
            let (status, cookie, body) = brokerage.reply(std::str::from_utf8(&request).unwrap());
            left -= 1;
            let body = if left == 0 { altered(&body, &changes) } else { body };
            progress = trader.on_reply(&mut prices, status, cookie.as_deref(), &body);
            if let Progress::Failed(error) = &progress {
                prop_assert!(left == 0 && error.to_string().contains(' '));
                break;
            }
        }
        trader.on_lost();
        prop_assert!(!trader.take_ledgers().is_empty() || number == 0);
    }
}
