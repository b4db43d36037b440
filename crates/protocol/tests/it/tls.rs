//! Both sides of a connection in memory: any chunking, ends, and what the peer may not do.

use std::path::PathBuf;

use klatch_protocol::tls::{
    AlertDescription, CertificateError, ClientTls, Error, ServerTls, Session, TlsPipe,
};

/// A certificate that is its own authority, and its key.
struct Identity {
    folder: tempfile::TempDir,
}

impl Identity {
    fn new() -> Identity {
        let folder = tempfile::tempdir().unwrap();
        let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        std::fs::write(folder.path().join("certificate.pem"), signed.cert.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), signed.signing_key.serialize_pem()).unwrap();
        Identity { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn server(&self) -> TlsPipe {
        TlsPipe::server(&ServerTls::from_files(&self.file("certificate.pem"), &self.file("key.pem")).unwrap())
    }

    fn client(&self, host: &str) -> TlsPipe {
        TlsPipe::client(&ClientTls::from_file(&self.file("certificate.pem"), host).unwrap())
    }

    /// Both sides of an open connection.
    fn connected(&self) -> [TlsPipe; 2] {
        let (mut client, mut server) = (self.client("127.0.0.1"), self.server());
        exchange(&mut client, &mut server, 1_000).unwrap();
        [client, server]
    }
}

/// Passes raw bytes between both sides, at most `chunk` at a time, until neither has any. Returns what each received.
fn exchange(client: &mut TlsPipe, server: &mut TlsPipe, chunk: usize) -> Result<[Vec<u8>; 2], Error> {
    let mut received = [Vec::new(), Vec::new()];
    while client.has_output() || server.has_output() {
        let mut raw = Vec::new();
        client.send(&[], &mut raw);
        raw.chunks(chunk).try_for_each(|bytes| server.receive(bytes, &mut received[1]))?;
        raw.clear();
        server.send(&[], &mut raw);
        raw.chunks(chunk).try_for_each(|bytes| client.receive(bytes, &mut received[0]))?;
    }
    Ok(received)
}

#[test]
fn both_sides_talk_in_any_chunking() {
    let identity = Identity::new();
    for chunk in [1, 2, 7, 100, 100_000] {
        let (mut client, mut server) = (identity.client("127.0.0.1"), identity.server());
        assert!(!client.is_open() && client.session().is_none());
        exchange(&mut client, &mut server, chunk).unwrap();
        assert!(client.is_open() && server.is_open());
        let session = Session { version: "TLSv1.3".to_owned(), cipher: "TLS_AES_128_GCM_SHA256".to_owned() };
        assert_eq!((client.session().as_ref(), server.session().as_ref()), (Some(&session), Some(&session)));
        // More than a record holds.
        let (question, answer) = (vec![b'?'; 50_000], b"yes".to_vec());
        client.queue(&question);
        server.queue(&answer);
        assert_eq!(exchange(&mut client, &mut server, chunk).unwrap(), [answer, question]);
    }
}

#[test]
fn a_queue_of_lines_is_one_record_and_lines_sent_apart_are_several() {
    let [_, mut server] = Identity::new().connected();
    let (mut together, mut apart) = (Vec::new(), Vec::new());
    server.send(b"one\r\ntwo\r\n", &mut together);
    server.send(b"one\r\n", &mut apart);
    server.send(b"two\r\n", &mut apart);
    // Head, type and tag of a record.
    let overhead = 5 + 1 + 16;
    assert_eq!((together.len(), apart.len()), (10 + overhead, 10 + 2 * overhead));
}

#[test]
fn an_end_is_announced_and_nothing_follows_it() {
    let [mut client, mut server] = Identity::new().connected();
    client.queue(b"bye");
    client.close();
    assert_eq!(exchange(&mut client, &mut server, 3).unwrap(), [Vec::new(), b"bye".to_vec()]);
    assert!(server.peer_closed() && !client.peer_closed());
}

#[test]
fn a_session_is_resumed_only_if_both_sides_are_asked_to() {
    let identity = Identity::new();
    let with_key =
        ServerTls::from_files(&identity.file("certificate.pem"), &identity.file("key.pem")).unwrap();
    let plain = ClientTls::from_file(&identity.file("certificate.pem"), "127.0.0.1").unwrap();
    let (with_tickets, resuming) =
        (with_key.clone().with_tickets().unwrap(), plain.clone().with_resumption());
    for (server, client, resumed) in [
        (&with_key, &plain, false),
        (&with_key, &resuming, false),
        (&with_tickets, &plain, false),
        (&with_tickets, &resuming, true),
    ] {
        for expected in [false, resumed, resumed] {
            let (mut client, mut server) = (TlsPipe::client(client), TlsPipe::server(server));
            exchange(&mut client, &mut server, 1_000).unwrap();
            assert_eq!((client.is_resumed(), server.is_resumed()), (expected, expected));
            server.queue(b"hello");
            assert_eq!(exchange(&mut client, &mut server, 1_000).unwrap()[0], b"hello");
        }
    }
}

#[test]
fn an_altered_record_is_an_error_and_only_its_alert_is_sent() {
    let [mut client, mut server] = Identity::new().connected();
    let (mut raw, mut plain) = (Vec::new(), Vec::new());
    client.send(b"hello", &mut raw);
    *raw.last_mut().unwrap() ^= 1;
    assert_eq!(server.receive(&raw, &mut plain), Err(Error::DecryptError));
    server.queue(b"not sent");
    server.close();
    assert_eq!(
        exchange(&mut client, &mut server, 1_000),
        Err(Error::AlertReceived(AlertDescription::BadRecordMac))
    );
    assert!(plain.is_empty());
}

#[test]
fn a_certificate_for_another_name_or_of_another_authority_is_refused() {
    let (identity, other) = (Identity::new(), Identity::new());
    let refusal = |mut client: TlsPipe| exchange(&mut client, &mut identity.server(), 1_000).unwrap_err();
    let of_name = refusal(identity.client("127.0.0.2"));
    assert!(
        matches!(of_name, Error::InvalidCertificate(CertificateError::NotValidForNameContext { .. })),
        "{of_name:?}"
    );
    let of_authority = refusal(other.client("127.0.0.1"));
    assert!(matches!(of_authority, Error::InvalidCertificate(_)), "{of_authority:?}");
}

#[test]
fn what_is_no_tls_is_an_error() {
    let (mut server, mut plain) = (Identity::new().server(), Vec::new());
    assert!(server.receive(b"NICK ann\r\nUSER ann 0 * :ann\r\n", &mut plain).is_err());
    assert!(plain.is_empty());
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let identity = Identity::new();
    let (certificate, key) = (identity.file("certificate.pem"), identity.file("key.pem"));
    let no_key = ServerTls::from_files(&certificate, &certificate).unwrap_err().to_string();
    assert!(no_key.starts_with("cannot read a key from ") && no_key.contains("certificate.pem"), "{no_key}");
    let no_certificate = ClientTls::from_file(&key, "127.0.0.1").unwrap_err().to_string();
    assert_eq!(no_certificate, format!("{} has no certificate", key.display()));
    let other = Identity::new();
    let pair = ServerTls::from_files(&certificate, &other.file("key.pem")).unwrap_err().to_string();
    assert!(pair.starts_with("cannot use the certificate "), "{pair}");
    let host = ClientTls::from_file(&certificate, "not a name").unwrap_err().to_string();
    assert_eq!(host, "a certificate cannot name the host not a name");
}
