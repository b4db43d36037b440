//! Tests of targets, cookies and forms, right and wrong ones.

use super::*;

fn file() -> FileId {
    FileId::new(12, 1, 3).unwrap()
}

fn split(target: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut parts = target.splitn(2, |&byte| byte == b'?');
    (parts.next().unwrap(), parts.next())
}

#[test]
fn targets_parse_back() {
    let options = TableOptions { users: 10_000, now_s: 1_700_000_000, expiry_s: [-86_400, 86_400] };
    for (target, text) in [
        (Target::File(file()), "/file_set/dir00012/class1_3"),
        (Target::Page(file()), "/dynamic?/file_set/dir00012/class1_3"),
        (Target::CgiPage(file()), "/cgi?/file_set/dir00012/class1_3"),
        (Target::Form, "/dynamic"),
        (Target::Fetch, "/dynamic?command/Fetch"),
        (
            Target::Reset(options),
            "/dynamic?command/Reset&maxload=10000&pttime=1700000000&maxthread=1&exp=-86400,86400&urlroot=/file_set/",
        ),
    ] {
        let mut written = Vec::new();
        target.write(&mut written);
        assert_eq!(written, text.as_bytes());
        let (path, query) = split(text.as_bytes());
        assert_eq!(Target::parse(path, query), Some(target), "{text}");
    }
}

#[test]
fn other_targets_are_none() {
    for text in [
        "/",
        "/dynamic?",
        "/dynamic?/file_set/dir00012/class1_9",
        "/dynamic?command/",
        "/dynamic?command/Fetch&",
        "/cgi",
        "/cgi?command/Fetch",
        "/file_set/dir00012/class1_3?",
        "/file_set/dir00012/",
        "/dynamic?command/Reset",
        "/dynamic?command/Reset&maxload=0&pttime=1700000000&maxthread=1&exp=0,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1000&pttime=1700000000&maxthread=101&exp=0,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1&pttime=1700000000&maxthread=1&exp=0,0&urlroot=/",
        "/dynamic?command/Reset&maxload=1&pttime=1&maxthread=1&exp=-2,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1&pttime=1&maxthread=1&exp=--2,0&urlroot=/file_set/",
        "/dynamic?command/Reset&maxload=1&pttime=99999999999&maxthread=1&exp=0,0&urlroot=/file_set/",
    ] {
        let (path, query) = split(text.as_bytes());
        assert_eq!(Target::parse(path, query), None, "{text}");
    }
}

#[test]
fn cookies_parse_back_between_others() {
    let cookie = UserCookie { user: 7, last_ad: 359 };
    let mut written = Vec::new();
    cookie.write(&mut written);
    assert_eq!(written, b"my_cookie=user_id=10007&last_ad=359");
    assert_eq!(UserCookie::parse(&written), Some(Ok(cookie)));
    let between = [b"a=b; ", &written[..], b" ; c=d"].concat();
    assert_eq!(UserCookie::parse(&between), Some(Ok(cookie)));
    assert_eq!(UserCookie::parse(b"a=b; not_my_cookie=1"), None);
    for wrong in
        ["", "user_id=9999&last_ad=1", "user_id=10000&last_ad=360", "user_id=10000", "user_id=1x&last_ad=1"]
    {
        let header = format!("my_cookie={wrong}");
        assert_eq!(UserCookie::parse(header.as_bytes()), Some(Err(MalformedCookie)), "{wrong}");
    }
}

#[test]
fn forms_parse_back_in_any_order() {
    let form = PostForm { file: file(), client: 42 };
    let mut written = Vec::new();
    form.write(&mut written);
    assert_eq!(written, b"urlroot=/file_set/&dir=12&class=1&num=3&client=42");
    assert_eq!(PostForm::parse(&written), Some(form));
    assert_eq!(PostForm::parse(b"client=42&num=3&class=1&dir=00012&urlroot=/file_set/"), Some(form));
    for wrong in [
        "",
        "urlroot=/file_set/&dir=12&class=1&num=3",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=42&",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=42&client=42",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=42&x=y",
        "urlroot=/file_set/&dir=100000&class=1&num=3&client=42",
        "urlroot=/file_set/&dir=12&class=257&num=3&client=42",
        "urlroot=/file_set/&dir=12&class=4&num=3&client=42",
        "urlroot=/file_set/&dir=12&class=1&num=9&client=42",
        "urlroot=/file_set/&dir=12&class=1&num=3&client=4294967296",
        "urlroot=/&dir=12&class=1&num=3&client=42",
        "urlroot=/file_set/&dir=&class=1&num=3&client=42",
    ] {
        assert_eq!(PostForm::parse(wrong.as_bytes()), None, "{wrong}");
    }
}
