//! Chat over TLS, and over WebSocket within TLS, on real sockets of every model.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use klatch_protocol::tls::{ClientTls, TlsPipe};
use klatch_server::{Model, ServeOptions, TlsFiles, serve};

use super::every_server;
use super::running::Running;

/// A test that waits longer than this for bytes has failed.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Writes a certificate for 127.0.0.1 that has signed itself, and its key, into `folder`.
fn write_certificate(folder: &Path) {
    let signed = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(folder.join("certificate.pem"), signed.cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signed.signing_key.serialize_pem()).unwrap();
}

fn with_tls(options: ServeOptions, folder: &Path) -> ServeOptions {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    ServeOptions { tls: Some(TlsFiles { certificate, key, tickets: false, in_kernel: false }), ..options }
}

struct Client {
    stream: TcpStream,
    pipe: TlsPipe,
    plain: Vec<u8>,
}

impl Client {
    fn connect(server: &Running, folder: &Path) -> Client {
        let tls = ClientTls::from_file(&folder.join("certificate.pem"), "127.0.0.1").unwrap();
        let stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream, pipe: TlsPipe::client(&tls), plain: Vec::new() }
    }

    fn user(server: &Running, folder: &Path, nick: &str) -> Client {
        let mut client = Client::connect(server, folder);
        client.say(&format!("NICK {nick}\r\nUSER {nick} 0 * :{nick}\r\nJOIN #a"));
        client.read_until(" 366 ");
        client
    }

    fn say(&mut self, line: &str) {
        let mut raw = Vec::new();
        self.pipe.send(format!("{line}\r\n").as_bytes(), &mut raw);
        self.stream.write_all(&raw).unwrap();
    }

    /// Returns false at the end of the connection.
    fn read_some(&mut self) -> bool {
        let (mut buffer, mut raw) = ([0; 4096], Vec::new());
        let bytes = match self.stream.read(&mut buffer) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
            Err(error) => panic!("nothing came: {error}"),
        };
        self.pipe.receive(&buffer[..bytes], &mut self.plain).unwrap();
        self.pipe.send(&[], &mut raw);
        self.stream.write_all(&raw).unwrap();
        bytes > 0
    }

    fn read_until(&mut self, part: &str) {
        while !String::from_utf8_lossy(&self.plain).contains(part) {
            assert!(self.read_some(), "closed before {part} came");
        }
        self.plain.clear();
    }
}

#[test]
fn users_talk_and_the_end_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    write_certificate(folder.path());
    for options in every_server() {
        let server = Running::start(with_tls(options, folder.path()));
        let mut ann = Client::user(&server, folder.path(), "ann");
        let mut bob = Client::user(&server, folder.path(), "bob");
        ann.read_until("JOIN #a\r\n");
        let session = ann.pipe.session().unwrap();
        assert_eq!(
            (session.version.as_str(), session.cipher.as_str()),
            ("TLSv1.3", "TLS_AES_128_GCM_SHA256")
        );
        for number in 0..200 {
            ann.say(&format!("PRIVMSG #a :{number}"));
        }
        bob.read_until(":ann!ann@127.0.0.1 PRIVMSG #a :199\r\n");
        bob.say("QUIT :bye");
        while bob.read_some() {}
        assert!(bob.plain.ends_with(b"ERROR :Closing link: (Quit: bye)\r\n"));
        assert!(bob.pipe.peer_closed(), "without an alert, a client cannot know that nothing is missing");
        ann.read_until("QUIT :Quit: bye\r\n");
        server.stop();
    }
}

#[test]
fn what_is_not_tls_ends_its_connection_alone() {
    let folder = tempfile::tempdir().unwrap();
    write_certificate(folder.path());
    for websocket in [false, true] {
        for options in every_server() {
            let server = Running::start(ServeOptions { websocket, ..with_tls(options, folder.path()) });
            let mut plain = TcpStream::connect(server.address).unwrap();
            plain.set_read_timeout(Some(TIMEOUT)).unwrap();
            plain.write_all(b"NICK ann\r\nUSER ann 0 * :ann\r\n").unwrap();
            let mut answer = Vec::new();
            // A fatal alert, or a reset if the server was faster.
            let _ = plain.read_to_end(&mut answer);
            assert!(!answer.windows(3).any(|bytes| bytes == b"001"), "{answer:?}");
            if !websocket {
                // A record that is altered after the handshake.
                let mut bad = Client::user(&server, folder.path(), "bad");
                let mut raw = Vec::new();
                bad.pipe.send(b"PRIVMSG #a :x\r\n", &mut raw);
                *raw.last_mut().unwrap() ^= 1;
                bad.stream.write_all(&raw).unwrap();
                let mut rest = Vec::new();
                let _ = bad.stream.read_to_end(&mut rest);
                Client::user(&server, folder.path(), "ann").say("QUIT");
            }
            server.stop();
        }
    }
}

#[test]
fn certificates_that_cannot_be_used_are_named() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_certificate(folder.path());
    write_certificate(other.path());
    let options = || ServeOptions { model: Model::Epoll, ..ServeOptions::default() };
    let error = |certificate: PathBuf, key: PathBuf| {
        serve(&ServeOptions {
            tls: Some(TlsFiles { certificate, key, tickets: false, in_kernel: false }),
            ..options()
        })
        .unwrap_err()
        .to_string()
    };
    let (certificate, key) = (folder.path().join("certificate.pem"), folder.path().join("key.pem"));
    let mixed = error(certificate, other.path().join("key.pem"));
    assert!(mixed.starts_with("cannot use the certificate "), "{mixed}");
    let swapped = error(key.clone(), key.clone());
    assert!(swapped.ends_with("key.pem has no certificate"), "{swapped}");
    let missing = error("/nowhere".into(), key);
    assert!(missing.starts_with("cannot read certificates from /nowhere: "), "{missing}");
}
