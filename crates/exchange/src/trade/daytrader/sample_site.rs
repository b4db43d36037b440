//! A DayTrader in memory, for tests: its pages have the words that traders look for, with one planted fault at most.

use std::collections::HashMap;

/// Its users, and its planted fault.
#[derive(Debug)]
pub struct SampleSite {
    /// Id, symbol and quantity of the holdings of each user by its name.
    holdings: HashMap<String, Vec<(u64, String, String)>>,
    /// The user of each session.
    sessions: Vec<Option<String>>,
    next_holding: u64,
    plant: &'static str,
}

impl SampleSite {
    /// A site at which nobody holds anything. `plant` is `word` (an order page without its confirmation), `session` (a session
    /// that is not kept), `quote` (a quote that is missing), or nothing.
    pub fn new(plant: &'static str) -> SampleSite {
        SampleSite { holdings: HashMap::new(), sessions: Vec::new(), next_holding: 1, plant }
    }

    /// The reply to a whole request, as it is sent.
    pub fn reply(&mut self, request: &str) -> String {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let target = head.split(' ').nth(1).unwrap_or_default();
        let Some(query) = target.strip_prefix("/daytrader/app") else {
            return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned();
        };
        let fields = if body.is_empty() { query.trim_start_matches('?') } else { body };
        let fields: HashMap<&str, &str> =
            fields.split('&').filter_map(|field| field.split_once('=')).collect();
        let session = head.lines().find_map(|line| line.strip_prefix("Cookie: JSESSIONID=")?.parse().ok());
        let (title, text, cookie) = self.page(&fields, session);
        let page = format!("<HTML><HEAD><TITLE>{title}</TITLE></HEAD>\n<BODY>{text}</BODY></HTML>");
        let cookie = cookie.map_or(String::new(), |number| {
            format!("Set-Cookie: JSESSIONID={number}; Path=/daytrader; HttpOnly\r\n")
        });
        format!("HTTP/1.1 200 OK\r\n{cookie}Content-Length: {}\r\n\r\n{page}", page.len())
    }

    /// The title and the content of a page, and the session that it begins.
    fn page(
        &mut self,
        fields: &HashMap<&str, &str>,
        session: Option<usize>,
    ) -> (&'static str, String, Option<usize>) {
        let field = |name: &str| fields.get(name).copied().unwrap_or_default().to_owned();
        let welcome = |user: &str| format!("<B>Welcome\n &nbsp;{user},\n</B>");
        let action = field("action");
        if let "login" | "register" = action.as_str() {
            let user = if action == "login" { field("uid") } else { field("user+id") };
            let kept = (self.plant != "session").then(|| user.clone());
            self.sessions.push(kept);
            return ("Welcome to DayTrader", welcome(&user), Some(self.sessions.len() - 1));
        }
        let user = session.and_then(|number| self.sessions[number].clone());
        let Some(user) = user else { return ("DayTrader Login", String::new(), None) };
        let holdings = self.holdings.entry(user.clone()).or_default();
        let (title, text) = match action.as_str() {
            "home" => ("Welcome to DayTrader", welcome(&user)),
            "account" => ("DayTrader Account Information", "<B>Account\n Information</B>".to_owned()),
            "update_profile" => {
                ("DayTrader Account Information", "Account profile update successful".to_owned())
            }
            "quotes" => {
                let known = field("symbols");
                let shown = known.split(',').skip(usize::from(self.plant == "quote"));
                let form = |symbol| format!("<INPUT type=\"hidden\" name=\"symbol\" value=\"{symbol}\">");
                ("DayTrader: Quotes and Trading", shown.map(form).collect())
            }
            "portfolio" => {
                let row = |(id, ..): &(u64, String, String)| {
                    format!("<TD><A href=\"app?action=sell&holdingID={id}\">sell</A></TD>")
                };
                let rows: String = holdings.iter().map(row).collect();
                ("DayTrader Portfolio", format!("<B>Number\n of Holdings: </B>{}{rows}", holdings.len()))
            }
            "buy" => {
                let (symbol, quantity) = (field("symbol"), field("quantity"));
                holdings.push((self.next_holding, symbol.clone(), quantity.clone()));
                self.next_holding += 1;
                ("DayTrader Order information", self.order("buy", &quantity, &symbol))
            }
            "sell" => {
                let place = holdings.iter().position(|(id, ..)| id.to_string() == field("holdingID"));
                let sold = place.map(|place| holdings.remove(place));
                let order = sold.map(|(_, symbol, quantity)| self.order("sell", &quantity, &symbol));
                ("DayTrader Order information", order.unwrap_or_default())
            }
            _ => {
                session.into_iter().for_each(|number| self.sessions[number] = None);
                ("DayTrader Login", String::new())
            }
        };
        (title, text, None)
    }

    fn order(&self, kind: &str, quantity: &str, symbol: &str) -> String {
        if self.plant == "word" {
            return String::new();
        }
        format!(
            "<B>Order 1</B>\n to <B>{kind}\n {quantity}.0</B>\n shares of <B>{symbol}</B>\n has been submitted for\n processing."
        )
    }
}
