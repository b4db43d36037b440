//! The server as a process of its own: this test program, started again as the server.

mod shared;

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use klatch_server::{ServeOptions, serve};
use rustix::process::{Pid, Signal, kill_process};
use shared::Client;

const ROLE: &str = "KLATCH_TEST_SERVES";

/// Started by the tests below with `ROLE` set; by itself it has nothing to do.
#[test]
fn serves() {
    if std::env::var_os(ROLE).is_some() {
        serve(&ServeOptions { listen: "127.0.0.1:0".into(), json: true, ..ServeOptions::default() }).unwrap();
    }
}

fn start(open_files: u32) -> (Child, SocketAddr) {
    let mut child = Command::new("sh")
        .args(["-c", &format!("ulimit -n {open_files} && exec \"$0\" --exact serves --nocapture")])
        .arg(std::env::current_exe().unwrap())
        .env(ROLE, "yes")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let ready = lines.find(|line| line.contains(r#""event":"ready""#)).expect("a ready line");
    let port = ready.split(r#""port":"#).nth(1).unwrap().split(',').next().unwrap();
    assert!(ready.contains(&format!(r#""pid":{},"#, child.id())), "{ready}");
    // Keeps reading, so that the child can go on writing.
    std::thread::spawn(move || lines.count());
    (child, format!("127.0.0.1:{port}").parse().unwrap())
}

/// Its exit is clean; what it said on standard error is returned.
fn stop(mut child: Child, signal: Signal) -> String {
    kill_process(Pid::from_child(&child), signal).unwrap();
    assert!(child.wait().unwrap().success());
    let mut said = String::new();
    child.stderr.unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn stops_on_sigterm_and_sigint() {
    for signal in [Signal::TERM, Signal::INT] {
        let (child, address) = start(100);
        let mut ann = Client::on(TcpStream::connect(address).unwrap());
        ann.register("ann");
        assert_eq!(stop(child, signal), "");
        assert_eq!(ann.hear(), None);
    }
}

#[test]
fn without_room_for_more_it_serves_those_who_are_there() {
    let (child, address) = start(30);
    let mut ann = Client::on(TcpStream::connect(address).unwrap());
    ann.register("ann");
    let mut others: Vec<_> = (0..40).map(|_| Client::on(TcpStream::connect(address).unwrap())).collect();
    ann.join("#a");
    // Those who leave make room for the last of those who wait.
    let mut last = others.pop().unwrap();
    drop(others);
    last.register("last");
    ann.ping();
    let said = stop(child, Signal::TERM);
    let told = said.lines().filter(|line| line.contains("the limit of open files is 30; raise it")).count();
    assert_eq!(told, 1, "{said}");
}
