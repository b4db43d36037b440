//! A server that wastes CPU time on every line that it sends: the planted slow-down that a duet must show, and explain.
//! Usage: `slow_server ADDRESS CAUSE`, where CAUSE is `none`, `half`, `call` or `text`.
//! `tests/it/alone/planted.rs` makes platforms of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};
use rustix::time::{ClockId, clock_gettime};

/// Writes at once. A crowd always reads, so the write does not block for long.
#[derive(Clone)]
struct Burning {
    stream: Arc<TcpStream>,
    cause: Cause,
}

/// What wastes the time.
#[derive(Clone, Copy)]
enum Cause {
    None,
    /// Half of the CPU time that the write took, so that a machine that becomes slower slows this as much.
    Half,
    /// System calls that nothing needs.
    Call,
    /// Texts that nobody reads.
    Text,
}

impl Cause {
    fn parse(text: &str) -> Cause {
        match text {
            "none" => Cause::None,
            "half" => Cause::Half,
            "call" => Cause::Call,
            "text" => Cause::Text,
            other => panic!("there is no cause {other}"),
        }
    }
}

/// So many for each line that they are what differs most, whatever else the machine does.
const CALLS: usize = 20;
const TEXTS: usize = 40;

#[inline(never)]
fn format_what_nobody_reads(line: &[u8]) {
    for byte in line.iter().cycle().take(TEXTS) {
        std::hint::black_box(format!("{byte:>10.3}", byte = f64::from(*byte)));
    }
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

impl Outbox for Burning {
    fn send(&self, line: &Arc<[u8]>) {
        let mut before_write = None;
        match self.cause {
            Cause::None => {}
            Cause::Half => before_write = Some(cpu_time()),
            Cause::Call => (0..CALLS).for_each(|_| drop(std::hint::black_box(self.stream.peer_addr()))),
            Cause::Text => format_what_nobody_reads(line),
        }
        // The reader of that connection handles a disconnect.
        let _ = (&*self.stream).write_all(line);
        if let Some(before) = before_write {
            let after = cpu_time();
            let end = after + (after - before) / 2;
            while cpu_time() < end {}
        }
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
