use std::path::PathBuf;

use klatch_record::{UrlChoice, Workload, WorkloadKind};

use super::*;

/// The URLs of these settings, with a first reply.
fn urls(settings: &[(&str, &str)], status: u16, body: &[u8]) -> Urls {
    let given: Vec<_> = [("url", "/a")].iter().chain(settings).copied().collect();
    let Workload::Rr(rr) = WorkloadKind::Rr.workload(&given).unwrap() else { unreachable!() };
    let mut urls = Urls::new(&rr, &RequestParts::default(), 1);
    let seen = Seen { status, length: body.len(), differs_at: Some(0), rest: body };
    let is_right = urls.expected.fault_of_body(&[], &seen).is_none();
    let url = &mut urls.all[0];
    (url.status, url.body, url.is_right) = (status, body.to_vec(), is_right);
    urls
}

/// What is wrong with a reply.
fn fault(urls: &Urls, status: u16, body: &[u8]) -> Option<String> {
    let first = &urls.all[0].body;
    let common = body.iter().zip(first).take_while(|(one, other)| one == other).count();
    let is_same = common == body.len() && common == first.len();
    let seen =
        Seen { status, length: body.len(), differs_at: (!is_same).then_some(common), rest: &body[common..] };
    urls.fault(0, &seen)
}

#[test]
fn without_an_expectation_replies_are_as_the_first() {
    let urls = urls(&[], 200, b"hello world");
    assert_eq!(fault(&urls, 200, b"hello world"), None);
    assert_eq!(
        fault(&urls, 200, b"hello earth").unwrap(),
        "GET /a: the body is not that of the first reply: expected \"world\" at byte 6, got \"earth\""
    );
    assert_eq!(
        fault(&urls, 200, b"hello").unwrap(),
        "GET /a: the body is not that of the first reply: expected \" world\" at byte 5, got its end, and 5 bytes instead of 11"
    );
    assert_eq!(
        fault(&urls, 500, b"\x1b[2J").unwrap(),
        "GET /a: expected status 200, got 500 with the body \"\\u001b[2J\""
    );
    let missing = self::urls(&[], 404, b"no");
    assert!(
        fault(&missing, 404, b"no").unwrap().contains("no status is expected by the setting expect_status")
    );
}

#[test]
fn only_what_is_expected_is_checked() {
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    for (setting, value, right, wrong, reason) in [
        ("expect_status", "404", (404, "b"), (200, "a"), "expected status 404, got 200 with the body \"a\""),
        ("expect_length", "3", (500, "abc"), (200, "ab"), "expected a body of 3 bytes, got 2"),
        (
            "expect_json",
            "/a/0=true",
            (200, r#"{"a":[true]}"#),
            (200, r#"{"a":[1]}"#),
            "expected /a/0=true, got 1",
        ),
        ("expect_json", "/a=x", (200, r#"{"a":"x"}"#), (200, "{}"), "expected /a=x, got nothing"),
        ("expect_json", "/a=x", (200, r#"{"a":"x"}"#), (200, "<a>"), "expected JSON, got \"<a>\""),
        ("expect_sha256", hello, (200, "hello"), (200, "hullo"), "got fbb8"),
    ] {
        // Whether the first reply was right or wrong.
        for first in [right, wrong] {
            let urls = urls(&[(setting, value)], first.0, first.1.as_bytes());
            assert_eq!(fault(&urls, right.0, right.1.as_bytes()), None, "{setting}");
            let fault = fault(&urls, wrong.0, wrong.1.as_bytes()).unwrap();
            let is_named = fault.contains(reason) || setting == "expect_sha256" && fault.contains(hello);
            assert!(is_named, "{setting}: {fault}");
        }
    }
}

#[test]
fn urls_are_chosen_by_the_seed_in_proportion_to_their_weights() {
    let choice = |weight, path: &str| UrlChoice { weight, method: None, path: path.to_owned() };
    let parts = RequestParts {
        urls: vec![choice(7, "/a"), choice(1, "/b"), choice(2, "/c")],
        ..RequestParts::default()
    };
    let rr = RrWorkload { urls: Some(PathBuf::new().display().to_string()), ..RrWorkload::default() };
    let of = |seed| Urls::new(&rr, &parts, seed);
    let first =
        |seed, connection| (0..12).map(|sequence| of(seed).choose(connection, sequence)).collect::<Vec<_>>();
    // As another program computed them by the definition in docs/reference/protocol.md.
    assert_eq!(first(1, 1), [0, 0, 1, 0, 2, 0, 0, 0, 0, 2, 2, 2]);
    assert_ne!(first(1, 1), first(2, 1));
    assert_ne!(first(1, 1), first(1, 2));
    let mut counts = [0_u32; 3];
    (0..10_000).for_each(|sequence| counts[of(1).choose(1, sequence)] += 1);
    for (count, share) in counts.into_iter().zip([0.7, 0.1, 0.2]) {
        // Five standard errors.
        let error = 5.0 * f64::sqrt(10_000.0 * share * (1.0 - share));
        assert!((f64::from(count) - 10_000.0 * share).abs() < error, "{counts:?}");
    }
}
