//! The requests of a trader, as they are sent.

use super::ledger::UserLedger;
use super::population::LARGE_BALANCE_CENTS;
use crate::audited::{write_form, write_get};

/// The password of every user.
const PASSWORD: &str = "xxx";

/// One request of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Login,
    Logout,
    Register,
    Home,
    Quotes(Vec<u32>),
    Account,
    Update,
    Portfolio,
    Buy { symbol: u32, quantity: u32 },
    Sell { holding: u64 },
}

impl Request {
    /// Whether the request changes the database.
    pub(super) fn changes(&self) -> bool {
        match self {
            Request::Login
            | Request::Logout
            | Request::Register
            | Request::Update
            | Request::Buy { .. }
            | Request::Sell { .. } => true,
            Request::Home | Request::Quotes(_) | Request::Account | Request::Portfolio => false,
        }
    }

    /// Appends the request of this user.
    pub(super) fn write(&self, user: &UserLedger, host: &str, out: &mut Vec<u8>) {
        let body = match self {
            Request::Login => format!("user={}&password={PASSWORD}", user.user),
            Request::Register => {
                format!("user={}&password={PASSWORD}&balance={LARGE_BALANCE_CENTS}", user.user)
            }
            Request::Logout => String::new(),
            Request::Update => {
                let profile = profile(user.user, user.revision + 1);
                format!("address={}&email={}&card={}", profile.address, profile.email, profile.card)
            }
            Request::Buy { symbol, quantity } => format!("symbol={symbol}&quantity={quantity}"),
            Request::Sell { holding } => format!("holding={holding}"),
            Request::Home => return write_page(out, "home", user.user, host),
            Request::Account => return write_page(out, "account", user.user, host),
            Request::Portfolio => return write_page(out, "portfolio", user.user, host),
            Request::Quotes(symbols) => {
                let symbols: Vec<String> = symbols.iter().map(u32::to_string).collect();
                let target = format!("quotes?symbols={}", symbols.join(","));
                return write_page(out, &target, user.user, host);
            }
        };
        let cookie = match self {
            Request::Login | Request::Register => String::new(),
            _ => format!("Cookie: user={}\r\n", user.user),
        };
        write_form(&format!("/trade/{}", self.name()), host, &cookie, &body, out);
    }

    /// The last part of the path.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Request::Login => "login",
            Request::Logout => "logout",
            Request::Register => "register",
            Request::Home => "home",
            Request::Quotes(_) => "quotes",
            Request::Account => "account",
            Request::Update => "update",
            Request::Portfolio => "portfolio",
            Request::Buy { .. } => "buy",
            Request::Sell { .. } => "sell",
        }
    }

    /// The cookie that the reply must set: `Some("")` ends the session.
    pub(super) fn sets_cookie(&self, user: u64) -> Option<String> {
        match self {
            Request::Login | Request::Register => Some(format!("user={user}")),
            Request::Logout => Some("user=".to_owned()),
            _ => None,
        }
    }
}

fn write_page(out: &mut Vec<u8>, target: &str, user: u64, host: &str) {
    write_get(&format!("/trade/{target}"), host, &format!("Cookie: user={user}\r\n"), out);
}

/// What is stored about a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProfileText {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) email: String,
    pub(super) card: String,
}

/// The profile of a user after so many updates.
pub(super) fn profile(user: u64, revision: u32) -> ProfileText {
    ProfileText {
        name: format!("User {user}"),
        address: format!("{revision} Street {user}"),
        email: format!("{user}.{revision}@klatch"),
        card: format!("card-{user}-{revision}"),
    }
}
