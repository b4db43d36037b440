//! A server that misbehaves: between a crowd and an honest server, it spoils what one user hears.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What it does to the connection that hears too much or too little. Deliveries are counted from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mischief {
    None,
    /// Keeps one delivery.
    Lose {
        delivery: usize,
    },
    /// Gives one delivery twice.
    Repeat {
        delivery: usize,
    },
    /// Gives a delivery after the next one of the same speaker.
    Swap {
        delivery: usize,
    },
    /// Changes one byte of the text of a delivery.
    Alter {
        delivery: usize,
    },
    /// Closes the connection instead of a delivery.
    Close {
        delivery: usize,
    },
    /// Says nothing any more from a delivery on.
    FallSilent {
        delivery: usize,
    },
    /// Refuses the nick instead of welcoming.
    RefuseNick,
    /// Tells the speaker its own message.
    Echo,
}

/// Which connection it is done to, in the order of joining: user 3 of the first room.
const VICTIM: usize = 3;

/// Stands in front of `server` and gives the address to talk to. Ends with the test program.
pub(crate) fn in_front_of(server: SocketAddr, mischief: Mischief) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            let mischief = if number == VICTIM { mischief } else { Mischief::None };
            let client = client.unwrap();
            let server = TcpStream::connect(server).unwrap();
            let (to_client, from_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || relay(client, server, mischief));
            std::thread::spawn(move || spoil(from_server, to_client, mischief));
        }
    });
    address
}

/// From the user to the server.
fn relay(client: TcpStream, mut server: TcpStream, mischief: Mischief) {
    let mut echo = client.try_clone().unwrap();
    for line in BufReader::new(client).split(b'\n').map_while(Result::ok) {
        if let (Mischief::Echo, Some(said)) = (mischief, line.strip_prefix(b"PRIVMSG ")) {
            let own = format!(":r1u{VICTIM}!x@y PRIVMSG ");
            let _ = echo.write_all(&[own.as_bytes(), said, b"\n"].concat());
        }
        if server.write_all(&[&line[..], b"\n"].concat()).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

/// From the server to the user, with the mischief.
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
