//! Tests of the check of bodies, with planted faults.

use super::*;
use crate::web::content::DifferenceKind;

fn step(operation: Operation) -> Step {
    let file = FileId::new(3, 1, 0).unwrap();
    Step { operation, file, single: false, first: false, last: false }
}

/// The body that a server sends, with the file's tags naming `ad`.
fn body(content: &Content, step: &Step, ad: Option<u16>) -> Vec<u8> {
    let stored = content.file(step.file);
    let file = ad.map_or(stored, |ad| stored.rotated(ad));
    let mut bytes = vec![0; file.size_bytes()];
    file.fill(0, &mut bytes);
    let (script, query) = match step.operation {
        Operation::Static => return bytes,
        Operation::Post { .. } => (DYNAMIC, None),
        Operation::Cgi => (CGI, Some(step.file.path())),
        _ => (DYNAMIC, Some(step.file.path())),
    };
    let mut page = Vec::new();
    write_frame([10, 0, 0, 1].into(), script, query.as_ref().map_or(&[], |query| &query[..]), &mut page);
    [&page[..], &bytes, FRAME_END].concat()
}

fn check(content: &Content, step: &Step, ad: Option<u16>, body: &[u8], size: usize) -> Result<(), BodyError> {
    let mut check = BodyCheck::new(step, ad);
    body.chunks(size).try_for_each(|piece| check.feed(content, piece))?;
    check.finish()
}

const OPERATIONS: [Operation; 5] = [
    Operation::Static,
    Operation::Dynamic,
    Operation::Ad { user: 1, last_ad: 2 },
    Operation::Post { client: 1, sequence: 0 },
    Operation::Cgi,
];

#[test]
fn right_bodies_pass_in_pieces_of_any_size() {
    let content = Content::new(7);
    for operation in OPERATIONS {
        let step = step(operation);
        let ad = matches!(operation, Operation::Ad { .. }).then_some(300);
        let body = body(&content, &step, ad);
        for size in [1, 2, 7, 100, 1000, body.len()] {
            assert_eq!(check(&content, &step, ad, &body, size), Ok(()), "{operation:?} in pieces of {size}");
        }
    }
}

#[test]
fn every_altered_byte_is_found() {
    let content = Content::new(7);
    let right = body(&content, &step(Operation::Dynamic), None);
    let start = right.windows(6).position(|window| window == b"<pre>\n").unwrap() + 6;
    let software = FRAME[0].len()..FRAME[0].len() + "klatch".len();
    let address = software.end + FRAME[1].len()..software.end + FRAME[1].len() + "10.0.0.1".len();
    for at in 0..right.len() {
        let mut wrong = right.clone();
        wrong[at] = b'~';
        let mut check = BodyCheck::new(&step(Operation::Dynamic), None);
        match check.feed(&content, &wrong) {
            Ok(()) => {
                assert!(software.contains(&at) || address.contains(&at), "{at} is not the server's own")
            }
            Err(BodyError::Frame { .. }) => assert!(at < start, "{at}"),
            Err(BodyError::Content(difference)) => assert_eq!(difference.offset, at - start),
            Err(BodyError::FrameEnd) => assert!(at >= start + 1024, "{at}"),
            Err(BodyError::Short { .. }) => panic!("{at}"),
        }
    }
}

#[test]
fn each_missing_byte_and_each_surplus_one_is_found() {
    let content = Content::new(7);
    for operation in OPERATIONS {
        let step = step(operation);
        let body = body(&content, &step, None);
        for length in 0..body.len() {
            let found = check(&content, &step, None, &body[..length], 999);
            assert!(matches!(found, Err(BodyError::Short { missing }) if missing <= body.len() - length));
        }
        let surplus = [&body[..], b"\n"].concat();
        let error = check(&content, &step, None, &surplus, 999).unwrap_err();
        let named = match error {
            BodyError::Content(difference) => difference.kind == DifferenceKind::Surplus,
            error => error == BodyError::FrameEnd,
        };
        assert!(named, "{error}");
    }
}

#[test]
fn pages_of_other_requests_are_found() {
    let content = Content::new(7);
    let expected = step(Operation::Dynamic);
    let of_cgi = body(&content, &step(Operation::Cgi), None);
    let error = check(&content, &expected, None, &of_cgi, 50).unwrap_err();
    assert_eq!(error, BodyError::Frame { part: "<p>SCRIPT_NAME =" });
    let of_post = body(&content, &step(OPERATIONS[3]), None);
    let error = check(&content, &expected, None, &of_post, 50).unwrap_err();
    assert_eq!(error, BodyError::Frame { part: "<p>QUERY_STRING =" });
    let as_it_is = body(&content, &step(Operation::Static), None);
    assert!(matches!(check(&content, &expected, None, &as_it_is, 50), Err(BodyError::Frame { .. })));
    let long = [FRAME[0].as_bytes(), &[b'x'; FRAME_BYTES_MAX]].concat();
    assert!(
        matches!(check(&content, &expected, None, &long, 50), Err(BodyError::Frame { .. })),
        "no frame is endless"
    );
}

#[test]
fn wrong_and_stale_ads_are_found() {
    let content = Content::new(7);
    let expected = step(OPERATIONS[2]);
    for (sent, kind) in [(None, DifferenceKind::StaleTag), (Some(37), DifferenceKind::Tag)] {
        let body = body(&content, &expected, sent);
        let Err(BodyError::Content(difference)) = check(&content, &expected, Some(300), &body, 400) else {
            panic!("{sent:?}")
        };
        assert_eq!(difference.kind, kind);
    }
}
