//! A TLS server in front of a chat server that speaks plain TCP, with certificates and faults of the test's choice.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use klatch_protocol::tls::{ServerTls, TlsPipe};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType, date_time_ymd};

/// The certificate of a front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// For 127.0.0.1, and not expired.
    Right,
    /// It expired in 2001.
    Expired,
    /// For 127.0.0.9, where nothing listens.
    OtherName,
    /// That of an authority, as `openssl req -x509` makes one.
    Authority,
}

/// What a front does to the bytes of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsFault {
    None,
    /// A bit of the first record after 64 KiB is changed.
    AlteredRecord,
    /// The connection ends after 64 KiB without an alert.
    EndsSilently,
}

/// Sent bytes after which a fault happens.
const FAULT_AT_BYTES: usize = 64 * 1024;

/// Writes an authority, and a certificate that it signed, into `folder`. Returns the file of the authority.
pub(crate) fn write_certificate(folder: &Path, kind: Certificate) -> PathBuf {
    let authority_key = KeyPair::generate().unwrap();
    let mut authority = CertificateParams::default();
    // A certificate of the same name as its authority's is taken for one that signs itself.
    authority.distinguished_name.push(DnType::CommonName, "authority of a test");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let file = folder.join("authority.pem");
    std::fs::write(&file, authority.self_signed(&authority_key).unwrap().pem()).unwrap();
    let issuer = Issuer::new(authority, authority_key);
    let last = if kind == Certificate::OtherName { 9 } else { 1 };
    let mut params = CertificateParams::default();
    params.subject_alt_names = vec![SanType::IpAddress(IpAddr::V4(Ipv4Addr::new(127, 0, 0, last)))];
    if kind == Certificate::Expired {
        (params.not_before, params.not_after) = (date_time_ymd(2000, 1, 1), date_time_ymd(2001, 1, 1));
    }
    if kind == Certificate::Authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    std::fs::write(folder.join("certificate.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    file
}

/// Starts a front of `server` with the certificate in `folder`. It ends with the test program.
pub(crate) fn tls_front(server: SocketAddr, folder: &Path, fault: TlsFault) -> SocketAddr {
    let tls = ServerTls::from_files(&folder.join("certificate.pem"), &folder.join("key.pem")).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, server) = (client.unwrap(), TcpStream::connect(server).unwrap());
            client.set_nodelay(true).unwrap();
            let pipe = Arc::new(Mutex::new(TlsPipe::server(&tls)));
            let (to_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            let sealing = Arc::clone(&pipe);
            std::thread::spawn(move || seal(server, to_client, &sealing, fault));
            std::thread::spawn(move || open(client, to_server, &pipe));
        }
    });
    address
}

/// Forwards from the user to the server.
fn open(mut client: TcpStream, mut server: TcpStream, pipe: &Mutex<TlsPipe>) {
    let mut buffer = [0; 4096];
    while let Ok(bytes @ 1..) = client.read(&mut buffer) {
        let (mut plain, mut raw) = (Vec::new(), Vec::new());
        let mut pipe = pipe.lock().unwrap();
        let received = pipe.receive(&buffer[..bytes], &mut plain);
        pipe.send(&[], &mut raw);
        if client.write_all(&raw).is_err() || server.write_all(&plain).is_err() || received.is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

/// Forwards from the server to the user, with the fault.
fn seal(mut server: TcpStream, mut client: TcpStream, pipe: &Mutex<TlsPipe>, fault: TlsFault) {
    let (mut buffer, mut sent) = ([0; 4096], 0);
    while let Ok(bytes @ 1..) = server.read(&mut buffer) {
        let mut raw = Vec::new();
        let mut pipe = pipe.lock().unwrap();
        pipe.send(&buffer[..bytes], &mut raw);
        sent += raw.len();
        match fault {
            TlsFault::AlteredRecord if sent > FAULT_AT_BYTES => *raw.last_mut().unwrap() ^= 1,
            TlsFault::EndsSilently if sent > FAULT_AT_BYTES => break,
            _ => {}
        }
        if client.write_all(&raw).is_err() {
            return;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
