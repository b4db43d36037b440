use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::SampleSite;
use super::*;
use crate::altered::{altered, changes};
use crate::web::parse_whole_response;

fn trader() -> DayTrader {
    let root = "/daytrader".to_owned();
    DayTrader::new(DayTraderOptions {
        number: 1,
        root,
        mix: Mix::Equal,
        seed: 3,
        quotes: 50,
        users: 5..9,
        run: 77,
    })
}

/// One request and its reply.
fn exchange(trader: &mut DayTrader, site: &mut SampleSite) -> Progress {
    let mut request = Vec::new();
    trader.write_request("example:9080", &mut request);
    let reply = site.reply(std::str::from_utf8(&request).unwrap());
    let reply = parse_whole_response(reply.as_bytes()).unwrap().unwrap();
    trader.on_reply(&mut (), reply.head.status, reply.head.set_cookie(DayTrader::COOKIE), &reply.body)
}

/// Makes operations. Returns how many of each kind were complete, and what was wrong.
fn operations(site: &mut SampleSite, count: usize) -> (BTreeMap<OperationKind, usize>, Vec<String>) {
    let mut trader = trader();
    let (mut complete, mut wrong) = (BTreeMap::new(), Vec::new());
    trader.join();
    assert_eq!(exchange(&mut trader, site), Progress::Complete);
    for _ in 0..count {
        trader.begin();
        loop {
            match exchange(&mut trader, site) {
                Progress::Next => {}
                Progress::Complete => break *complete.entry(trader.operation()).or_default() += 1,
                Progress::Failed(error) => break wrong.push(format!("{}: {error}", trader.request_name())),
            }
        }
    }
    (complete, wrong)
}

#[test]
fn every_operation_is_made_and_buys_make_up_for_sells() {
    let (complete, wrong) = operations(&mut SampleSite::new(""), 1000);
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(complete.len(), OperationKind::ALL.len());
    assert_eq!(complete.values().sum::<usize>(), 1000);
    let count = |kind| complete[&kind] as i64;
    // About 100 of each in the deck; the sessions of users who hold nothing are short.
    assert!((count(OperationKind::Buy) + count(OperationKind::Sell) - 200).abs() < 30, "{complete:?}");
    assert!(count(OperationKind::Sell) > 20, "{complete:?}");
}

#[test]
fn requests_are_forms_of_the_servlet_in_the_session() {
    let (mut trader, mut site) = (trader(), SampleSite::new(""));
    let sent = |trader: &DayTrader| {
        let mut request = Vec::new();
        trader.write_request("example:9080", &mut request);
        String::from_utf8(request).unwrap()
    };
    trader.join();
    assert_eq!(sent(&trader), "GET /daytrader/app HTTP/1.1\r\nHost: example:9080\r\n\r\n");
    exchange(&mut trader, &mut site);
    trader.begin();
    let login = sent(&trader);
    assert!(login.starts_with("POST /daytrader/app HTTP/1.1\r\n"), "{login}");
    assert!(login.ends_with("\r\n\r\naction=login&uid=uid:5&passwd=xxx"), "{login}");
    exchange(&mut trader, &mut site);
    trader.begin();
    assert!(sent(&trader).contains("\r\nCookie: JSESSIONID=0\r\n"));
}

#[test]
fn pages_without_their_words_are_found() {
    for (plant, message) in [
        ("word", "buy: no confirmation of an order to buy"),
        ("session", "instead of "),
        ("quote", "quotes: no quote of s:"),
    ] {
        let (_, wrong) = operations(&mut SampleSite::new(plant), 100);
        assert!(wrong.iter().any(|one| one.contains(message)), "{plant}: {wrong:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_change_of_a_page_is_judged(number in 1..40_u32, changes in changes()) {
        let (mut trader, mut site) = (trader(), SampleSite::new(""));
        let mut progress = Progress::Complete;
        for _ in 0..number {
            if progress == Progress::Complete {
                trader.begin();
            }
            progress = exchange(&mut trader, &mut site);
        }
        if progress == Progress::Complete {
            trader.begin();
        }
        let mut request = Vec::new();
        trader.write_request("example:9080", &mut request);
        let reply = altered(site.reply(std::str::from_utf8(&request).unwrap()).as_bytes(), &changes);
        if let Ok(Some(reply)) = parse_whole_response(&reply) {
            let cookie = reply.head.set_cookie(DayTrader::COOKIE);
            if let Progress::Failed(error) = trader.on_reply(&mut (), reply.head.status, cookie, &reply.body) {
                prop_assert!(error.to_string().contains(' '));
            }
        }
        trader.on_lost();
        trader.begin();
        trader.write_request("example:9080", &mut Vec::new());
    }
}
