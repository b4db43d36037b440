//! A server that burns CPU time on every line that it sends: the planted slow-down that `klatch compare` must show.
//! Usage: `slow_server ADDRESS BURN_NS`. `tests/it/alone/planted.rs` makes a platform of it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};

/// Writes at once. A crowd always reads, so the write does not block for long.
#[derive(Clone)]
struct Burning {
    stream: Arc<TcpStream>,
    burn: Duration,
}

impl Outbox for Burning {
    fn send(&self, line: &Arc<[u8]>) {
        let begun = Instant::now();
        while begun.elapsed() < self.burn {
            std::hint::spin_loop();
        }
        // The reader of that connection handles a disconnect.
        let _ = (&*self.stream).write_all(line);
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, burn_ns] = arguments.as_slice() else { panic!("usage: slow_server ADDRESS BURN_NS") };
    let burn = Duration::from_nanos(burn_ns.parse().expect("BURN_NS is a number"));
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
        std::thread::spawn(move || serve(&server, stream, burn));
    }
    Ok(())
}

fn serve(server: &Arc<ServerState<Burning>>, mut stream: TcpStream, burn: Duration) -> std::io::Result<()> {
    let outbox = Burning { stream: Arc::new(stream.try_clone()?), burn };
    let mut session = Session::new(server, stream.peer_addr()?.ip(), outbox);
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer)?;
        if read == 0 || session.feed(&buffer[..read]) == Flow::Close {
            return stream.shutdown(std::net::Shutdown::Both);
        }
    }
}
