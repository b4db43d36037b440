use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::*;

const PASSWORD: &str = "pencil";

fn messages(all: &[(u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    all.iter().for_each(|(kind, body)| message(&mut bytes, *kind, |out| out.extend_from_slice(body)));
    bytes
}

/// A request for authentication.
fn authentication(code: u32, data: &[u8]) -> Vec<u8> {
    messages(&[(b'R', &[&code.to_be_bytes(), data].concat())])
}

fn connection(password: Option<&str>) -> PostgresEcho {
    let login = Login { user: Some("alice".into()), password: password.map(str::to_owned) };
    PostgresEcho::new(&Some(Arc::new(login)))
}

/// What a connection makes of a message before it is open, and the message that it answers.
fn greeted(connection: &mut PostgresEcho, input: &[u8]) -> (String, Option<(u8, Vec<u8>)>) {
    let mut out = Vec::new();
    for cut in 0..input.len() {
        assert_eq!(connection.parse_greeting(&input[..cut], &mut out), None, "{cut} bytes");
    }
    let (taken, greeting) = connection.parse_greeting(input, &mut out).unwrap();
    assert_eq!(taken, input.len());
    let text = match greeting {
        Greeting::Continue => "continue".to_owned(),
        Greeting::Open => "open".to_owned(),
        Greeting::Refused(line) => String::from_utf8_lossy(line).into_owned(),
    };
    (text, next_message(&out).map(|(kind, body)| (kind, body.to_vec())))
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut pad = [with; 64];
        pad.iter_mut().zip(key).for_each(|(pad, key)| *pad ^= key);
        pad
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}

/// A server of SCRAM-SHA-256 as in RFC 5802, which knows a password.
struct Scram {
    salted: [u8; 32],
    client_first: String,
    server_first: String,
}

impl Scram {
    fn new(password: &str) -> Scram {
        let salt = b"salt";
        let mut block = hmac(password.as_bytes(), &[&salt[..], &[0, 0, 0, 1]].concat());
        let mut salted = block;
        for _ in 1..4096 {
            block = hmac(password.as_bytes(), &block);
            salted.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
        }
        Scram { salted, client_first: String::new(), server_first: String::new() }
    }

    /// The challenge after the first message of a client, whose head is the mechanism and a length.
    fn challenge(&mut self, first: &[u8]) -> Vec<u8> {
        let text = first.strip_prefix(b"SCRAM-SHA-256\0").unwrap();
        let bare = std::str::from_utf8(&text[4..]).unwrap().strip_prefix("n,,").unwrap();
        assert_eq!(i32::from_be_bytes(text[..4].try_into().unwrap()) as usize, text.len() - 4);
        let nonce = bare.split_once(",r=").unwrap().1;
        self.client_first = bare.to_owned();
        self.server_first = format!("r={nonce}server,s={},i=4096", STANDARD.encode("salt"));
        authentication(SASL_CONTINUE, self.server_first.as_bytes())
    }

    /// Whether the last message of a client proves the password, and the server's own proof.
    fn verify(&self, last: &[u8]) -> (bool, Vec<u8>) {
        let last = std::str::from_utf8(last).unwrap();
        let (without_proof, proof) = last.split_once(",p=").unwrap();
        let text = [&self.client_first, &self.server_first, without_proof].join(",");
        let client_key = hmac(&self.salted, b"Client Key");
        let stored_key: [u8; 32] = Sha256::digest(client_key).into();
        let signature = hmac(&stored_key, text.as_bytes());
        let right: Vec<u8> = client_key.iter().zip(signature).map(|(key, byte)| key ^ byte).collect();
        let own = hmac(&hmac(&self.salted, b"Server Key"), text.as_bytes());
        let own = authentication(SASL_FINAL, format!("v={}", STANDARD.encode(own)).as_bytes());
        (STANDARD.decode(proof).unwrap() == right, own)
    }
}

#[test]
fn a_connection_begins_with_its_user() {
    let hello = |connection: PostgresEcho| {
        let mut out = Vec::new();
        connection.write_hello(&mut out);
        assert_eq!(u32::from_be_bytes(out[..4].try_into().unwrap()) as usize, out.len());
        out[8..].to_vec()
    };
    assert_eq!(hello(PostgresEcho::new(&None)), b"user\0postgres\0database\0postgres\0\0");
    assert_eq!(hello(connection(None)), b"user\0alice\0database\0postgres\0\0");
}

#[test]
fn a_connection_that_is_let_in_prepares_the_statement() {
    let mut connection = PostgresEcho::new(&None);
    let statement = b"echo\0SELECT $1\0\0\x01\0\0\0\x19".to_vec();
    assert!(!connection.is_open());
    assert_eq!(greeted(&mut connection, &messages(&[(b'N', b"SNOTICE\0\0")])), ("continue".to_owned(), None));
    let answer = greeted(&mut connection, &authentication(OK, b""));
    assert_eq!(answer, ("open".to_owned(), Some((b'P', statement))));
    assert!(connection.is_open());
}

#[test]
fn a_password_is_proved_in_both_directions() {
    let (mut client, mut server) = (connection(Some(PASSWORD)), Scram::new(PASSWORD));
    let offer = authentication(SASL, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0");
    let (text, first) = greeted(&mut client, &offer);
    assert_eq!(text, "continue");
    let (_, last) = greeted(&mut client, &server.challenge(&first.unwrap().1));
    let (is_right, proof) = server.verify(&last.unwrap().1);
    assert!(is_right);
    assert_eq!(greeted(&mut client, &proof), ("continue".to_owned(), None));
    assert_eq!(greeted(&mut client, &authentication(OK, b"")).0, "open");
}

#[test]
fn a_server_that_does_not_know_the_password_is_refused() {
    let until_last = |password: &str| {
        let (mut client, mut server) = (connection(Some(PASSWORD)), Scram::new(password));
        let (_, first) = greeted(&mut client, &authentication(SASL, b"SCRAM-SHA-256\0\0"));
        let (_, last) = greeted(&mut client, &server.challenge(&first.unwrap().1));
        let (is_right, proof) = server.verify(&last.unwrap().1);
        assert_eq!(is_right, password == PASSWORD);
        (client, proof)
    };
    let (mut client, proof) = until_last("other");
    assert!(greeted(&mut client, &proof).0.ends_with("does not prove that it knows the password"));
    let (mut client, _) = until_last(PASSWORD);
    let skipped = greeted(&mut client, &authentication(OK, b"")).0;
    assert!(skipped.ends_with("has not proved that it knows the password"), "{skipped}");
    assert!(!client.is_open());
}

#[test]
fn other_authentications_and_broken_ones_are_refused() {
    let refusal = |password: Option<&str>, input: &[u8]| greeted(&mut connection(password), input).0;
    let offer = authentication(SASL, b"SCRAM-SHA-256\0\0");
    assert_eq!(refusal(None, &offer), "the server asks for a password");
    let plus = authentication(SASL, b"SCRAM-SHA-256-PLUS\0\0");
    assert_eq!(refusal(Some(PASSWORD), &plus), "the server does not offer SCRAM-SHA-256");
    for (code, data) in [(CLEAR_TEXT, &b""[..]), (MD5, b"salt")] {
        assert!(refusal(Some(PASSWORD), &authentication(code, data)).contains("in clear text or by MD5"));
    }
    assert!(refusal(Some(PASSWORD), &authentication(7, b"")).contains("another authentication"));
    assert!(refusal(Some(PASSWORD), &messages(&[(b'R', b"\0\0")])).contains("malformed"));
    let mut client = connection(Some(PASSWORD));
    greeted(&mut client, &offer);
    assert!(greeted(&mut client, &authentication(SASL_CONTINUE, b"r=x,s=eA==,i=1")).0.contains("malformed"));
    let mut client = connection(Some(PASSWORD));
    greeted(&mut client, &offer);
    assert!(greeted(&mut client, &offer).0.contains("another authentication"), "it asks again");
    let error: &[u8] = b"SFATAL\0C28P01\0Mpassword authentication failed for user \"alice\"\0\0";
    assert_eq!(
        refusal(Some(PASSWORD), &messages(&[(b'E', error)])),
        "password authentication failed for user \"alice\""
    );
}

#[test]
fn a_server_of_another_protocol_is_quoted_at_once() {
    let http = b"HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n";
    let refused = Greeting::Refused(b"HTTP/1.1 400 Bad Request");
    let greeting = PostgresEcho::new(&None).parse_greeting(http, &mut Vec::new());
    assert_eq!(greeting, Some((http.len(), refused)));
    assert_eq!(
        PostgresEcho::parse_reply(5, http),
        Some((http.len(), Reply::Refused(b"HTTP/1.1 400 Bad Request")))
    );
}

#[test]
fn a_request_binds_executes_and_syncs() {
    let mut out = Vec::new();
    PostgresEcho::write_request(&mut out, 5, |out| out.extend_from_slice(b"hello"));
    let (kind, body) = next_message(&out).unwrap();
    assert_eq!((kind, body), (b'B', &b"\0echo\0\0\0\0\x01\0\0\0\x05hello\0\0"[..]));
    let rest = &out[HEAD + body.len()..];
    assert_eq!(rest, messages(&[(b'E', &[0; 5]), (b'S', &[])]));
}

#[test]
fn a_reply_is_the_column_of_the_row_and_what_came_before_is_skipped() {
    let row: &[u8] = b"\0\x01\0\0\0\x05hello";
    let started = [(b'S', &b"a\0b\0"[..]), (b'K', &[7; 8]), (b'Z', b"I")];
    let answered = [(b'1', &[][..]), (b'2', &[]), (b'D', row), (b'C', b"SELECT 1\0"), (b'Z', b"I")];
    let first = messages(&[&started[..], &answered[..]].concat());
    for cut in 0..first.len() {
        assert_eq!(PostgresEcho::parse_reply(5, &first[..cut]), None, "{cut} bytes");
    }
    let two = [&first[..], b"next"].concat();
    assert_eq!(PostgresEcho::parse_reply(5, &two), Some((first.len(), Reply::Payload(b"hello"))));
}

#[test]
fn an_error_is_a_refusal() {
    let error: &[u8] = b"SFATAL\0C57P03\0Mthe database system is shutting down\0\0";
    let bytes = messages(&[(b'E', error)]);
    let text = Reply::Refused(b"the database system is shutting down");
    assert_eq!(PostgresEcho::parse_reply(5, &bytes), Some((bytes.len(), text)));
}
