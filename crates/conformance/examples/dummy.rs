//! A small chat server, correct except for one planted fault. The tests show that each check detects its own fault.
//!
//! `dummy FAULT…` listens on a free port of loopback, prints `port` and its number, and serves until it is killed.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use klatch_protocol::chat::{Flow, Identity, Outbox, ServerState, Session};

/// The planted fault, selected by the arguments.
#[derive(Clone, PartialEq)]
enum Fault {
    /// No fault at all.
    None,
    /// The speaker gets its own messages too.
    Echo,
    /// Two queued messages are sent in reverse order.
    Reorder,
    /// The text and the line end are separate writes.
    SplitWrites,
    /// Queued lines are combined into one write.
    Coalesce,
    /// Lines with this command are dropped.
    Drop(String),
    /// The end of input does not close the connection.
    IgnoreHalfClose,
    /// A speaker waits until each other member has read the message.
    WaitForSlowReaders,
    /// Two spaces in a text become one.
    Corrupt,
}

impl Fault {
    fn parse(words: &[String]) -> Option<Fault> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(match words[..] {
            ["none"] => Fault::None,
            ["echo"] => Fault::Echo,
            ["reorder"] => Fault::Reorder,
            ["split-writes"] => Fault::SplitWrites,
            ["coalesce"] => Fault::Coalesce,
            ["drop", command] => Fault::Drop(command.to_owned()),
            ["ignore-half-close"] => Fault::IgnoreHalfClose,
            ["wait-for-slow-readers"] => Fault::WaitForSlowReaders,
            ["corrupt"] => Fault::Corrupt,
            _ => return None,
        })
    }
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(fault) = Fault::parse(&words) else {
        eprintln!("no such fault: {words:?}");
        std::process::exit(2);
    };
    let server = ServerState::new(Identity {
        name: "klatch.dummy".into(),
        version: "dummy".into(),
        created: "today".into(),
        network: "Klatch".into(),
        motd: Vec::new(),
    });
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("port {}", listener.local_addr()?.port());
    for socket in listener.incoming() {
        let socket = socket?;
        socket.set_nodelay(true)?;
        let (lines, waiting) = channel();
        let writer = socket.try_clone()?;
        let at_writer = fault.clone();
        std::thread::spawn(move || write(writer, &waiting, &at_writer));
        let queue = SendQueue { lines, socket: Arc::new(socket.try_clone()?), fault: fault.clone() };
        let session = Session::new(&server, socket.peer_addr()?.ip(), queue.clone());
        let fault = fault.clone();
        std::thread::spawn(move || read(socket, session, &queue, &fault));
    }
    Ok(())
}

/// The lines for one connection, on their way to its writer thread.
#[derive(Clone)]
struct SendQueue {
    lines: Sender<Arc<[u8]>>,
    socket: Arc<TcpStream>,
    fault: Fault,
}

impl Outbox for SendQueue {
    fn send(&self, line: &Arc<[u8]>) {
        if let Fault::Drop(command) = &self.fault {
            let words = line.split(|&byte| matches!(byte, b' ' | b'\r')).take(2);
            if words.into_iter().any(|word| word == command.as_bytes()) {
                return;
            }
        }
        if self.fault == Fault::WaitForSlowReaders {
            // Blocks the speaker's thread.
            let _ = (&*self.socket).write_all(line);
            return;
        }
        let _ = self.lines.send(Arc::clone(line));
    }
}

fn is_message(line: &[u8]) -> bool {
    line.split(|&byte| byte == b' ').nth(1) == Some(b"PRIVMSG")
}

/// Reads from a client and feeds its session.
fn read(mut socket: TcpStream, mut session: Session<SendQueue>, queue: &SendQueue, fault: &Fault) {
    let mut buffer = [0; 4096];
    let mut nick = String::new();
    loop {
        let count = match socket.read(&mut buffer) {
            Ok(0) if *fault == Fault::IgnoreHalfClose => {
                // Like a server that waits for a write to fail.
                std::thread::park();
                continue;
            }
            Ok(0) => break session.hang_up(b"Connection closed"),
            Ok(count) => count,
            Err(_) => break session.hang_up(b"Connection reset"),
        };
        let input = &buffer[..count];
        if *fault == Fault::Echo {
            echo(&String::from_utf8_lossy(input), &mut nick, queue);
        }
        if session.feed(input) == Flow::Close {
            break;
        }
    }
    let _ = socket.shutdown(Shutdown::Read);
}

fn echo(input: &str, nick: &mut String, queue: &SendQueue) {
    for line in input.lines() {
        match line.split_once(' ') {
            Some(("NICK", name)) => *nick = name.trim_end().to_owned(),
            Some(("PRIVMSG", _)) => queue.send(&format!(":{nick}!x@y {line}\r\n").into_bytes().into()),
            _ => {}
        }
    }
}

/// Writes lines to a client, one write a line, until the session ends.
fn write(mut socket: TcpStream, lines: &Receiver<Arc<[u8]>>, fault: &Fault) {
    while let Ok(line) = lines.recv() {
        let next = lines.try_iter();
        let written = match fault {
            Fault::Coalesce => {
                let all: Vec<u8> = [line].into_iter().chain(next).flat_map(|line| line.to_vec()).collect();
                socket.write_all(&all)
            }
            Fault::SplitWrites if is_message(&line) => {
                let (text, end) = line.split_at(line.len() - 2);
                socket.write_all(text).and_then(|()| socket.write_all(end))
            }
            Fault::Reorder if is_message(&line) => match lines.try_recv() {
                Ok(second) => socket.write_all(&second).and_then(|()| socket.write_all(&line)),
                Err(_) => socket.write_all(&line),
            },
            Fault::Corrupt if is_message(&line) => {
                let text = String::from_utf8_lossy(&line).replace("  ", " ");
                socket.write_all(text.as_bytes())
            }
            _ => socket.write_all(&line),
        };
        if written.is_err() {
            return;
        }
    }
    let _ = socket.shutdown(Shutdown::Both);
}
