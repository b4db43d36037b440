//! The server as a process of its own: this test program, started again as the server.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::client::Client;
use klatch_server::{Model, ServeOptions, serve};
use rustix::process::{Pid, Signal, kill_process};

/// Its value is the model.
const ROLE: &str = "KLATCH_TEST_SERVES";

/// The server that the tests below start; it is no test, and is not run as one.
#[test]
#[ignore = "a part of the other tests"]
fn serves() {
    let model = std::env::var(ROLE).expect("the other tests start this").parse().unwrap();
    // Each loop has files of its own, and a machine with many CPUs would have many loops.
    let loops = (model != Model::Threads).then_some(2);
    let listen = "127.0.0.1:0".into();
    serve(&ServeOptions { model, listen, loops, json: true, ..ServeOptions::default() }).unwrap();
}

/// A server in a process of its own.
struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Server {
    fn start(model: Model, open_files: u32) -> Server {
        klatch_testing::let_interrupts_through();
        let mut child = Command::new("sh")
            .args([
                "-c",
                &format!(
                    "ulimit -n {open_files} && exec \"$0\" --ignored --exact process::serves --nocapture"
                ),
            ])
            .arg(std::env::current_exe().unwrap())
            .env(ROLE, model.name())
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
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Server { child, stderr, address: format!("127.0.0.1:{port}").parse().unwrap() }
    }

    fn connect(&self) -> Client {
        Client::on(TcpStream::connect(self.address).unwrap())
    }

    /// Waits for a clean exit; returns the rest of standard error.
    fn stop(mut self, signal: Signal) -> String {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        assert!(self.child.wait().unwrap().success());
        let mut rest = String::new();
        self.stderr.read_to_string(&mut rest).unwrap();
        rest
    }
}

#[test]
fn stops_on_sigterm_and_sigint() {
    for model in Model::ALL {
        for signal in [Signal::TERM, Signal::INT] {
            let server = Server::start(model, 100);
            let mut ann = server.connect();
            ann.register("ann");
            assert_eq!(server.stop(signal), "");
            assert_eq!(ann.read_line(), None);
        }
    }
}

#[test]
fn without_room_for_more_it_serves_its_connections() {
    for model in Model::ALL {
        let mut server = Server::start(model, 30);
        let mut ann = server.connect();
        ann.register("ann");
        let mut others: Vec<_> = (0..40).map(|_| server.connect()).collect();
        let mut text = String::new();
        server.stderr.read_line(&mut text).unwrap();
        assert!(text.contains("the limit of open files is 30; raise it"), "{text}");
        ann.join("#a");
        // Connections that end make room for the last waiting ones.
        let mut last = others.pop().unwrap();
        drop(others);
        last.register("last");
        ann.ping();
        assert_eq!(server.stop(Signal::TERM), "");
    }
}
