//! Checks replies against the ledger of their user, and enters what they confirm.

use serde::Deserialize;

use super::ledger::UserLedger;
use super::market::Market;
use super::order::{FEE_CENTS, Order, OrderKind};
use super::reply::{
    AccountPage, AccountReply, HomePage, OrderPage, OrderReply, PortfolioPage, ProfileReply, QuoteReply,
    QuotesPage,
};
use super::request::{Request, profile};
use crate::audited::{self, ReplyError, same};

/// Checks the body of the reply to `request`, whose status is 200. The ledger has what the reply confirms, also if something else in it is
/// wrong.
pub(super) fn check(
    request: &Request,
    user: &mut UserLedger,
    market: &mut Market<'_>,
    body: &[u8],
) -> Result<(), ReplyError> {
    match request {
        Request::Login | Request::Logout | Request::Register => {
            let reply: AccountReply = parse(user, body)?;
            match request {
                Request::Login => user.logins += 1,
                Request::Logout => user.logouts += 1,
                _ => {}
            }
            check_account(user, &reply)
        }
        Request::Home => {
            let page = parse(user, body)?;
            check_home(user, market, &page)
        }
        Request::Quotes(symbols) => {
            let page: QuotesPage = parse(user, body)?;
            let actual: Vec<u32> = page.quotes.iter().map(|quote| quote.symbol).collect();
            if actual != *symbols {
                return Err(ReplyError(format!("quotes {actual:?} instead of {symbols:?}")));
            }
            page.quotes.iter().try_for_each(|quote| market.check_quote(quote))
        }
        Request::Account => {
            let page: AccountPage<'_> = parse(user, body)?;
            check_account(user, &page.account)?;
            check_profile(user, &page.profile)?;
            same("number of orders", user.recent.len(), page.orders.len())?;
            user.recent.iter().zip(&page.orders).try_for_each(|(order, reply)| check_order(order, reply))
        }
        Request::Update => {
            let reply: ProfileReply<'_> = parse(user, body)?;
            user.revision += 1;
            check_profile(user, &reply)
        }
        Request::Portfolio => {
            let page = parse(user, body)?;
            check_portfolio(user, market, &page)
        }
        Request::Buy { symbol, quantity } => {
            let page: OrderPage<'_> = parse(user, body)?;
            let reply = &page.order;
            let held = user.holdings.contains_key(&reply.holding);
            let order = Order {
                kind: OrderKind::Buy,
                symbol: *symbol,
                quantity: *quantity,
                holding: reply.holding,
                ..new_order(reply)
            };
            enter(user, market, order, &page)?;
            let twice = || ReplyError(format!("holding {} is there already", reply.holding));
            (!held).then_some(()).ok_or_else(twice)
        }
        Request::Sell { holding } => {
            let page: OrderPage<'_> = parse(user, body)?;
            let Some(held) = user.holdings.get(holding) else {
                return Err(ReplyError(format!("holding {holding} was sold already")));
            };
            let order = Order {
                kind: OrderKind::Sell,
                symbol: held.symbol,
                quantity: held.quantity,
                holding: *holding,
                ..new_order(&page.order)
            };
            enter(user, market, order, &page)
        }
    }
}

/// Parses a body. One that cannot be parsed leaves open what the request did.
fn parse<'a, T: Deserialize<'a>>(user: &mut UserLedger, body: &'a [u8]) -> Result<T, ReplyError> {
    audited::parse(body).inspect_err(|_| user.uncertain = true)
}

/// The parts of a new order that the server decides.
fn new_order(reply: &OrderReply<'_>) -> Order {
    Order {
        id: reply.order,
        kind: reply.kind,
        symbol: reply.symbol,
        quantity: reply.quantity,
        price_cents: reply.price,
        changes: reply.changes,
        holding: reply.holding,
    }
}

/// Enters a new order, then checks its reply.
fn enter(
    user: &mut UserLedger,
    market: &mut Market<'_>,
    order: Order,
    page: &OrderPage<'_>,
) -> Result<(), ReplyError> {
    user.enter(order);
    check_order(&order, &page.order)?;
    market.check_now(order.symbol, order.price_cents, order.changes)?;
    market.record_order(order.symbol, order.changes);
    same("balance", user.balance_cents, page.balance)
}

fn check_account(user: &UserLedger, reply: &AccountReply) -> Result<(), ReplyError> {
    same("user", user.user, reply.user)?;
    same("balance", user.balance_cents, reply.balance)?;
    same("open balance", user.open_balance_cents, reply.open_balance)?;
    same("logins", user.logins, reply.logins)?;
    same("logouts", user.logouts, reply.logouts)
}

fn check_profile(user: &UserLedger, reply: &ProfileReply<'_>) -> Result<(), ReplyError> {
    let expected = profile(user.user, user.revision);
    same("name", expected.name.as_str(), reply.name)?;
    same("address", expected.address.as_str(), reply.address)?;
    same("email", expected.email.as_str(), reply.email)?;
    same("card", expected.card.as_str(), reply.card)
}

fn check_home(user: &UserLedger, market: &mut Market<'_>, page: &HomePage) -> Result<(), ReplyError> {
    check_account(user, &page.account)?;
    same("number of holdings", user.holdings.len() as u64, page.holdings)?;
    same("cost of the holdings", user.cost_cents(), page.cost)?;
    let gain = |quote: &QuoteReply| i64::from(quote.price) - i64::from(quote.open);
    market.check_top("gainers", &page.market.gainers, gain)?;
    market.check_top("losers", &page.market.losers, |quote| -gain(quote))
}

fn check_portfolio(
    user: &UserLedger,
    market: &mut Market<'_>,
    page: &PortfolioPage,
) -> Result<(), ReplyError> {
    let expected: Vec<u64> = user.holdings.keys().copied().collect();
    let actual: Vec<u64> = page.holdings.iter().map(|one| one.holding).collect();
    if expected != actual {
        return Err(ReplyError(format!("holdings {actual:?} instead of {expected:?}")));
    }
    for ((id, held), reply) in user.holdings.iter().zip(&page.holdings) {
        same(format_args!("symbol of holding {id}"), held.symbol, reply.symbol)?;
        same(format_args!("quantity of holding {id}"), held.quantity, reply.quantity)?;
        same(format_args!("price paid for holding {id}"), held.paid_cents, reply.paid)?;
        market.check_now(reply.symbol, reply.price, reply.changes)?;
    }
    Ok(())
}

fn check_order(order: &Order, reply: &OrderReply<'_>) -> Result<(), ReplyError> {
    let id = order.id;
    same("id of an order", id, reply.order)?;
    if reply.kind != order.kind {
        return Err(ReplyError(format!("order {id} is a {:?} instead of a {:?}", reply.kind, order.kind)));
    }
    same(format_args!("status of order {id}"), "closed", reply.status)?;
    same(format_args!("symbol of order {id}"), order.symbol, reply.symbol)?;
    same(format_args!("quantity of order {id}"), order.quantity, reply.quantity)?;
    same(format_args!("price of order {id}"), order.price_cents, reply.price)?;
    same(format_args!("changes at order {id}"), order.changes, reply.changes)?;
    same(format_args!("fee of order {id}"), FEE_CENTS, reply.fee)?;
    same(format_args!("holding of order {id}"), order.holding, reply.holding)
}
