//! The pages of DayTrader, as far as a trader reads them.

use std::ops::Range;

use crate::audited::ReplyError;

/// Most characters of a page that a message shows.
const SHOWN_MAX: usize = 120;

/// A page as HTML and as the text that a person reads.
pub(super) struct Page {
    html: String,
    text: String,
}

impl Page {
    /// The page of a body. Bytes that are not UTF-8 become replacement characters.
    pub(super) fn new(body: &[u8]) -> Page {
        let html = String::from_utf8_lossy(body).into_owned();
        let text = visible_text(&html);
        Page { html, text }
    }

    /// Checks that the title is this, and nothing more.
    pub(super) fn has_title(&self, expected: &str) -> Result<(), ReplyError> {
        let differs = |actual| ReplyError(format!("a page with the title {actual} instead of {expected}"));
        match element(&self.html, "title").map(|range| self.html[range].trim()) {
            Some(title) if title == expected => Ok(()),
            Some(title) => Err(differs(title.chars().take(SHOWN_MAX).collect())),
            None => Err(differs("none".to_owned())),
        }
    }

    /// Checks that a person reads this text on the page.
    pub(super) fn says(&self, text: &str) -> Result<(), ReplyError> {
        let says = self.text.contains(text);
        says.then_some(()).ok_or_else(|| ReplyError(format!("the page does not say: {text}")))
    }

    /// Checks that the quote of a symbol is there: the form that buys its shares.
    pub(super) fn quotes(&self, symbol: u32) -> Result<(), ReplyError> {
        let quoted = self.html.contains(&format!("\"s:{symbol}\""));
        quoted.then_some(()).ok_or_else(|| ReplyError(format!("no quote of s:{symbol}")))
    }

    /// Checks that an order of `quantity` shares was made.
    pub(super) fn confirms(
        &self,
        kind: &str,
        quantity: Option<u32>,
        symbol: Option<u32>,
    ) -> Result<(), ReplyError> {
        let wrong = || {
            let quantity = quantity.map_or("all".to_owned(), |quantity| quantity.to_string());
            let symbol = symbol.map_or(String::new(), |symbol| format!(" of s:{symbol}"));
            ReplyError(format!("no confirmation of an order to {kind} {quantity} shares{symbol}"))
        };
        let (_, order) = self.text.split_once(&format!(" to {kind} ")).ok_or_else(wrong)?;
        let (actual, rest) = order.split_once(" shares of ").ok_or_else(wrong)?;
        let (actual_symbol, rest) = rest.split_once(' ').ok_or_else(wrong)?;
        let actual: f64 = actual.parse().map_err(|_| wrong())?;
        let as_ordered = quantity.is_none_or(|quantity| actual == f64::from(quantity))
            && symbol.is_none_or(|symbol| actual_symbol == format!("s:{symbol}"))
            && rest.starts_with("has been submitted");
        as_ordered.then_some(()).ok_or_else(wrong)
    }

    /// The ids of the holdings that the page offers to sell.
    pub(super) fn holdings(&self) -> Vec<u64> {
        let after = self.html.split("holdingID=").skip(1);
        after.filter_map(leading_number).collect()
    }
}

fn leading_number(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|character: char| character.is_ascii_digit()).len();
    text[..digits].parse().ok()
}

/// Where the content of the first element with this name is, whatever the case of its tags.
fn element(html: &str, name: &str) -> Option<Range<usize>> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find(&format!("<{name}>"))? + name.len() + 2;
    let length = lower[start..].find(&format!("</{name}>"))?;
    Some(start..start + length)
}

/// The text without tags, each run of white space as one space.
fn visible_text(html: &str) -> String {
    let mut text = String::with_capacity(html.len() / 4);
    for piece in html.split('<') {
        // Before the first tag nothing is open.
        let shown = piece.split_once('>').map_or("", |(_, shown)| shown);
        for word in shown.replace("&nbsp;", " ").split_whitespace() {
            text.push(' ');
            text.push_str(word);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "<HTML><HEAD>\n<TITLE>An order</TITLE></HEAD><BODY><B>Order 7</B>\n to <B>buy\n 3.0</B> shares of\n \
        <B>s:5</B> has\n been submitted&nbsp;for processing</BODY></HTML>";

    fn message(result: Result<(), ReplyError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_title_is_compared_whole() {
        let page = Page::new(ORDER.as_bytes());
        assert_eq!(page.has_title("An order"), Ok(()));
        assert_eq!(message(page.has_title("Login")), "a page with the title An order instead of Login");
        let untitled = Page::new(b"oops");
        assert_eq!(message(untitled.has_title("Login")), "a page with the title none instead of Login");
    }

    #[test]
    fn an_order_is_confirmed_with_its_quantity_and_symbol() {
        let page = Page::new(ORDER.as_bytes());
        assert_eq!(page.confirms("buy", Some(3), Some(5)), Ok(()));
        assert_eq!(page.confirms("buy", None, None), Ok(()));
        for (kind, quantity, symbol) in
            [("sell", Some(3), Some(5)), ("buy", Some(4), Some(5)), ("buy", Some(3), Some(50))]
        {
            let message = message(page.confirms(kind, Some(quantity.unwrap()), symbol));
            assert!(message.starts_with(&format!("no confirmation of an order to {kind}")), "{message}");
        }
    }

    #[test]
    fn white_space_and_tags_do_not_part_words() {
        let page = Page::new(ORDER.as_bytes());
        assert_eq!(page.says("Order 7 to buy 3.0 shares of s:5 has been submitted for processing"), Ok(()));
        assert_eq!(message(page.says("Order 8")), "the page does not say: Order 8");
    }

    #[test]
    fn holdings_are_those_with_a_link_that_sells_them() {
        let page =
            Page::new(b"<a href=\"app?action=sell&holdingID=12\">sell</a><a href='?holdingID=345'>sell</a>");
        assert_eq!(page.holdings(), [12, 345]);
        assert!(Page::new(b"holdingID=").holdings().is_empty());
    }

    #[test]
    fn a_symbol_is_quoted_if_it_can_be_bought() {
        let page = Page::new(
            b"<a href=\"app?action=quotes&symbols=s:1\"></a><input name=\"symbol\" value=\"s:12\">",
        );
        assert_eq!(page.quotes(12), Ok(()));
        assert_eq!(message(page.quotes(1)), "no quote of s:1");
    }
}
