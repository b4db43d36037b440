//! The requests of a trader, as forms of DayTrader's servlet `app`.

use crate::audited::{write_form, write_get};

/// The password of every user.
const PASSWORD: &str = "xxx";
/// The first balance of a new user, as in DayTrader's own scenario.
const BALANCE: &str = "1000000.00";

/// One request of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The first page, without a session.
    Welcome,
    Login,
    Logout,
    Register,
    Home,
    Quotes(Vec<u32>),
    Account,
    /// With a number that makes its values new.
    Update(u32),
    Portfolio,
    Buy {
        symbol: u32,
        quantity: u32,
    },
    Sell {
        holding: u64,
    },
}

/// The session in which a request is sent.
pub(super) struct Sender<'a> {
    /// Context root of the application, without a slash at its end.
    pub(super) root: &'a str,
    pub(super) host: &'a str,
    /// Name of the user.
    pub(super) user: &'a str,
    /// The cookie of the session, name included, if the server has set one.
    pub(super) cookie: Option<&'a str>,
}

impl Request {
    /// Appends the request as its sender sends it.
    pub(super) fn write(&self, sender: &Sender<'_>, out: &mut Vec<u8>) {
        let Sender { root, host, user, cookie } = sender;
        let headers = cookie.map_or(String::new(), |cookie| format!("Cookie: {cookie}\r\n"));
        let query = match self {
            Request::Login | Request::Register => {
                let form = self.form(user);
                return write_form(&format!("{root}/app"), host, &headers, &form, out);
            }
            Request::Welcome => String::new(),
            Request::Quotes(symbols) => {
                let symbols: Vec<String> = symbols.iter().map(|symbol| format!("s:{symbol}")).collect();
                format!("?action=quotes&symbols={}", symbols.join(","))
            }
            Request::Update(number) => format!(
                "?action=update_profile&userID={user}&fullname=User+{number}&password={PASSWORD}&cpassword={PASSWORD}\
                 &address={number}+Street&creditcard={number}&email={number}@klatch"
            ),
            Request::Buy { symbol, quantity } => format!("?action=buy&symbol=s:{symbol}&quantity={quantity}"),
            Request::Sell { holding } => format!("?action=sell&holdingID={holding}"),
            Request::Logout | Request::Home | Request::Account | Request::Portfolio => {
                format!("?action={}", self.name())
            }
        };
        write_get(&format!("{root}/app{query}"), host, &headers, out);
    }

    fn form(&self, user: &str) -> String {
        match self {
            Request::Register => format!(
                "action=register&user+id={user}&passwd={PASSWORD}&confirm+passwd={PASSWORD}&Full+Name=User&\
                 Credit+Card+Number=0&money={BALANCE}&email=user@klatch&snail+mail=Street"
            ),
            _ => format!("action=login&uid={user}&passwd={PASSWORD}"),
        }
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Request::Welcome => "welcome",
            Request::Login => "login",
            Request::Logout => "logout",
            Request::Register => "register",
            Request::Home => "home",
            Request::Quotes(_) => "quotes",
            Request::Account => "account",
            Request::Update(_) => "update",
            Request::Portfolio => "portfolio",
            Request::Buy { .. } => "buy",
            Request::Sell { .. } => "sell",
        }
    }
}
