//! Chat by other transports than plain TCP: valid runs, named faults, and one clear line for bad input.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use crate::support::proxy::{Mischief, in_front_of};
use crate::support::tls_front::{Certificate, TlsFault, tls_front, write_certificate};
use crate::support::websocket_front::{Framing, websocket_front};
use crate::support::{
    Finished, NativeServer, klatch, listed, needs_url, run_of_many, run_once, sample, two_at_a_time,
};
use klatch_record::{Record, Status, Transport};
use klatch_testing::{Need, needs};

const SMALL: [&str; 6] = ["--rooms", "2", "--users", "5", "--count", "20"];
/// For a run that a server does not answer. A run that is to be valid has the usual time, since a JVM on a busy machine needs seconds for TLS.
const IMPATIENT: [&str; 2] = ["--timeout", "1"];
const CROWDS: [&str; 2] = ["native", "native-threads"];

/// Platforms that list this transport for a workload, as far as they can run here.
fn carrying(workload: &str, transport: &str) -> Vec<String> {
    let has = |platform: &serde_json::Value| {
        platform["transports"][workload].as_array().is_some_and(|all| all.iter().any(|one| one == transport))
    };
    let listed = crate::support::listed().into_iter().filter(|(platform, _)| has(platform));
    // Only the newest of several Javas.
    listed.filter_map(|(_, mut ways)| ways.pop()).collect()
}

/// Runs every platform that has this transport, with `rooms` rooms of ten users each. For TLS it is few: a Java that has just started takes
/// tens of ms for a handshake.
fn every_platform_is_valid(transport: Transport, rooms: u64, pacings: &[&str]) {
    let platforms = carrying("chat", transport.name());
    assert!(platforms.len() >= 5, "{platforms:?}");
    // What carries TLS and WebSocket carries both.
    let platforms = sample(platforms, if transport == Transport::Wss { 3 } else { 1 });
    let runs: Vec<(&String, &&str)> =
        platforms.iter().flat_map(|way| pacings.iter().map(move |pacing| (way, pacing))).collect();
    two_at_a_time(&runs, |(way, pacing)| {
        let out = tempfile::tempdir().unwrap();
        let options = ["--platform", way, "--transport", transport.name(), "--pacing", pacing];
        let mut run = run_of_many(out.path(), &options);
        let finished =
            Finished::run(run.args(["--rooms", &rooms.to_string(), "--users", "10", "--count", "20"]));
        let record = finished.record();
        assert_eq!(record.verdict.status, Status::Valid, "{way}, {pacing}: {finished:?}");
        assert_eq!(
            (record.score.sent, record.score.received),
            (rooms * 200, rooms * 1_800),
            "{way}, {pacing}"
        );
        assert_eq!(record.platform.transport, transport, "{way}");
        let joining = record.joining.as_ref().unwrap();
        assert_eq!(joining.connections, rooms * 10, "{way}");
        assert!(joining.server_cpu_us_per_connection.is_some_and(|us| us > 0.0), "{way}: {joining:?}");
        let session = record.shards[0].tls.as_ref();
        assert_eq!(
            session.map(|tls| (tls.version.as_str(), tls.cipher.as_str())),
            transport.has_tls().then_some(("TLSv1.3", "TLS_AES_128_GCM_SHA256")),
            "{way}"
        );
    });
}

#[test]
fn every_platform_with_websocket_is_valid() {
    every_platform_is_valid(Transport::Ws, 20, &sample(["turns", "rounds"], 2));
}

#[test]
fn every_platform_with_tls_is_valid_and_the_record_names_the_cipher() {
    every_platform_is_valid(Transport::Tls, 4, &["rounds"]);
}

#[test]
fn every_platform_with_websocket_within_tls_is_valid() {
    every_platform_is_valid(Transport::Wss, 4, &["turns"]);
}

/// The options of a short run of each workload of requests.
const REQUESTS: [(&str, &[&str]); 2] = [
    ("rr", &["--workload", "rr", "--connections", "3", "--duration", "0.5"]),
    ("web", &["--workload", "web", "--lines", "5", "--directories", "1", "--duration", "1"]),
];

#[test]
fn every_platform_with_tls_carries_requests_and_a_site_by_it() {
    for (workload, options) in REQUESTS {
        let platforms = carrying(workload, "tls");
        assert!(platforms.len() >= 5, "{platforms:?}");
        let by_url = listed().into_iter().filter(|(platform, _)| needs_url(platform));
        let by_url: Vec<String> = by_url.flat_map(|(_, ways)| ways).collect();
        two_at_a_time(&platforms, |way| {
            let out = tempfile::tempdir().unwrap();
            let mut run = run_of_many(out.path(), &["--platform", way, "--transport", "tls"]);
            run.args(options);
            if workload == "rr" && by_url.contains(way) {
                run.args(["--url", "/file_set/dir00000/class1_1"]);
            }
            let finished = Finished::run(&mut run);
            let record = finished.record();
            assert_eq!(record.verdict.status, Status::Valid, "{workload}, {way}: {finished:?}");
            assert_eq!(record.platform.transport, Transport::Tls, "{workload}, {way}");
            let session = record.shards[0].tls.as_ref().unwrap();
            let agreed = (session.version.as_str(), session.cipher.as_str());
            assert_eq!(agreed, ("TLSv1.3", "TLS_AES_128_GCM_SHA256"), "{workload}, {way}");
            let again = klatch_report::run_again(&record).unwrap().join(" ");
            assert!(again.contains(" --knob transport=tls "), "{again}");
        });
    }
}

/// A client that begins no handshake is closed, though a client of `rr` need not do anything first.
#[test]
fn a_client_without_a_handshake_has_limited_time() {
    use std::io::Read;
    let folder = tempfile::tempdir().unwrap();
    write_certificate(folder.path(), Certificate::Right);
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (file("certificate.pem"), file("key.pem"));
    let server = NativeServer::start_with(&[
        "--workload",
        "rr",
        "--transport",
        "tls",
        "--certificate",
        &certificate,
        "--key",
        &key,
        "--registration-timeout",
        "1",
    ]);
    let mut client = std::net::TcpStream::connect(server.address).unwrap();
    // It waits for the end, which must come.
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest);
}

/// A small run against a TLS front of a server.
fn behind_tls(
    mischief: Mischief,
    certificate: Certificate,
    fault: TlsFault,
    crowd: &str,
) -> (Option<i32>, Record) {
    let folder = tempfile::tempdir().unwrap();
    let server = NativeServer::start();
    let authority = write_certificate(folder.path(), certificate);
    // Only a run that misses a message ends by its time.
    let timeout = if matches!(mischief, Mischief::Lose { .. }) { "1" } else { "20" };
    let front = tls_front(in_front_of(server.address, mischief), folder.path(), fault);
    let mut run = run_once(folder.path(), &["--target", &format!("ircs://{front}"), "--ca"]);
    // Enough bytes for a fault after 64 KiB.
    let workload =
        ["--rooms", "2", "--users", "5", "--count", "300", "--timeout", timeout, "--pacing", "flood"];
    let finished = Finished::run(run.arg(authority).args(["--crowd", crowd]).args(workload));
    (finished.status, finished.record())
}

#[test]
fn faults_within_tls_are_named() {
    two_at_a_time(&CROWDS, |crowd| {
        let spoilt = |mischief| behind_tls(mischief, Certificate::Right, TlsFault::None, crowd);
        let (status, record) = spoilt(Mischief::None);
        assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
        let (status, record) = spoilt(Mischief::Alter { delivery: 10 });
        assert_eq!((status, record.checks.corrupted), (Some(1), 1), "{record:?}");
        let (status, record) = spoilt(Mischief::Lose { delivery: 10 });
        assert_eq!((status, record.checks.lost), (Some(1), 1), "{record:?}");
    });
}

#[test]
fn violations_of_tls_are_named() {
    two_at_a_time(&CROWDS, |crowd| {
        for (certificate, fault, reason) in [
            (Certificate::Expired, TlsFault::None, "the server's certificate has expired"),
            (Certificate::OtherName, TlsFault::None, "the server's certificate is for another name"),
            (
                Certificate::Authority,
                TlsFault::None,
                "the server's certificate is that of an authority; openssl",
            ),
            (Certificate::Right, TlsFault::AlteredRecord, "TLS failed: "),
            (
                Certificate::Right,
                TlsFault::EndsSilently,
                "the server closed the connection without a TLS alert",
            ),
        ] {
            let (status, record) = behind_tls(Mischief::None, certificate, fault, crowd);
            let reasons = record.verdict.messages();
            assert!(status == Some(1) && reasons.contains(reason), "{certificate:?} {fault:?}: {reasons}");
        }
    });
}

#[test]
fn the_java_crowd_uses_every_transport_and_names_what_it_refuses() {
    for transport in [Transport::Ws, Transport::Tls, Transport::Wss] {
        let out = tempfile::tempdir().unwrap();
        let options = ["--platform", "native-epoll", "--transport", transport.name(), "--crowd", "java"];
        let finished = Finished::run(run_once(out.path(), &options).args(SMALL));
        let record = finished.record();
        assert_eq!(record.verdict.status, Status::Valid, "{transport}: {finished:?}");
        let cipher = record.shards[0].tls.as_ref().map(|tls| tls.cipher.as_str());
        assert_eq!(cipher, transport.has_tls().then_some("TLS_AES_128_GCM_SHA256"), "{transport}");
    }
    for (certificate, reason) in [
        (Certificate::Expired, "the server's certificate has expired"),
        (Certificate::OtherName, "the server's certificate is for another name"),
    ] {
        let (status, record) = behind_tls(Mischief::None, certificate, TlsFault::None, "java");
        let reasons = record.verdict.messages();
        assert!(status == Some(1) && reasons.contains(reason), "{certificate:?}: {reasons}");
    }
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    let authority = write_certificate(folder.path(), Certificate::Right);
    let mut run =
        run_once(folder.path(), &["--target", &format!("ircs://{}", server.address), "--crowd", "java"]);
    let reasons = Finished::run(run.arg("--ca").arg(&authority).args(SMALL).args(IMPATIENT))
        .record()
        .verdict
        .messages();
    assert!(
        reasons.contains("the server does not answer in TLS, so it speaks none at this port"),
        "{reasons}"
    );
    let front = tls_front(server.address, folder.path(), TlsFault::None);
    let other = tempfile::tempdir().unwrap();
    let unknown = write_certificate(other.path(), Certificate::Right);
    let mut run = run_once(folder.path(), &["--target", &format!("ircs://{front}"), "--crowd", "java"]);
    let reasons = Finished::run(run.arg("--ca").arg(unknown).args(SMALL)).record().verdict.messages();
    assert!(
        reasons.contains("no authority that the crowd trusts (--ca) has signed the server's certificate"),
        "{reasons}"
    );
}

#[test]
fn a_server_with_tls_needs_its_files_and_others_refuse_them() {
    let error = |arguments: &[&str]| {
        let finished = Finished::run(klatch().arg("serve").args(arguments));
        assert_eq!((finished.status, finished.err.lines().count()), (Some(2), 1), "{finished:?}");
        finished.err
    };
    assert_eq!(
        error(&["--transport", "tls", "--certificate", "c.pem"]),
        "klatch: --transport tls and wss need --certificate FILE and --key FILE, in PEM\n"
    );
    assert_eq!(
        error(&["--transport", "ws", "--certificate", "c.pem", "--key", "k.pem"]),
        "klatch: --certificate, --key, --tickets and --ktls belong to --transport tls and wss, not to ws\n"
    );
}

/// With a kernel that has no TLS a run does not begin. It must not go on with the library.
#[test]
fn the_kernel_makes_the_records_or_no_run_begins() {
    let options = ["--platform", "native-epoll", "--transport", "tls"];
    let both: &[&str] = &["--knob", "ktls=on", "--crowd-knob", "ktls=on"];
    let run = |knobs: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        Finished::run(run_once(out.path(), &[&options, knobs].concat()).args(SMALL))
    };
    if klatch_protocol::tls::check_kernel_tls().is_ok() {
        return assert_in_kernel(&run(both).record(), 10);
    }
    for knobs in [&both[..2], &both[2..]] {
        let finished = run(knobs);
        assert_eq!(finished.status, Some(2), "{knobs:?}: {finished:?}");
        let reason = "the kernel makes no TLS records here: it has no module tls (CONFIG_TLS), or it is not loaded: as root, try: modprobe tls";
        assert!(finished.err.contains(reason), "{knobs:?}: {finished:?}");
    }
}

#[test]
fn the_kernel_of_the_lab_makes_the_records() {
    needs!(Need::TestAll, Need::Qemu);
    two_at_a_time(&[("native-epoll", "tls"), ("native-epoll-coalesce", "wss")], |(platform, transport)| {
        let mut lab = klatch();
        lab.args([
            "lab",
            "exec",
            "--module",
            "tls",
            "--",
            "run",
            "--json",
            "--warmups",
            "0",
            "--trials",
            "1",
        ]);
        lab.args(["--platform", platform, "--transport", transport, "--rooms", "1", "--users", "5"]);
        lab.args(["--count", "5", "--knob", "ktls=on", "--crowd-knob", "ktls=on"]);
        assert_in_kernel(&Finished::run(&mut lab).record(), 5);
    });
    let mut lab = klatch();
    lab.args(["lab", "exec", "--kernel", "7.2", "--module", "tls", "--", "--version"]);
    let unknown = Finished::run(&mut lab);
    assert_eq!(unknown.status, Some(2), "{unknown:?}");
    assert!(unknown.err.contains("there is no module tls for the kernel 7.2"), "{unknown:?}");
}

fn assert_in_kernel(record: &Record, users: u64) {
    assert_eq!(record.verdict.status, Status::Valid, "{record:?}");
    assert_eq!(record.shards[0].tls.as_ref().unwrap().in_kernel, users, "{record:?}");
}

#[test]
fn a_port_without_tls_and_an_unknown_authority_are_named_in_one_line() {
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    let authority = write_certificate(folder.path(), Certificate::Right);
    for scheme in ["ircs", "wss"] {
        let mut run =
            run_once(folder.path(), &["--target", &format!("{scheme}://{}", server.address), "--ca"]);
        let reasons =
            Finished::run(run.arg(&authority).args(SMALL).args(IMPATIENT)).record().verdict.messages();
        assert!(
            reasons.contains("the server does not answer in TLS, so it speaks none at this port"),
            "{reasons}"
        );
    }
    let front = tls_front(server.address, folder.path(), TlsFault::None);
    let mut run = run_once(folder.path(), &["--target", &format!("ircs://{front}"), "--ca"]);
    let other = tempfile::tempdir().unwrap();
    let unknown = write_certificate(other.path(), Certificate::Right);
    let reasons = Finished::run(run.arg(unknown).args(SMALL)).record().verdict.messages();
    assert!(
        reasons.contains("no authority that the crowd trusts (--ca) has signed the server's certificate"),
        "{reasons}"
    );
    let mut run = run_once(folder.path(), &["--target", &format!("ircs://{front}"), "--ca", "/nowhere"]);
    let finished = Finished::run(run.args(SMALL));
    assert!(finished.err.contains("/nowhere"), "{finished:?}");
}

#[test]
fn authorities_may_be_named_in_the_environment() {
    let (server, folder) = (NativeServer::start(), tempfile::tempdir().unwrap());
    let authority = write_certificate(folder.path(), Certificate::Right);
    let front = tls_front(server.address, folder.path(), TlsFault::None);
    let hashed = folder.path().join("hashed");
    let empty = folder.path().join("empty");
    [&hashed, &empty].iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    std::fs::copy(&authority, hashed.join("0a1b2c3d.0")).unwrap();
    let with = |crowd: &str, variable: &str, path: &Path| {
        let target = format!("ircs://{front}");
        let mut run = run_once(folder.path(), &["--target", &target, "--crowd", crowd]);
        Finished::run(
            run.args(SMALL).env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR").env(variable, path),
        )
    };
    for crowd in ["native", "java"] {
        for (variable, path) in [("SSL_CERT_FILE", &authority), ("SSL_CERT_DIR", &hashed)] {
            let finished = with(crowd, variable, path);
            assert_eq!(finished.status, Some(0), "{crowd}, {variable}: {finished:?}");
        }
        // Those of the system are not what was asked for.
        for folder in [Path::new("/nowhere"), &empty] {
            let finished = with(crowd, "SSL_CERT_DIR", folder);
            let says = finished.err.contains("SSL_CERT_DIR") && finished.err.contains("certificates");
            assert!(finished.status == Some(2) && says, "{crowd}: {finished:?}");
        }
    }
}

#[test]
fn shards_meet_at_a_gate_over_websocket() {
    let server = NativeServer::start_with(&["--transport", "ws"]);
    let folder = tempfile::tempdir().unwrap();
    let port = server.address.port().to_string();
    let mut shards: Vec<_> = (0..2)
        .map(|shard| {
            let mut command = klatch();
            command.args(["crowd", "--transport", "ws", "--port", &port, "--rooms", "4", "--users", "5"]);
            command.args(["--count", "10", "--shard", &format!("{shard}/2")]);
            command.arg("--out").arg(folder.path().join(format!("{shard}.json")));
            command.spawn().unwrap()
        })
        .collect();
    shards.iter_mut().for_each(|shard| assert!(shard.wait().unwrap().success()));
    let mut merge = klatch();
    merge.arg("merge").args([0, 1].map(|shard| folder.path().join(format!("{shard}.json"))));
    let finished = Finished::run(merge.arg("--json"));
    let record = finished.record();
    assert_eq!((record.verdict.status, record.score.sent), (Status::Valid, 200), "{finished:?}");
    assert_eq!(record.platform.transport, Transport::Ws);
    assert!(record.platform.name.starts_with("ws://127.0.0.1:"), "{}", record.platform.name);
}

/// A small run against a front of a server with these faults. Returns how many pings the crowd answered too.
fn spoilt(mischief: Mischief, framing: Framing, crowd: &str) -> (Option<i32>, Record, u64) {
    let out = tempfile::tempdir().unwrap();
    let server = NativeServer::start();
    let (front, pings) = websocket_front(in_front_of(server.address, mischief), framing);
    let target = format!("ws://{front}");
    let finished = Finished::run(
        run_once(out.path(), &["--target", &target])
            .args(["--crowd", crowd, "--pacing", "flood"])
            .args(SMALL)
            .args(IMPATIENT),
    );
    (finished.status, finished.record(), pings.load(Relaxed))
}

#[test]
fn fragments_in_odd_pieces_are_put_together_and_pings_are_answered() {
    for crowd in CROWDS {
        let (status, record, _) = spoilt(Mischief::None, Framing::Whole, crowd);
        assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
        let (status, record, pongs) = spoilt(Mischief::None, Framing::Fragments, crowd);
        assert_eq!((status, record.verdict.status), (Some(0), Status::Valid), "{record:?}");
        // A ping in each delivery; those in the last lines may meet a crowd that has gone.
        assert!(record.score.received == 800 && pongs >= 800, "{pongs}");
    }
}

#[test]
fn faults_inside_frames_are_named() {
    two_at_a_time(&CROWDS, |crowd| {
        let (status, record, _) = spoilt(Mischief::Alter { delivery: 10 }, Framing::Whole, crowd);
        assert_eq!((status, record.checks.corrupted), (Some(1), 1), "{record:?}");
        let (status, record, _) = spoilt(Mischief::Lose { delivery: 10 }, Framing::Whole, crowd);
        assert_eq!((status, record.checks.lost), (Some(1), 1), "{record:?}");
        let (status, record, _) = spoilt(Mischief::Repeat { delivery: 10 }, Framing::Fragments, crowd);
        assert_eq!((status, record.checks.duplicated), (Some(1), 1), "{record:?}");
        let (status, record, _) = spoilt(Mischief::Swap { delivery: 10 }, Framing::Whole, crowd);
        assert_eq!((status, record.checks.reordered), (Some(1), 1), "{record:?}");
    });
}

#[test]
fn violations_of_the_protocol_are_named() {
    two_at_a_time(&CROWDS, |crowd| {
        for (framing, reason) in [
            (Framing::Masked, "invalid WebSocket frame: a server must not mask its frames (close code 1002)"),
            (Framing::EndsSilently, "the server closed the connection without a WebSocket close frame"),
            (Framing::Closes, "the server closed the WebSocket with code 1011 (out of memory)"),
            (Framing::NoSubprotocol, "the server agreed to no subprotocol, and was asked for text.ircv3.net"),
        ] {
            let (status, record, _) = spoilt(Mischief::None, framing, crowd);
            assert_eq!(status, Some(1), "{framing:?}: {record:?}");
            let reasons = record.verdict.messages();
            assert!(reasons.contains(reason), "{framing:?}: {reasons}");
        }
    });
}

#[test]
fn a_server_without_websocket_is_named_in_one_line() {
    let server = NativeServer::start();
    let out = tempfile::tempdir().unwrap();
    let target = format!("ws://{}", server.address);
    let finished = Finished::run(run_once(out.path(), &["--target", &target]).args(SMALL).args(IMPATIENT));
    let reasons = finished.record().verdict.messages();
    assert!(reasons.contains("so it speaks no WebSocket at this port; it sent: "), "{reasons}");
    let refused = |arguments: &[&str]| {
        let finished = Finished::run(&mut run_once(out.path(), arguments));
        assert_eq!((finished.status, finished.err.lines().count()), (Some(2), 1), "{finished:?}");
        finished.err
    };
    let error = refused(&["--platform", "redis", "--transport", "ws"]);
    assert!(
        error.contains("redis does not carry the workload chat by the transport ws; it has plain, tls"),
        "{error}"
    );
    let error = refused(&["--platform", "native-epoll", "--subprotocol", "none"]);
    assert!(error.contains("belongs to the transports ws and wss: leave out --subprotocol"), "{error}");
    let error = refused(&["--target", "ws://127.0.0.1:1", "--ca", "authority.pem"]);
    assert!(error.contains("--ca belongs to the transports tls and wss"), "{error}");
    let error = refused(&[
        "--platform",
        "native-epoll",
        "--transport",
        "tls",
        "--hosts",
        "a",
        "--host-address",
        "192.0.2.1",
    ]);
    assert!(error.contains("is known on this machine only: leave out --hosts"), "{error}");
    let error = refused(&["--platform", "native-epoll", "--workload", "rr", "--transport", "ws"]);
    let answer = "native-epoll does not carry the workload rr by the transport ws; it has plain, tls";
    assert!(error.contains(answer), "{error}");
    let error = refused(&["--platform", "jdk-httpserver", "--workload", "trade", "--transport", "tls"]);
    assert!(
        error.contains("does not carry the workload trade by the transport tls; it has plain"),
        "{error}"
    );
}
