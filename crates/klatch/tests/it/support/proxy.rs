//! A faulty server: a proxy in front of a correct server that corrupts the stream to one user.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fault to inject into one connection. Deliveries are counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mischief {
    None,
    /// Drops one delivery on its way to the user.
    Lose {
        delivery: usize,
    },
    /// Sends one delivery twice.
    Repeat {
        delivery: usize,
    },
    /// Sends a delivery after the next one of the same sender.
    Swap {
        delivery: usize,
    },
    /// Changes one byte in the text of a delivery.
    Alter {
        delivery: usize,
    },
    /// Closes the connection instead of a delivery.
    Close {
        delivery: usize,
    },
    /// Sends nothing more from a delivery on.
    FallSilent {
        delivery: usize,
    },
    /// Refuses the nick instead of sending the welcome.
    RefuseNick,
    /// Echoes a message to its own sender.
    Echo,
}

/// The affected connection, in the order of joining: user 3 of the first room.
const VICTIM: usize = 3;

/// Starts a proxy in front of `server` and returns its address. It ends with the test program.
pub(crate) fn in_front_of(server: SocketAddr, mischief: Mischief) -> SocketAddr {
    in_front_of_one(server, VICTIM, mischief)
}

/// The same with another affected connection, counted from 0.
pub(crate) fn in_front_of_one(server: SocketAddr, victim: usize, mischief: Mischief) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            let mischief = if number == victim { mischief } else { Mischief::None };
            let client = client.unwrap();
            let server = TcpStream::connect(server).unwrap();
            let (to_client, from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || relay(client, server, mischief));
            std::thread::spawn(move || spoil(from_server, to_client, mischief));
        }
    });
    address
}

/// Forwards from the user to the server.
fn relay(client: TcpStream, mut server: TcpStream, mischief: Mischief) {
    let mut echo = client.try_clone().unwrap();
    for line in BufReader::new(client).split(b'\n').map_while(Result::ok) {
        if let (Mischief::Echo, Some(finished)) = (mischief, line.strip_prefix(b"PRIVMSG ")) {
            let own = format!(":r1u{VICTIM}!x@y PRIVMSG ");
            let _ = echo.write_all(&[own.as_bytes(), finished, b"\n"].concat());
        }
        if server.write_all(&[&line[..], b"\n"].concat()).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

/// Forwards from the server to the user, with the fault.
fn spoil(server: TcpStream, mut client: TcpStream, mischief: Mischief) {
    let (mut deliveries, mut held) = (0, None::<String>);
    for line in BufReader::new(server).lines().map_while(Result::ok) {
        let mut lines = vec![line.clone()];
        if line.contains(" PRIVMSG ") {
            deliveries += 1;
            match mischief {
                Mischief::Lose { delivery } if deliveries == delivery => lines.clear(),
                Mischief::Repeat { delivery } if deliveries == delivery => lines.push(line.clone()),
                Mischief::Alter { delivery } if deliveries == delivery => lines = vec![line.clone() + "!"],
                Mischief::Close { delivery } if deliveries == delivery => break,
                Mischief::FallSilent { delivery } if deliveries >= delivery => lines.clear(),
                Mischief::Swap { delivery } if deliveries == delivery => held = lines.pop(),
                _ => {}
            }
            let speaker = |line: &str| line.split('!').next().map(str::to_owned);
            if let Some(earlier) = held.take() {
                if !lines.is_empty() && speaker(&earlier) == speaker(&line) {
                    lines.push(earlier);
                } else {
                    held = Some(earlier);
                }
            }
        } else if matches!(mischief, Mischief::RefuseNick) && line.contains(" 001 ") {
            lines = vec![":srv 433 * r1u3 :Nickname is already in use".to_owned()];
        }
        for line in lines {
            if client.write_all(format!("{line}\r\n").as_bytes()).is_err() {
                return;
            }
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}
