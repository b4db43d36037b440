//! How crowds connect: several addresses, source addresses, cipher suites and client certificates.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Command, Stdio};

use klatch_record::Status;
use klatch_testing::{Need, needs};

use crate::https::{Started, free_ports, run, valid};
use crate::support::tls_front::{Certificate, write_certificate};
use crate::support::{Finished, NativeServer, run_once};

const SMALL: [&str; 6] = ["--rooms", "2", "--users", "5", "--count", "20"];

#[test]
fn a_name_with_several_addresses_is_connected_to_where_the_server_answers() {
    let server = NativeServer::start();
    let port = server.address.port();
    let addresses: Vec<_> = ("localhost", port).to_socket_addrs().unwrap().collect();
    for choice in ["first", "all"] {
        let folder = tempfile::tempdir().unwrap();
        let target = format!("irc://localhost:{port}");
        let mut run = run_once(folder.path(), &["--target", &target, "--addresses", choice]);
        let record = Finished::run(run.args(SMALL)).record();
        assert_eq!(record.verdict.status, Status::Valid, "{record:?}");
        let used: &[&str] = if addresses.len() > 1 { &["127.0.0.1"] } else { &[] };
        assert_eq!(record.shards[0].addresses, used, "{addresses:?}");
    }
}

#[test]
fn source_addresses_are_used_and_recorded() {
    let server = NativeServer::start();
    let folder = tempfile::tempdir().unwrap();
    let target = format!("irc://{}", server.address);
    let words = ["--target", &target, "--source-address", "127.0.0.7,127.0.0.8"];
    let record = Finished::run(run_once(folder.path(), &words).args(SMALL)).record();
    assert_eq!(record.verdict.status, Status::Valid, "{record:?}");
    let sources = &record.options.as_ref().unwrap().connecting.sources;
    assert_eq!(sources.iter().map(ToString::to_string).collect::<Vec<_>>(), ["127.0.0.7", "127.0.0.8"]);
    let words = ["--target", &target, "--source-address", "192.0.2.1"];
    let finished = Finished::run(run_once(folder.path(), &words).args(SMALL));
    let answer = "cannot connect from the source address 192.0.2.1";
    assert!(finished.status == Some(2) && finished.err.contains(answer), "{finished:?}");
}

/// SHA-256 of `SUCCESS`, what nginx says of a client whose certificate it takes.
const SUCCESS: &str = "e2a8aca48c5b24df14c6e0ab0b30df7ed50fa97bc22fd706c71a7eebe96a8b67";

/// Starts nginx with TLS 1.2 alone, which demands a certificate of its clients.
fn start_nginx(folder: &Path, port: u16) -> Started {
    let text = format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr; events {{}}\n\
         http {{ access_log off; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;\n\
         server {{ listen 127.0.0.1:{port} ssl; ssl_protocols TLSv1.2; ssl_certificate certificate.pem; ssl_certificate_key key.pem;\n\
         ssl_client_certificate authority.pem; ssl_verify_client on; location = / {{ return 200 $ssl_client_verify; }} }} }}"
    );
    std::fs::write(folder.join("nginx.conf"), text).unwrap();
    let mut nginx = Command::new("nginx");
    nginx.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "stderr"]);
    let started = Started(nginx.stderr(Stdio::null()).spawn().unwrap());
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::yield_now();
    }
    started
}

#[test]
fn nginx_that_demands_a_certificate_and_tls_1_2_is_measured() {
    needs!(Need::Program("nginx", "nginx-light"));
    let folder = tempfile::tempdir().unwrap();
    let authority = write_certificate(folder.path(), Certificate::Right);
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [port] = free_ports();
    let _nginx = start_nginx(folder.path(), port);
    let target = format!("https://127.0.0.1:{port}/");
    let (certificate, key) = (file("certificate.pem"), file("key.pem"));
    let ca = ["--ca", authority.to_str().unwrap()];
    let shown = ["--client-certificate", &certificate, "--client-key", &key];
    let suite = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
    let offers: [(&[&str], &str); 3] = [
        (&[], "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        (&["--tls-version", "1.2"], "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        (&["--ciphers", &format!("TLS_AES_256_GCM_SHA384,{suite}")], suite),
    ];
    for (offer, agreed) in offers {
        let options = [&ca[..], &shown, offer, &["--expect-sha256", SUCCESS]].concat();
        let record = valid(&run(folder.path(), &target, &options));
        let session = record.shards[0].tls.as_ref().unwrap();
        assert_eq!((session.version.as_str(), session.cipher.as_str()), ("TLSv1.2", agreed));
        let text = serde_json::to_string(&record).unwrap();
        assert!(!text.contains("PRIVATE KEY"), "{text}");
    }
    let without = run(folder.path(), &target, &ca);
    let reasons = without.record().verdict.messages();
    assert!(
        without.status == Some(1) && reasons.contains("status 400, and no status is expected"),
        "{without:?}"
    );
    let newer = run(folder.path(), &target, &[&ca[..], &shown, &["--tls-version", "1.3"]].concat());
    assert!(
        newer.status == Some(2) && newer.err.contains("a version and a cipher suite that are offered"),
        "{newer:?}"
    );
}

/// One line, and exit status 2.
#[test]
fn what_cannot_be_connected_with_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let authority = write_certificate(folder.path(), Certificate::Right);
    let ca = authority.to_str().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (file("certificate.pem"), file("key.pem"));
    let server = NativeServer::start();
    let target = format!("https://{}/", server.address);
    let native = ["--platform", "native-epoll"];
    let tls = ["--target", &target, "--workload", "rr", "--ca", ca];
    let cases: [(&[&str], &[&str], &str); 8] = [
        (
            &native,
            &["--ciphers", "TLS_AES_128_GCM_SHA256"],
            "belong to the transports tls and wss: leave out --tls-version",
        ),
        (
            &native,
            &["--transport", "tls", "--client-certificate", &certificate, "--client-key", &key],
            "asks for no certificate of its clients: leave out --client-certificate",
        ),
        (&native, &["--crowd", "java", "--addresses", "all"], "the Java crowd does not: leave out --crowd"),
        (&tls, &["--ciphers", "RC4"], "there is no cipher suite RC4; there are TLS_AES_256_GCM_SHA384, "),
        (
            &tls,
            &["--ciphers", "TLS_AES_128_GCM_SHA256", "--tls-version", "1.2"],
            "none of the cipher suites is one of the version of TLS",
        ),
        (&tls, &["--client-certificate", ca, "--client-key", ca], "cannot read a key from "),
        (&tls, &["--client-key", &key], "--client-certificate"),
        (&tls, &["--addresses", "some"], "addresses must be one of first, all, got some"),
    ];
    for (subject, options, answer) in cases {
        let finished = Finished::run(run_once(folder.path(), subject).args(options));
        assert!(finished.status == Some(2) && finished.err.contains(answer), "{options:?}: {finished:?}");
    }
}
