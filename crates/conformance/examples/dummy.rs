//! A small chat server, right but for one planted fault, so that the tests can show that each check finds its own.
//!
//! `dummy FAULT…` listens on a free port of loopback, prints `port` and its number, and serves until it is killed.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use klatch_chat::{Flow, Identity, Outbox, ServerState, Session};

/// What is wrong with the server.
#[derive(Clone, PartialEq)]
enum Fault {
    /// Nothing.
    None,
    /// The speaker gets its own messages too.
    Echo,
    /// Where two messages wait, the second goes first.
    Disorder,
    /// The text and the end of a line are two writes.
    SplitWrites,
    /// What waits is put into one write.
    Coalesce,
    /// Lines with this command are never sent.
    Lose(String),
    /// The end of input is no end.
    DeafToHalfClose,
    /// Whoever speaks waits until each of the others has taken the message.
    WaitForSlowReaders,
    /// In the texts, two blanks become one.
    Alter,
}

impl Fault {
    fn of(words: &[String]) -> Option<Fault> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Some(match words[..] {
            ["none"] => Fault::None,
            ["echo"] => Fault::Echo,
            ["disorder"] => Fault::Disorder,
            ["split-writes"] => Fault::SplitWrites,
            ["coalesce"] => Fault::Coalesce,
            ["lose", command] => Fault::Lose(command.to_owned()),
            ["deaf-to-half-close"] => Fault::DeafToHalfClose,
            ["wait-for-slow-readers"] => Fault::WaitForSlowReaders,
            ["alter"] => Fault::Alter,
            _ => return None,
        })
    }
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some(fault) = Fault::of(&words) else {
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
        let way_out = WayOut { lines, socket: Arc::new(socket.try_clone()?), fault: fault.clone() };
        let session = Session::new(&server, socket.peer_addr()?.ip(), way_out.clone());
        let fault = fault.clone();
        std::thread::spawn(move || read(socket, session, &way_out, &fault));
    }
    Ok(())
}

/// The lines for one connection, on their way to its writing thread.
#[derive(Clone)]
struct WayOut {
    lines: Sender<Arc<[u8]>>,
    socket: Arc<TcpStream>,
    fault: Fault,
}

impl Outbox for WayOut {
    fn send(&self, line: &Arc<[u8]>) {
        if let Fault::Lose(command) = &self.fault {
            let words = line.split(|&byte| matches!(byte, b' ' | b'\r')).take(2);
            if words.into_iter().any(|word| word == command.as_bytes()) {
                return;
            }
        }
        if self.fault == Fault::WaitForSlowReaders {
            // On the thread of whoever speaks, who waits as well.
            let _ = (&*self.socket).write_all(line);
            return;
        }
        let _ = self.lines.send(Arc::clone(line));
    }
}

fn is_message(line: &[u8]) -> bool {
    line.split(|&byte| byte == b' ').nth(1) == Some(b"PRIVMSG")
}

/// From the client to the server.
fn read(mut socket: TcpStream, mut session: Session<WayOut>, way_out: &WayOut, fault: &Fault) {
    let mut buffer = [0; 4096];
    let mut nick = String::new();
    loop {
        let count = match socket.read(&mut buffer) {
            Ok(0) if *fault == Fault::DeafToHalfClose => {
                // As one that waits for a write to fail.
                std::thread::park();
                continue;
            }
            Ok(0) => break session.hang_up(b"Connection closed"),
            Ok(count) => count,
            Err(_) => break session.hang_up(b"Connection reset"),
        };
        let said = &buffer[..count];
        if *fault == Fault::Echo {
            echo(&String::from_utf8_lossy(said), &mut nick, way_out);
        }
        if session.feed(said) == Flow::Close {
            break;
        }
    }
    let _ = socket.shutdown(Shutdown::Read);
}

fn echo(said: &str, nick: &mut String, way_out: &WayOut) {
    for line in said.lines() {
        match line.split_once(' ') {
            Some(("NICK", name)) => *nick = name.trim_end().to_owned(),
            Some(("PRIVMSG", _)) => way_out.send(&format!(":{nick}!x@y {line}\r\n").into_bytes().into()),
            _ => {}
        }
    }
}

/// From the server to the client, one write a line. Ends when the session is gone.
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
            Fault::Disorder if is_message(&line) => match lines.try_recv() {
                Ok(second) => socket.write_all(&second).and_then(|()| socket.write_all(&line)),
                Err(_) => socket.write_all(&line),
            },
            Fault::Alter if is_message(&line) => {
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
