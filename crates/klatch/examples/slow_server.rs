//! A server that wastes CPU time on every line that it sends: the planted slow-down that a duet must show, and explain.
//! Usage: `slow_server ADDRESS CAUSE`, where CAUSE is nanoseconds to burn, or one of `call`, `text` and `lock`.
//! `tests/it/alone/planted.rs` makes platforms of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};

/// Writes at once. A crowd always reads, so the write does not block for long.
#[derive(Clone)]
struct Burning {
    stream: Arc<TcpStream>,
    cause: Cause,
}

/// What wastes the time.
#[derive(Clone, Copy)]
enum Cause {
    Burn(Duration),
    /// System calls that nothing needs.
    Call,
    /// Texts that nobody reads.
    Text,
    /// All connections write one at a time.
    Lock,
}

impl Cause {
    fn parse(text: &str) -> Cause {
        match text {
            "call" => Cause::Call,
            "text" => Cause::Text,
            "lock" => Cause::Lock,
            ns => Cause::Burn(Duration::from_nanos(ns.parse().expect("CAUSE is a word or a number of ns"))),
        }
    }
}

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[inline(never)]
fn format_what_nobody_reads(line: &[u8]) {
    for byte in line.iter().take(8) {
        std::hint::black_box(format!("{byte:>10.3}", byte = f64::from(*byte)));
    }
}

impl Outbox for Burning {
    fn send(&self, line: &Arc<[u8]>) {
        let mut guard = None;
        match self.cause {
            Cause::Burn(time) => {
                let begun = Instant::now();
                while begun.elapsed() < time {
                    std::hint::spin_loop();
                }
            }
            Cause::Call => (0..4).for_each(|_| drop(std::hint::black_box(self.stream.peer_addr()))),
            Cause::Text => format_what_nobody_reads(line),
            Cause::Lock => guard = Some(ONE_AT_A_TIME.lock()),
        }
        // The reader of that connection handles a disconnect.
        let _ = (&*self.stream).write_all(line);
        drop(guard);
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, cause] = arguments.as_slice() else { panic!("usage: slow_server ADDRESS CAUSE") };
    let cause = Cause::parse(cause);
    let listener = TcpListener::bind(address)?;
    let (host, port) = (listener.local_addr()?.ip(), listener.local_addr()?.port());
    let pid = std::process::id();
    println!(
        r#"{{"event":"ready","host":"{host}","port":{port},"pid":{pid},"model":"slow","class":"classic"}}"#
    );
    let word = |word: &str| word.to_owned();
    let server = ServerState::new(Identity {
        name: word("slow.localhost"),
        version: word("slow-1"),
        created: word("now"),
        network: word("Slow"),
        motd: Vec::new(),
    });
    for stream in listener.incoming() {
        let stream = stream?;
        stream.set_nodelay(true)?;
        let server = Arc::clone(&server);
        std::thread::spawn(move || serve(&server, stream, cause));
    }
    Ok(())
}

fn serve(server: &Arc<ServerState<Burning>>, mut stream: TcpStream, cause: Cause) -> std::io::Result<()> {
    let outbox = Burning { stream: Arc::new(stream.try_clone()?), cause };
    let mut session = Session::new(server, stream.peer_addr()?.ip(), outbox);
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 || session.feed(&buffer[..read]) == Flow::Close {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
}
