//! Uses the page of a run in headless Chromium: what it draws, who may open it, and talk with a scripted server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use klatch_crowd::ClientEndpoint;
use klatch_record::samples::record;
use klatch_record::{ChatWorkload, CrowdEvent, Platform, ProtocolName, Role, Warning, WarningKind, Workload};
use klatch_report::viewer::Viewer;
use klatch_report::{LiveState, Talk, TalkRooms};
use klatch_testing::{Chromium, Need, needs};

const EVIL: &str = "<img src=x onerror=window.caught=1>";
const CAUGHT: &str = "document.querySelectorAll('img').length + (window.caught ?? 0)";
/// Whether the page fits on the screen, and no text of a chart lies beside it.
const FITS: &str = "document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1
    && [...document.querySelectorAll('svg text')].every((text) => {
        const box = text.getBoundingClientRect(), around = text.ownerSVGElement.getBoundingClientRect();
        return box.left >= around.left - 1 && box.right <= around.right + 1;
    })";

/// A server of IRC for one client. It greets, admits to the room, says `lines` there, and repeats what the client says as `echo`.
fn scripted_server(lines: &'static [&'static str]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
                    let reply = match line.split_once(' ') {
                        Some(("USER", _)) => ":s 001 ann :welcome\r\n".to_owned(),
                        Some(("JOIN", room)) => {
                            let said = lines.iter().map(|line| format!("{line}\r\n")).collect::<String>();
                            format!(
                                ":ann!a@h JOIN {room}\r\n:s 353 ann = {room} :ann\r\n:s 366 ann {room} :end\r\n{said}"
                            )
                        }
                        Some(("PRIVMSG", text)) => format!(":echo!e@h PRIVMSG {text}\r\n"),
                        Some(("PONG", text)) => format!(":s NOTICE ann :ponged {text}\r\n"),
                        _ => continue,
                    };
                    let _ = stream.write_all(reply.as_bytes());
                }
            });
        }
    });
    port
}

fn changed(viewer: &Viewer, change: impl FnOnce(&mut LiveState)) {
    viewer.update(change);
}

/// A viewer of a run whose rooms are those of a server on this port.
fn viewer_of(folder: &std::path::Path, name: &str, port: u16) -> Viewer {
    let viewer = Viewer::start(0, folder, LiveState::new(name)).unwrap();
    let upstream = ClientEndpoint::plain(ProtocolName::Irc, "127.0.0.1", port);
    let urls = viewer.set_upstreams(vec![upstream]);
    let platform = Platform { name: name.to_owned(), ..record(1, 0, 50_000.0).platform };
    let workload = Workload::Chat(ChatWorkload { rooms: 10, users: 5, ..ChatWorkload::default() });
    let talk = Talk::Rooms(vec![TalkRooms { urls, first: 1, count: 10 }]);
    changed(&viewer, |watch| watch.ready(&platform, &workload, None, talk));
    viewer
}

/// Twenty reports of a crowd, half a second apart.
fn half_a_run(viewer: &Viewer) {
    changed(viewer, |watch| {
        watch.begin_run(Role::Trial, 1);
        let began = Instant::now();
        watch.crowd(&CrowdEvent::Joined { join_s: 0.2 }, began);
        watch.crowd(&CrowdEvent::Open, began);
        for tick in 1..=20_u64 {
            watch.crowd(&CrowdEvent::Cpus { server: Some(0.9), crowd: Some(0.7) }, began);
            let latency_ns = vec![(1_000_000 + tick * 50_000, 990), (40_000_000, 10)];
            let progress =
                CrowdEvent::Progress { sent: tick * 250, received: tick * 990, expected: 50_000, latency_ns };
            watch.crowd(&progress, began + Duration::from_millis(500 * tick));
        }
    });
}

#[test]
fn a_run_is_drawn_reloaded_and_ended_for_two_viewers() {
    needs!(Need::Chromium);
    let folder = tempfile::tempdir().unwrap();
    let viewer = viewer_of(folder.path(), EVIL, 1);
    half_a_run(&viewer);
    let (mut first, mut second) = (Chromium::start(), Chromium::start());
    for (browser, width, dark) in [(&mut first, 1440, false), (&mut second, 400, true)] {
        browser.visit(viewer.url(), width, dark);
        browser.wait_for("document.querySelectorAll('svg polyline').length === 7");
        assert_eq!(browser.evaluate(FITS), true, "at {width} px");
        assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), EVIL);
        assert_eq!(browser.evaluate("document.querySelector('#phase').textContent"), "trial 1 is running");
        let numbers = browser.evaluate("document.querySelector('#numbers').textContent");
        for part in
            ["due20,000", "received19,800", "in flight200", "p99 of the run2.00 ms", "CPUs of the server0.90"]
        {
            assert!(numbers.as_str().unwrap().contains(part), "no {part} in {numbers}");
        }
    }
    // A page that is opened again shows the run from its start.
    let line = "document.querySelector('#rate polyline').getAttribute('points').split(' ').length";
    assert_eq!(first.evaluate(line), 20);
    first.visit(viewer.url(), 1440, false);
    first.wait_for("document.querySelectorAll('svg polyline').length === 7");
    assert_eq!(first.evaluate(line), 20);
    let mut record = record(1, 0, 50_000.0);
    let stranger = |message: &str| Warning {
        kind: WarningKind::Stranger,
        message: message.to_owned(),
        advice: "leave".to_owned(),
    };
    record.warnings = vec![stranger(EVIL)];
    changed(&viewer, |watch| {
        watch.end_run(&record);
        watch.end("all runs are made");
    });
    // Nothing waits for a viewer, and yet each has the last state.
    drop(viewer);
    for browser in [&mut first, &mut second] {
        browser.wait_for("document.querySelector('#connection').textContent === 'all runs are made'");
        let runs = browser.evaluate("document.querySelector('#runs').textContent");
        assert!(runs.as_str().unwrap().contains(EVIL) && runs.as_str().unwrap().contains("valid"), "{runs}");
        assert_eq!(browser.evaluate(CAUGHT), 0);
        assert_eq!(browser.evaluate(FITS), true);
        assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
    }
}

#[test]
fn a_person_joins_hears_says_and_leaves_and_nothing_heard_is_markup() {
    needs!(Need::Chromium);
    let folder = tempfile::tempdir().unwrap();
    let port = scripted_server(&[
        ":r1u1!u@h PRIVMSG #klatch-1 :<img src=x onerror=window.caught=1>",
        ":r1u2!u@h PRIVMSG #klatch-2 :of another room",
        "PING :are you there",
    ]);
    let viewer = viewer_of(folder.path(), "native-epoll", port);
    let mut browser = Chromium::start();
    browser.visit(viewer.url(), 1440, false);
    browser.wait_for("!document.querySelector('#join').hidden");
    browser.evaluate(
        "document.querySelector('#nick').value = 'ann'; document.querySelector('#join button').click()",
    );
    let heard = "document.querySelector('#lines').textContent";
    browser.wait_for(&format!("{heard}.includes('ponged :are you there')"));
    let text = browser.evaluate(heard);
    assert!(
        text.as_str().unwrap().contains(EVIL) && !text.as_str().unwrap().contains("another room"),
        "{text}"
    );
    assert_eq!(
        browser.evaluate("document.querySelector('#present').textContent"),
        "You are in #klatch-1 as ann."
    );
    browser.evaluate(&format!(
        "document.querySelector('#text').value = '{EVIL}'; document.querySelector('#say button').click()"
    ));
    browser.wait_for(&format!("{heard}.includes('echo{EVIL}')"));
    assert_eq!(browser.evaluate("document.querySelector('#lines .own b').textContent"), "ann");
    assert_eq!(browser.evaluate(CAUGHT), 0);
    browser.evaluate("document.querySelector('#leave').click()");
    browser.wait_for("!document.querySelector('#join').hidden && document.querySelector('#say').hidden");
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn a_server_that_is_gone_is_told_on_the_page() {
    needs!(Need::Chromium);
    let folder = tempfile::tempdir().unwrap();
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let viewer = viewer_of(folder.path(), "native-epoll", gone);
    let mut browser = Chromium::start();
    browser.visit(viewer.url(), 400, false);
    browser.wait_for("!document.querySelector('#join').hidden");
    browser.evaluate("document.querySelector('#join button').click()");
    browser.wait_for(
        "document.querySelector('#lines').textContent.includes('cannot connect: Connection refused')",
    );
}

#[test]
fn a_seventeenth_viewer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = viewer_of(folder.path(), "native-epoll", 1);
    let port = viewer.url().trim_end_matches('/').rsplit_once(':').unwrap().1.to_owned();
    let answers = || {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        write!(stream, "GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        (stream, answer)
    };
    let all: Vec<_> = (0..17).map(|_| answers()).collect();
    assert!(all[..16].iter().all(|(_, answer)| answer == b"HTTP/1.1 200"));
    assert_eq!(&all[16].1, b"HTTP/1.1 503");
}

/// What the viewer answers to a request with these heads: the status line.
fn status(port: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    write!(stream, "{request}\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn pages_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = viewer_of(folder.path(), "native-epoll", scripted_server(&[]));
    let port = viewer.url().trim_end_matches('/').rsplit_once(':').unwrap().1.to_owned();
    let own = format!("Host: 127.0.0.1:{port}");
    for (path, heads, wanted) in [
        ("/", own.clone(), "200"),
        ("/events", own.clone(), "200"),
        ("/elsewhere", own.clone(), "404"),
        ("/", format!("Host: rebound.example:{port}"), "403"),
        ("/events", format!("{own}\r\nOrigin: http://evil.example"), "403"),
        ("/events", format!("{own}\r\nOrigin: http://127.0.0.1:{port}"), "200"),
    ] {
        let answer = status(&port, &format!("GET {path} HTTP/1.1\r\n{heads}"));
        assert_eq!(answer, format!("HTTP/1.1 {wanted}"), "{path} with {heads}");
    }
    // The gateway opens only for the viewer's own pages.
    let url = viewer.set_upstreams(vec![ClientEndpoint::plain(
        ProtocolName::Irc,
        "127.0.0.1",
        scripted_server(&[]),
    )]);
    let gateway = url[0].trim_start_matches("ws://127.0.0.1:").split('/').next().unwrap();
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
    let page = format!("Origin: http://127.0.0.1:{port}");
    let host = format!("Host: 127.0.0.1:{gateway}");
    for (path, heads, wanted) in [
        ("/0", format!("{host}\r\n{page}"), "101"),
        ("/1", format!("{host}\r\n{page}"), "403"),
        ("/0", host.clone(), "403"),
        ("/0", format!("{host}\r\nOrigin: http://evil.example"), "403"),
        ("/0", format!("{host}\r\nOrigin: null"), "403"),
        ("/0", format!("Host: rebound.example\r\n{page}"), "403"),
    ] {
        let answer = status(gateway, &format!("GET {path} HTTP/1.1\r\n{heads}\r\n{upgrade}"));
        assert_eq!(answer, format!("HTTP/1.1 {wanted}"), "{path} with {heads}");
    }
}
