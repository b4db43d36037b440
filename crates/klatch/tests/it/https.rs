//! Requests for URLs of other servers, over TLS and in plain: what is valid, what is wrong and how it is named, and what no record has.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use klatch_record::{Record, Results, Status};
use klatch_testing::{Need, needs};

use crate::support::tls_front::{Certificate, TlsFault, tls_front, write_certificate};
use crate::support::{Finished, klatch, run_once};

/// What a server answers to request `number`, counted from 0, and whether it closes the connection then.
type Answer = fn(number: usize, request: &str) -> (String, bool);

/// The SHA-256 of `hello`.
const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// A request that is not valid, the words of its verdict, and the options for it.
type Wrong = (Answer, &'static [&'static str], &'static str);

fn reply(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} Word\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Starts a server that ends with the test program.
fn serve(answer: Answer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let requests = requests.clone();
            std::thread::spawn(move || serve_one(client, answer, &requests));
        }
    });
    address
}

fn serve_one(client: TcpStream, answer: Answer, requests: &AtomicUsize) {
    client.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(client);
    loop {
        let (mut request, mut length) = (String::new(), 0);
        loop {
            let before = request.len();
            if reader.read_line(&mut request).unwrap_or(0) == 0 {
                return;
            }
            let line = &request[before..];
            if let Some(value) = line.strip_prefix("Content-Length: ") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        request.push_str(&String::from_utf8(body).unwrap());
        let (answer, closes) = answer(requests.fetch_add(1, Relaxed), &request);
        if reader.get_mut().write_all(answer.as_bytes()).is_err() || closes {
            return;
        }
    }
}

/// A short run of `rr`.
pub(crate) fn run(folder: &Path, target: &str, options: &[&str]) -> Finished {
    let words = ["--workload", "rr", "--duration", "0.2", "--timeout", "2", "--target", target];
    Finished::run(run_once(folder, &words).args(options))
}

pub(crate) fn valid(finished: &Finished) -> Record {
    let record = finished.record();
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    assert!(record.score.received > 5, "{record:?}");
    record
}

#[test]
fn requests_have_a_method_header_fields_and_a_body_and_replies_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(|_, request| {
        let is_right = request.starts_with("PUT /a?b=c HTTP/1.1\r\n")
            && request.contains("\r\nUser-Agent: mine\r\n")
            && request.contains("\r\nAuthorization: Bearer s3cret\r\n")
            && request.contains("\r\nX-Key: hunter2\r\n")
            && request.contains("\r\nX-Variable: of environment\r\n")
            && request.contains("\r\nHost: 127.0.0.1:")
            && request.ends_with("\r\n\r\n{\"a\":1}");
        (reply(if is_right { 201 } else { 400 }, "{\"ok\": [true], \"name\": \"Ann\"}"), false)
    });
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let (body, key) = (file("body", "{\"a\":1}"), file("key", "hunter2\n"));
    let target = format!("http://{address}/a?b=c");
    let out = folder.path().join("results");
    let mut command = run_once(&out, &["--workload", "rr", "--duration", "0.2", "--target", &target]);
    command.args(["--method", "PUT", "--body-file", &body, "--header", "User-Agent: mine"]);
    command.args(["--header", "Authorization: Bearer s3cret", "--header", "X-Variable: $KLATCH_TEST_VALUE"]);
    command.args(["--header", &format!("X-Key: @{key}")]).env("KLATCH_TEST_VALUE", "of environment");
    command.args(["--expect-status", "201", "--expect-json", "/ok/0=true", "--expect-json", "/name=Ann"]);
    let finished =
        Finished::run(command.args(["--expect-length", "29", "--connections", "3", "--depth", "2"]));
    let record = valid(&finished);
    let words = klatch_report::run_again(&record).unwrap().join(" ");
    for word in
        [&target, "--header Authorization: …", "X-Variable: $KLATCH_TEST_VALUE", "--expect-json /name=Ann"]
    {
        assert!(words.contains(word), "{words}");
    }
    for entry in std::fs::read_dir(out.join("latest")).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for secret in ["s3cret", "hunter2", "of environment"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn a_reply_that_is_not_as_expected_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [Wrong; 9] = [
        (
            |number, _| (reply(200, if number == 9 { "hullo" } else { "hello" }), false),
            &[],
            "at byte 1, got \"ullo\"",
        ),
        (
            |number, _| (reply(if number % 5 == 4 { 500 } else { 200 }, "\x1b[2J"), false),
            &[],
            "expected status 200, got 500 with the body \"\\u001b[2J\"); wrong: connection 1",
        ),
        (|_, _| (reply(404, "no"), false), &[], "status 404, and no status is expected"),
        (
            |_, _| (reply(200, "hullo"), false),
            &["--expect-sha256", HELLO],
            "expected a body with the SHA-256 2cf24",
        ),
        (|_, _| (reply(200, "[]"), false), &["--expect-json", "/ok=true"], "expected /ok=true, got nothing"),
        (
            |number, _| match number {
                7 => ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".to_owned(), true),
                _ => (reply(200, "hello"), false),
            },
            &[],
            "the connection was closed after 3 of 5 bytes of the body",
        ),
        (
            |number, _| if number < 7 { (reply(200, ""), false) } else { (String::new(), true) },
            &[],
            "the server closes each connection instead of a reply",
        ),
        (
            |number, _| (if number < 7 { reply(200, "") } else { "SSH-2.0-x\r\n".to_owned() }, false),
            &[],
            "GET /: the server answered no HTTP (the head is not HTTP/1): SSH-2.0-x",
        ),
        (
            |number, _| (if number < 7 { reply(200, "") } else { reply(200, "") + &reply(200, "") }, false),
            &[],
            "without a request",
        ),
    ];
    for (answer, options, reason) in cases {
        let finished = run(folder.path(), &format!("http://{}/", serve(answer)), options);
        let verdict = finished.record().verdict;
        assert_eq!((finished.status, verdict.status), (Some(1), Status::Invalid), "{reason}: {finished:?}");
        assert!(verdict.messages().contains(reason), "{reason}: {}", verdict.messages());
    }
}

#[test]
fn connections_that_the_server_closes_are_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let announced: Answer = |number, _| match number % 4 {
        3 => ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi".to_owned(), true),
        _ => (reply(200, "hi"), false),
    };
    let until_close: Answer = |_, _| ("HTTP/1.0 200 OK\r\n\r\nhi".to_owned(), true);
    for (answer, every) in [(announced, 4), (until_close, 1)] {
        write_certificate(folder.path(), Certificate::Right);
        let server = serve(answer);
        let front = tls_front(server, folder.path(), TlsFault::None);
        let authority = folder.path().join("authority.pem").display().to_string();
        let plain = run(folder.path(), &format!("http://{server}/"), &["--connections", "2"]);
        let reopened = valid(&plain).results.reopened();
        assert!(reopened >= plain.record().score.received / every / 2, "{plain:?}");
        // The front ends connections without an alert of TLS, by which a body that ends with them could be cut.
        if every > 1 {
            let options = ["--connections", "2", "--ca", &authority];
            let over_tls = valid(&run(folder.path(), &format!("https://{front}/"), &options));
            assert!(over_tls.results.reopened() > 0);
            assert_eq!(over_tls.shards[0].tls.as_ref().unwrap().version, "TLSv1.3");
        }
    }
}

#[test]
fn urls_have_shares_and_latencies_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(|_, request| match request.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["GET", "/a"] => (reply(200, "a"), false),
        ["POST", "/b"] => (reply(201, "b"), false),
        ["HEAD", "/c"] => ("HTTP/1.1 204 No\r\nContent-Length: 9\r\n\r\n".to_owned(), false),
        _ => (reply(400, request), false),
    });
    let urls = folder.path().join("urls");
    std::fs::write(&urls, format!("6 /a\n3 POST http://{address}/b\n# a comment\n1 HEAD /c\n")).unwrap();
    let options = ["--urls", urls.to_str().unwrap(), "--connections", "2", "--duration", "0.5"];
    let record = valid(&run(folder.path(), &format!("http://{address}"), &options));
    let Results::Rr { kinds, .. } = &record.results else { panic!("another workload") };
    let names: Vec<_> = kinds.iter().map(|kind| kind.name.as_str()).collect();
    assert_eq!(names, ["GET /a", "HEAD /c", "POST /b"]);
    assert_eq!(kinds.iter().map(|kind| kind.count).sum::<u64>(), record.score.received);
    assert!(kinds[0].share > kinds[2].share && kinds[2].share > kinds[1].share, "{kinds:?}");
}

#[test]
fn contents_of_files_are_recorded_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(|_, _| (reply(200, "hi"), false));
    let target = format!("http://{address}/");
    let (body, urls) = (folder.path().join("body"), folder.path().join("urls"));
    let made = |out: &str, text: &str| {
        std::fs::write(&body, text).unwrap();
        std::fs::write(&urls, format!("# {text}\n2 /a\n1 PUT /b\n")).unwrap();
        let (body, urls) = (body.to_str().unwrap(), urls.to_str().unwrap());
        let server = target.trim_end_matches('/');
        let record = valid(&run(&folder.path().join(out), server, &["--body-file", body, "--urls", urls]));
        record.shards[0].request.clone().unwrap()
    };
    let (first, second) = (made("a", "hello"), made("b", "hullo"));
    assert_eq!(first.body_sha256.as_deref(), Some(HELLO));
    assert_ne!(first.body_sha256, second.body_sha256);
    assert_eq!(first.urls_sha256, second.urls_sha256, "a comment is no URL");
    let words = [folder.path().join("a"), folder.path().join("b")];
    let compared = Finished::run(klatch().arg("compare").args(words));
    assert!(compared.out.contains(&format!("contents of the body differ: a {HELLO}; b ")), "{compared:?}");
    assert!(!compared.out.contains("contents of the file of URLs"), "{compared:?}");
}

/// One line, exit status 2, and nothing secret, whatever is wrong with the options.
#[test]
fn what_cannot_be_asked_for_is_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let address = serve(|_, _| (reply(200, "hi"), false));
    let (plain, with_path) = (format!("http://{address}"), format!("http://{address}/s"));
    let bad_urls = folder.path().join("urls");
    std::fs::write(&bad_urls, "/a\nhttp://s3cret.example/\n").unwrap();
    let bad_urls = bad_urls.to_str().unwrap();
    for (target, options, answer) in [
        (&plain, &["--method", "PUT"][..], "method belongs to requests for a URL, and there is none"),
        (&plain, &["--header", "Cookie: s3cret"], "header belongs to requests for a URL"),
        (
            &with_path,
            &["--header", "s3cret"],
            "header must be a header field as in 'Accept: text/html', with a colon",
        ),
        (&with_path, &["--header", "Content-Length: s3cret"], "another field than Content-Length"),
        (&with_path, &["--header", "Cookie: …"], "the value of the header field Cookie is in no record"),
        (&with_path, &["--header", "Cookie: $KLATCH_UNSET"], "the variable KLATCH_UNSET, which is not set"),
        (
            &with_path,
            &["--header", "Cookie: @/no/such"],
            "cannot read the value of a header field in /no/such",
        ),
        (&with_path, &["--body-file", "/no/such"], "cannot read the body in /no/such"),
        (&with_path, &["--url", "/t"], "the target has a path, and so has --url"),
        (&with_path, &["--size", "9"], "size cannot be combined with url"),
        (&with_path, &["--method", "get"], "a method in capital letters"),
        (&with_path, &["--expect-status", "99"], "expect_status must be 200 to 599, got 99"),
        (&with_path, &["--expect-sha256", "00"], "64 digits of 0-9 and a-f"),
        (
            &with_path,
            &["--expect-json", "ok=s3cret"],
            "expect_json must be a pointer and a value, as in /ok=true",
        ),
        (
            &with_path,
            &["--crowd", "native-threads"],
            "the native crowd with event loops makes requests for a URL",
        ),
        (&plain, &["--urls", bad_urls], "urls names another server than the target"),
        (&plain, &["--urls", "/dev/null"], "/dev/null must have 1 to 1000 URLs, and has 0"),
        (&with_path, &["--ca", "/no/such"], "--ca belongs to the transports tls and wss"),
    ] {
        let finished = run(folder.path(), target, options);
        finished.assert_refused(options, answer);
    }
    let trade = Finished::run(&mut run_once(
        folder.path(),
        &["--workload", "trade", "--target", "https://127.0.0.1:1", "--ca", "/dev/null"],
    ));
    let answer = "the transport tls does not carry the workload trade with the protocol http";
    assert!(trade.status == Some(2) && trade.err.contains(answer), "{trade:?}");
}

#[test]
fn violations_of_tls_are_named_before_the_first_request() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(|_, _| (reply(200, "hi"), false));
    let authority = write_certificate(folder.path(), Certificate::Expired);
    let front = tls_front(server, folder.path(), TlsFault::None);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let plain = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut answered: Vec<TcpStream> = Vec::new();
        for mut client in listener.incoming().flatten() {
            client.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
            answered.push(client);
        }
    });
    for (address, reason) in [
        (front, "no first reply of GET /: the server's certificate has expired"),
        (plain, "no first reply of GET /: the server does not answer in TLS, so it speaks none at this port"),
    ] {
        let options = ["--ca", authority.to_str().unwrap()];
        let finished = run(folder.path(), &format!("https://{address}/"), &options);
        assert!(finished.status == Some(2) && finished.err.contains(reason), "{finished:?}");
    }
}

/// A server that a test started, which ends with it.
pub(crate) struct Started(pub(crate) Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts nginx with sites for TLS 1.3, TLS 1.2 and plain HTTP, at these ports. It has its usual limit of requests for a connection.
fn start_nginx(folder: &Path, ports: [u16; 3]) -> Started {
    let site = |(port, tls): (u16, &str)| {
        let tls = match tls {
            "" => format!("listen 127.0.0.1:{port};"),
            version => format!(
                "listen 127.0.0.1:{port} ssl; ssl_protocols {version}; ssl_certificate certificate.pem; ssl_certificate_key key.pem;"
            ),
        };
        format!("server {{ {tls} root site; location = /echo {{ return 200 $arg_payload; }} }}")
    };
    let sites: String = ports.into_iter().zip(["TLSv1.3", "TLSv1.2", ""]).map(site).collect();
    let text = format!(
        "daemon off; master_process off; pid nginx.pid; error_log stderr; events {{}}\n\
         http {{ access_log off; client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;\n{sites} }}"
    );
    std::fs::write(folder.join("nginx.conf"), text).unwrap();
    let mut nginx = Command::new("nginx");
    nginx.arg("-p").arg(folder).args(["-c", "nginx.conf", "-e", "stderr"]);
    let started = Started(nginx.stderr(Stdio::null()).spawn().unwrap());
    for port in ports {
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
    }
    started
}

pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

#[test]
fn nginx_is_measured_over_both_versions_of_tls() {
    needs!(Need::TestAll);
    needs!(Need::Program("nginx", "nginx-light"));
    let folder = tempfile::tempdir().unwrap();
    let authority = write_certificate(folder.path(), Certificate::Right);
    let ca = ["--ca", authority.to_str().unwrap()];
    let site = folder.path().join("site");
    std::fs::create_dir(&site).unwrap();
    std::fs::write(site.join("page"), "x".repeat(100_000)).unwrap();
    let ports = free_ports();
    let _nginx = start_nginx(folder.path(), ports);
    for (port, version, cipher) in [
        (ports[0], "TLSv1.3", "TLS_AES_128_GCM_SHA256"),
        (ports[1], "TLSv1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
    ] {
        let target = format!("https://127.0.0.1:{port}");
        let options = [&["--connections", "8", "--depth", "2", "--duration", "2"], &ca[..]].concat();
        let record = valid(&run(folder.path(), &format!("{target}/page"), &options));
        let tls = record.shards[0].tls.as_ref().unwrap();
        assert_eq!((tls.version.as_str(), tls.cipher.as_str()), (version, cipher));
        // A payload that comes back, on connections that stay open for fewer requests than nginx allows.
        let options = [&["--connections", "8", "--rate", "100"], &ca[..]].concat();
        assert_eq!(valid(&run(folder.path(), &target, &options)).results.reopened(), 0);
    }
    let record =
        valid(&run(folder.path(), &format!("http://127.0.0.1:{}/page", ports[2]), &["--duration", "2"]));
    assert_eq!(record.results.reopened(), record.score.received.div_ceil(1000) - 1);
}

#[test]
fn the_site_of_workload_web_is_requested_over_tls() {
    needs!(Need::Program("nginx", "nginx-light"));
    let folder = tempfile::tempdir().unwrap();
    let authority = write_certificate(folder.path(), Certificate::Right);
    let mut files = klatch();
    files.arg("web-files").arg(folder.path().join("site")).args(["--directories", "1"]);
    assert_eq!(Finished::run(&mut files).status, Some(0));
    let ports = free_ports();
    let _nginx = start_nginx(folder.path(), ports);
    for line in ["none", "4000kbit"] {
        let target = format!("https://127.0.0.1:{}", ports[0]);
        let words =
            ["--workload", "web", "--static-only", "--directories", "1", "--lines", "5", "--line", line];
        let mut command = run_once(folder.path(), &words);
        command.args(["--duration", "1", "--target", &target, "--ca"]).arg(&authority);
        let record = valid(&Finished::run(&mut command));
        assert_eq!(record.shards[0].tls.as_ref().unwrap().version, "TLSv1.3", "{record:?}");
    }
}
