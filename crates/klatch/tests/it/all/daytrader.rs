//! Workload `trade` on somebody else's DayTrader: its pages are checked by their words.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::support::{Finished, run_once};
use klatch_exchange::trade::SampleSite;
use klatch_record::{Record, Status, Workload};

/// Requests of a connection before the server closes it, as servers do.
const REQUESTS_PER_CONNECTION: usize = 40;

/// Starts a server of the pages, with one planted fault at most. It ends with the test's process.
fn start(plant: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let site = Arc::new(Mutex::new(SampleSite::new(plant)));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let site = site.clone();
            // A crowd that stops early breaks its connections.
            std::thread::spawn(move || serve(&stream, &site).unwrap_or(()));
        }
    });
    address
}

fn serve(mut stream: &TcpStream, site: &Mutex<SampleSite>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    for served in 1.. {
        let Some(request) = read_request(&mut reader)? else { return Ok(()) };
        let mut reply = site.lock().unwrap().reply(&request);
        let last = served == REQUESTS_PER_CONNECTION;
        if last {
            reply = reply.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        }
        stream.write_all(reply.as_bytes())?;
        if last {
            return Ok(());
        }
    }
    Ok(())
}

/// The next request, whole; `None` at the end of the connection.
fn read_request(reader: &mut impl BufRead) -> std::io::Result<Option<String>> {
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let before = request.len();
        if reader.read_line(&mut request)? == 0 {
            return Ok(None);
        }
        let line = request[before..].trim_end();
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().map_err(std::io::Error::other)?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.push_str(&String::from_utf8_lossy(&body));
    Ok(Some(request))
}

fn visit(plant: &'static str) -> (Finished, Record) {
    let out = tempfile::tempdir().unwrap();
    let target = format!("http://{}/daytrader", start(plant));
    let trade =
        ["--workload", "trade", "--target", &target, "--traders", "4", "--users", "40", "--quotes", "30"];
    let finished = Finished::run(run_once(out.path(), &trade).args(["--duration", "1", "--mix", "equal"]));
    let record = finished.record();
    (finished, record)
}

#[test]
fn pages_of_daytrader_are_checked_by_their_words_and_nothing_is_audited() {
    let (finished, record) = visit("");
    assert_eq!((finished.status, record.verdict.status), (Some(0), Status::Valid), "{finished:?}");
    let Workload::Trade(trade) = &record.workload else { panic!("{:?}", record.workload) };
    assert_eq!((trade.daytrader.as_deref(), trade.database.as_deref()), (Some("/daytrader"), None));
    assert!(record.audit.is_none());
    let operations = record.operations.as_ref().unwrap();
    // More than the connections allow, so the traders have reconnected.
    assert!(record.results.kinds().iter().map(|kind| kind.count).sum::<u64>() > 400, "{operations:?}");
    assert_eq!(record.results.kinds().len(), 10, "{operations:?}");
    assert!(record.crowd.command.windows(2).any(|words| words == ["--daytrader", "/daytrader"]));
}

#[test]
fn a_page_without_its_words_makes_the_run_invalid() {
    for (plant, message) in
        [("word", "no confirmation of an order to buy"), ("quote", "quotes: no quote of s:")]
    {
        let (finished, record) = visit(plant);
        assert_eq!((finished.status, record.verdict.status), (Some(1), Status::Invalid), "{finished:?}");
        assert!(record.verdict.messages().contains(message), "{}", record.verdict.messages());
    }
}

#[test]
fn the_context_root_is_for_workload_trade() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--workload", "web", "--target", "http://127.0.0.1:1/daytrader"];
    let finished = Finished::run(&mut run_once(out.path(), &arguments));
    assert_eq!(finished.status, Some(2), "{finished:?}");
    assert!(finished.err.contains("is the context root of a DayTrader"), "{finished:?}");
}
