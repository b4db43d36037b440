//! Requests for URLs in HTTP/2: what is valid, what is wrong and how it is named, and servers of others.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::Relaxed;

use h2::Reason;
use klatch_record::{HttpVersion, Results, Status, Workload};
use klatch_testing::{Need, needs};

use crate::https::{Started, free_ports, run, valid};
use crate::support::http2_server::{Answer, Behaviour, serve_http2};
use crate::support::tls_front::{Certificate, TlsFault, tls_front, write_certificate};
use crate::support::{Finished, run_of_many, run_once};

/// A server that does this wrong, options, and the words of the verdict.
type Wrong = (Behaviour, &'static [&'static str], &'static [&'static str]);

fn run_2(folder: &Path, target: &str, options: &[&str]) -> Finished {
    run(folder, target, &[&["--http", "2"], options].concat())
}

#[test]
fn requests_have_what_they_have_in_http_1_and_streams() {
    let folder = tempfile::tempdir().unwrap();
    let (address, counts) = serve_http2(Behaviour {
        answer: |_, head, body| {
            let field = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap());
            let authority = head.uri.authority().unwrap().as_str();
            let is_right = head.method == "PUT"
                && head.uri.path_and_query().unwrap() == "/a?b=c"
                && head.uri.scheme_str() == Some("http")
                && (authority.starts_with("127.0.0.1:") || authority == "other.example")
                && field("user-agent") == Some("mine")
                && field("authorization") == Some("Bearer s3cret")
                && field("content-length") == Some("7")
                && body == b"{\"a\":1}";
            Answer::Reply(if is_right { 201 } else { 400 }, b"{\"ok\": [true]}".to_vec())
        },
        ..Behaviour::default()
    });
    let body = folder.path().join("body");
    std::fs::write(&body, "{\"a\":1}").unwrap();
    let target = format!("http://{address}/a?b=c");
    let out = folder.path().join("results");
    for host in [&[][..], &["--header", "Host: other.example"]] {
        let mut command = run_once(&out, &["--workload", "rr", "--duration", "0.3", "--target", &target]);
        command.args([
            "--http",
            "2",
            "--streams",
            "5",
            "--connections",
            "3",
            "--method",
            "PUT",
            "--body-file",
        ]);
        command.arg(&body).args(["--header", "User-Agent: mine", "--header", "Authorization: Bearer s3cret"]);
        command.args(["--expect-status", "201", "--expect-json", "/ok/0=true"]).args(host);
        let record = valid(&Finished::run(&mut command));
        let Workload::Rr(rr) = &record.workload else { panic!("another workload") };
        assert_eq!((rr.http, rr.streams, rr.in_flight_max()), (HttpVersion::Http2, Some(5), 5));
        let words = klatch_report::run_again(&record).unwrap().join(" ");
        assert!(words.contains("--http 2 --streams 5") && !words.contains("--depth"), "{words}");
    }
    assert_eq!(counts.open_max.load(Relaxed), 15);
}

#[test]
fn urls_have_shares_and_a_schedule_has_its_rate() {
    let folder = tempfile::tempdir().unwrap();
    let (address, counts) = serve_http2(Behaviour {
        answer: |_, head, _| match (head.method.as_str(), head.uri.path()) {
            ("GET", "/a") => Answer::Reply(200, b"a".to_vec()),
            ("POST", "/b") => Answer::Reply(201, b"b".to_vec()),
            ("HEAD", "/c") => Answer::Reply(204, Vec::new()),
            _ => Answer::Reply(400, Vec::new()),
        },
        ..Behaviour::default()
    });
    let urls = folder.path().join("urls");
    std::fs::write(&urls, format!("6 /a\n3 POST http://{address}/b\n1 HEAD /c\n")).unwrap();
    let options = ["--urls", urls.to_str().unwrap(), "--streams", "4", "--rate", "500", "--duration", "0.5"];
    let record = valid(&run_2(folder.path(), &format!("http://{address}"), &options));
    let Results::Rr { kinds, .. } = &record.results else { panic!("another workload") };
    let names: Vec<_> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["GET /a", "HEAD /c", "POST /b"]);
    // Three first replies, and the request by which the connection joined.
    assert_eq!(record.score.received, 250);
    assert_eq!(counts.requests.load(Relaxed), 254);
}

#[test]
fn a_reply_that_is_not_as_expected_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let usual = Behaviour::default();
    let cases: [Wrong; 7] = [
        (
            Behaviour {
                answer: |number, _, _| {
                    Answer::Reply(200, if number == 9 { b"hullo".to_vec() } else { b"hello".to_vec() })
                },
                ..usual
            },
            &["--streams", "3"],
            &["at byte 1, got \"ullo\"", "1 reply wrong"],
        ),
        (
            Behaviour {
                answer: |number, _, _| {
                    Answer::Reply(if number % 5 == 4 { 500 } else { 200 }, b"\x1b[2J".to_vec())
                },
                ..usual
            },
            &["--streams", "2"],
            &["expected status 200, got 500 with the body \"\\u001b[2J\"); wrong: connection 1"],
        ),
        (
            Behaviour {
                answer: |number, _, _| match number {
                    9 => Answer::Reset(Reason::INTERNAL_ERROR),
                    _ => Answer::Reply(200, b"hello".to_vec()),
                },
                ..usual
            },
            &["--streams", "3"],
            &["GET /: the server reset the stream: INTERNAL_ERROR"],
        ),
        (
            Behaviour {
                answer: |number, _, _| {
                    if number == 9 { Answer::Nothing } else { Answer::Reply(200, b"hello".to_vec()) }
                },
                ..usual
            },
            &["--streams", "3"],
            &["no progress for 2 s", "1 reply lost"],
        ),
        (
            Behaviour {
                answer: |number, _, _| match number {
                    9 => Answer::Part(b"hel".to_vec()),
                    _ => Answer::Reply(200, b"hello".to_vec()),
                },
                ..usual
            },
            &["--streams", "3"],
            &["no progress for 2 s", "1 reply lost"],
        ),
        (
            Behaviour { goes_away: |number| (number == 9).then_some(Reason::ENHANCE_YOUR_CALM), ..usual },
            &["--streams", "3"],
            &["GET /: the server ended the connection with the error ENHANCE_YOUR_CALM"],
        ),
        (
            Behaviour { goes_away: |number| (number > 9).then_some(Reason::INTERNAL_ERROR), ..usual },
            &[],
            &["the server closes each connection instead of a reply"],
        ),
    ];
    for (behaviour, options, reasons) in cases {
        let (address, _) = serve_http2(behaviour);
        let finished = run_2(folder.path(), &format!("http://{address}/"), options);
        let verdict = finished.record().verdict;
        assert_eq!(
            (finished.status, verdict.status),
            (Some(1), Status::Invalid),
            "{reasons:?}: {finished:?}"
        );
        for reason in reasons {
            assert!(verdict.messages().contains(reason), "{reason}: {}", verdict.messages());
        }
    }
}

#[test]
fn connections_that_the_server_ends_in_order_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    for streams in ["1", "7"] {
        let (address, counts) = serve_http2(Behaviour {
            goes_away: |number| (number % 5 == 4).then_some(Reason::NO_ERROR),
            ..Behaviour::default()
        });
        // A busy machine has had four replies in the usual fifth of a second.
        let options = ["--connections", "2", "--streams", streams, "--duration", "1"];
        let record = valid(&run_2(folder.path(), &format!("http://{address}/"), &options));
        let (reopened, received) = (record.results.reopened(), record.score.received);
        assert!(reopened > 0 && reopened <= received / 5 + 1, "{reopened} for {received}");
        // Every request that the server took has a reply, and none was sent twice: the first reply and two to join are not counted.
        assert_eq!(counts.requests.load(Relaxed) as u64, received + 3, "{streams}");
    }
}

#[test]
fn large_bodies_pass_the_windows_of_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let (address, _) = serve_http2(Behaviour {
        answer: |_, _, body| {
            let is_right =
                body.len() == 1 << 20 && body.iter().enumerate().all(|(at, byte)| *byte == at as u8);
            // More than the window of a stream, and some of it wait for that of the connection.
            Answer::Reply(if is_right { 200 } else { 400 }, body.repeat(6))
        },
        ..Behaviour::default()
    });
    let body = folder.path().join("body");
    std::fs::write(&body, (0..1 << 20).map(|at: u32| at as u8).collect::<Vec<u8>>()).unwrap();
    let options =
        ["--body-file", body.to_str().unwrap(), "--streams", "6", "--duration", "1", "--timeout", "30"];
    let record = valid(&run_2(folder.path(), &format!("http://{address}/"), &options));
    assert_eq!(record.score.received, record.score.sent);
}

/// Starts a server that sends these bytes to each client.
fn serve_bytes(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut answered: Vec<TcpStream> = Vec::new();
        for mut client in listener.incoming().flatten() {
            client.write_all(bytes).unwrap();
            answered.push(client);
        }
    });
    address
}

/// One line, and exit status 2.
#[test]
fn what_cannot_be_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (address, _) = serve_http2(Behaviour { streams: Some(4), ..Behaviour::default() });
    let target = format!("http://{address}/");
    let older = format!("http://{}/", serve_bytes(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
    // ENABLE_PUSH of 2, which is no value.
    let wrong = format!("http://{}/", serve_bytes(b"\0\0\x06\x04\0\0\0\0\0\0\x02\0\0\0\x02"));
    let authority = write_certificate(folder.path(), Certificate::Right);
    let front = format!("https://{}/", tls_front(address, folder.path(), TlsFault::None));
    let ca = authority.to_str().unwrap();
    for (target, options, answer) in [
        (
            &target,
            &["--http", "2", "--streams", "5"][..],
            "the server allows 4 streams of a connection at a time, fewer than the 5 of",
        ),
        (
            &target,
            &["--http", "2", "--depth", "5"],
            "depth belongs to HTTP/1.1, and HTTP/2 has streams in its place",
        ),
        (
            &target,
            &["--http", "2", "--streams", "5", "--depth", "5"],
            "depth cannot be combined with streams",
        ),
        (&target, &["--http", "2", "--streams", "0"], "streams must be 1 to 1,000, got 0"),
        (&target, &["--streams", "5"], "streams belongs to http 2"),
        (&target, &["--http", "3"], "invalid value '3' for '--http <VERSION>'"),
        (
            &target,
            &["--http", "2", "--header", "Keep-Alive: s3cret"],
            "another field than Keep-Alive, which HTTP/2 does not have",
        ),
        (
            &format!("http://{address}"),
            &["--http", "2"],
            "http belongs to requests for a URL, and there is none",
        ),
        (
            &target,
            &["--http", "2", "--crowd", "native-threads"],
            "the native crowd with event loops makes requests for a URL",
        ),
        (
            &older,
            &["--http", "2"],
            "no first reply of GET /: the server answered no HTTP/2: HTTP/1.1 400 Bad Request",
        ),
        (&wrong, &["--http", "2"], "no first reply of GET /: the server violates HTTP/2: PROTOCOL_ERROR"),
        (
            &front,
            &["--http", "2", "--ca", ca],
            "no first reply of GET /: the server does not choose HTTP/2 (h2 in ALPN)",
        ),
    ] {
        let finished = run(folder.path(), target, options);
        finished.assert_refused(options, answer);
    }
}

/// Waits until somebody listens.
fn wait_for(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::yield_now();
    }
}

#[test]
fn nginx_is_measured_in_plain_and_over_tls() {
    needs!(Need::Program("nginx", "nginx-light"));
    let folder = tempfile::tempdir().unwrap();
    let authority = write_certificate(folder.path(), Certificate::Right);
    let site = folder.path().join("site");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("page"), "x".repeat(100_000)).unwrap();
    let [plain, tls, older] = free_ports();
    let files = "ssl_certificate certificate.pem; ssl_certificate_key key.pem;";
    let text = format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr; events {{}}\n\
         http {{ access_log log; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;\n\
         server {{ listen 127.0.0.1:{plain} http2; listen 127.0.0.1:{tls} ssl http2; {files} root site; }}\n\
         server {{ listen 127.0.0.1:{older} ssl; {files} root site; }} }}"
    );
    std::fs::write(folder.path().join("nginx.conf"), text).unwrap();
    let mut nginx = Command::new("nginx");
    nginx.arg("-p").arg(folder.path()).args(["-c", "nginx.conf", "-e", "stderr"]).stderr(Stdio::null());
    let _nginx = Started(nginx.spawn().unwrap());
    [plain, tls, older].into_iter().for_each(wait_for);
    let requests =
        || std::fs::read_to_string(folder.path().join("log")).unwrap().matches("/page HTTP/2.0").count();
    let ca = ["--ca", authority.to_str().unwrap()];
    for (target, ca) in
        [(format!("http://127.0.0.1:{plain}"), &[][..]), (format!("https://127.0.0.1:{tls}"), &ca)]
    {
        for (connections, streams) in [("1", "1"), ("3", "10")] {
            let before = requests();
            let options =
                [&["--connections", connections, "--streams", streams, "--duration", "1"], ca].concat();
            let record = valid(&run_2(folder.path(), &format!("{target}/page"), &options));
            // A connection of nginx has 1,000 requests; each first one is not counted.
            let count = record.score.received + connections.parse::<u64>().unwrap();
            assert_eq!(
                requests() - before,
                count as usize + 1,
                "the first reply is on a connection of its own"
            );
            assert!(record.results.reopened() >= (count / 1000).saturating_sub(connections.parse().unwrap()));
        }
    }
    let refused = run_2(folder.path(), &format!("https://127.0.0.1:{older}/page"), &ca);
    let answer = "the server does not choose HTTP/2 (h2 in ALPN)";
    assert!(refused.status == Some(2) && refused.err.contains(answer), "{refused:?}");
}

#[test]
fn nghttpd_is_measured_in_plain_and_over_tls() {
    needs!(Need::TestAll);
    needs!(Need::Program("nghttpd", "nghttp2-server"));
    let folder = tempfile::tempdir().unwrap();
    let authority = write_certificate(folder.path(), Certificate::Right);
    std::fs::write(folder.path().join("page"), "x".repeat(3_000_000)).unwrap();
    let file = |name: &str| folder.path().join(name);
    let ports = free_ports::<2>();
    let start = || {
        let mut nghttpd = Command::new("nghttpd");
        nghttpd.args(["--address=127.0.0.1", "-d"]).arg(folder.path()).stdout(Stdio::null());
        nghttpd
    };
    let _plain = Started(start().arg("--no-tls").arg(ports[0].to_string()).spawn().unwrap());
    let mut over_tls = start();
    over_tls.arg(ports[1].to_string()).arg(file("key.pem")).arg(file("certificate.pem"));
    let _over_tls = Started(over_tls.spawn().unwrap());
    ports.into_iter().for_each(wait_for);
    let ca = ["--ca", authority.to_str().unwrap()];
    for (target, ca) in [
        (format!("http://127.0.0.1:{}", ports[0]), &[][..]),
        (format!("https://127.0.0.1:{}", ports[1]), &ca),
    ] {
        let options = [&["--connections", "2", "--streams", "10", "--duration", "1"], ca].concat();
        let record = valid(&run_2(folder.path(), &format!("{target}/page"), &options));
        assert_eq!(record.results.reopened(), 0);
    }
}

/// Platforms of the catalog that speak HTTP/2, each by both transports where it is installed.
#[test]
fn platforms_speak_http_2_by_every_transport() {
    needs!(Need::Program("nginx", "nginx-light"));
    let folder = tempfile::tempdir().unwrap();
    // One Java speaks it as another does.
    let speaking: Vec<(String, String)> = crate::support::listed()
        .into_iter()
        .filter_map(|(platform, ways)| Some((platform, ways.last()?.clone())))
        .flat_map(|(platform, way)| {
            let transports = platform["http2"].as_array().unwrap().clone();
            transports.into_iter().map(move |one| (way.clone(), one.as_str().unwrap().to_owned()))
        })
        .collect();
    assert!(speaking.len() >= crate::support::least(15, 3), "{speaking:?}");
    crate::support::two_at_a_time(&speaking, |(platform, transport)| {
        let out = tempfile::tempdir().unwrap();
        let words = ["--workload", "rr", "--platform", platform, "--transport", transport];
        let url = ["--url", "/file_set/dir00000/class1_1", "--http", "2", "--streams", "7"];
        let mut command = run_of_many(out.path(), &[&words[..], &url, &["--duration", "0.3"]].concat());
        let record = valid(&Finished::run(&mut command));
        let Workload::Rr(rr) = &record.workload else { panic!("another workload") };
        assert_eq!((rr.http, rr.streams), (HttpVersion::Http2, Some(7)), "{platform}, {transport}");
        let again = klatch_report::run_again(&record).unwrap().join(" ");
        assert!(again.contains("--url /file_set/dir00000/class1_1 --http 2 --streams 7"), "{again}");
    });
    for (platform, options, answer) in [
        (
            "apache-prefork",
            &["--url", "/"][..],
            "apache-prefork does not speak HTTP/2 by the transport plain",
        ),
        ("native-epoll", &["--url", "/"], "native-epoll does not speak HTTP/2 by the transport plain"),
        ("go-goroutines", &["--url", "/"], "go-goroutines does not speak HTTP/2 by the transport plain"),
    ] {
        let words = ["--workload", "rr", "--platform", platform, "--http", "2"];
        let finished = Finished::run(&mut run_once(folder.path(), &[&words[..], options].concat()));
        finished.assert_refused(options, answer);
    }
    let finished =
        Finished::run(&mut run_once(folder.path(), &["--workload", "rr", "--platform", "apache-event"]));
    finished.assert_refused(&[], "apache-event serves a site only, so requests need a URL");
}
