//! Every model over real sockets.

mod attacks;
mod echo;
mod running;
mod tls;
mod websocket;

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use crate::client::Client;
use klatch_server::{Model, ServeOptions, serve};
use running::Running;
use rustix::net::{AddressFamily, SocketType, socket, sockopt};

/// Every model as it is by default, and every way of serving that a knob makes of it.
fn every_server() -> Vec<ServeOptions> {
    let plain = |model| ServeOptions { model, ..ServeOptions::default() };
    let mut servers: Vec<_> = Model::ALL.map(plain).into();
    servers.push(ServeOptions { yields: true, ..plain(Model::Threads) });
    for model in [Model::Epoll, Model::Uring, Model::Tokio] {
        let coalesce = ServeOptions { coalesce: true, nodelay: false, ..plain(model) };
        servers.push(coalesce.clone());
        servers.push(ServeOptions { loops: Some(3), ..plain(model) });
        servers.push(ServeOptions { loops: Some(3), ..coalesce });
    }
    servers
}

#[test]
fn users_join_talk_and_leave() {
    for options in every_server() {
        let server = Running::start(options);
        let (mut ann, mut bob) = (server.user("ann"), server.user("bob"));
        ann.join("#a");
        bob.join("#a");
        assert_eq!(ann.read_line().unwrap(), ":bob!bob@127.0.0.1 JOIN #a");
        ann.send("PRIVMSG #a :hello");
        assert_eq!(bob.read_line().unwrap(), ":ann!ann@127.0.0.1 PRIVMSG #a :hello");
        bob.send("QUIT :bye");
        assert_eq!(bob.read_line().unwrap(), "ERROR :Closing link: (Quit: bye)");
        assert_eq!(bob.read_line(), None);
        assert_eq!(ann.read_line().unwrap(), ":bob!bob@127.0.0.1 QUIT :Quit: bye");
        server.stop();
    }
}

#[test]
fn everybody_gets_everything_in_order() {
    const USERS: usize = 8;
    const MESSAGES: usize = 500;
    for options in every_server() {
        let server = Running::start(options);
        let mut users: Vec<_> = (0..USERS).map(|user| server.user(&format!("u{user}"))).collect();
        users.iter_mut().for_each(|user| user.join("#a"));
        users.iter_mut().for_each(Client::ping);
        std::thread::scope(|scope| {
            for (me, user) in users.iter().enumerate() {
                let mut mouth = user.socket.try_clone().unwrap();
                scope.spawn(move || {
                    for number in 0..MESSAGES {
                        write!(mouth, "PRIVMSG #a :{me} {number}\r\n").unwrap();
                    }
                });
            }
            for user in &mut users {
                scope.spawn(|| {
                    let mut next = [0; USERS];
                    for _ in 0..MESSAGES * (USERS - 1) {
                        let line = user.read_until(" PRIVMSG #a :");
                        let text = line.rsplit_once(':').unwrap().1;
                        let (speaker, number) = text.split_once(' ').unwrap();
                        let next = &mut next[speaker.parse::<usize>().unwrap()];
                        assert_eq!(number.parse::<usize>().unwrap(), *next);
                        *next += 1;
                    }
                });
            }
        });
        server.stop();
    }
}

#[test]
fn a_slow_reader_is_closed_and_nobody_else_notices() {
    for options in every_server() {
        let server = Running::start(ServeOptions { sendq_bytes: 64 * 1024, ..options });
        let small = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_socket_recv_buffer_size(&small, 4096).unwrap();
        rustix::net::connect(&small, &server.address).unwrap();
        let mut slow = Client::on(TcpStream::from(small));
        slow.register("slow");
        slow.join("#a");
        let (mut talker, mut listener) = (server.user("talker"), server.user("listener"));
        talker.join("#a");
        listener.join("#a");

        let text = "x".repeat(400);
        // The listener is never far behind, so it is not slow itself.
        let (follow, followed) = mpsc::channel();
        std::thread::scope(|scope| {
            let talker = &mut talker;
            let text = &text;
            scope.spawn(move || {
                let mut number = 0;
                while followed.recv().is_ok() {
                    talker.send(&format!("PRIVMSG #a :{number} {text}"));
                    number += 1;
                }
                talker.send("PRIVMSG #a :end");
            });
            follow.send(()).unwrap();
            let mut follow = Some(follow);
            let mut next = 0;
            loop {
                let line = listener.read_line().unwrap();
                if line.contains(" QUIT ") {
                    assert_eq!(line, ":slow!slow@127.0.0.1 QUIT :SendQ exceeded");
                    follow = None;
                } else if line.ends_with(" PRIVMSG #a :end") {
                    break;
                } else if line.contains(" PRIVMSG #a ") {
                    assert_eq!(line, format!(":talker!talker@127.0.0.1 PRIVMSG #a :{next} {text}"));
                    next += 1;
                    if let Some(follow) = &follow {
                        follow.send(()).unwrap();
                    }
                }
            }
        });
        let last = slow.read_until("ERROR ");
        assert_eq!(last, "ERROR :Closing link: (SendQ exceeded)");
        assert_eq!(slow.read_line(), None);
        server.stop();
    }
}

#[test]
fn unregistered_connections_are_limited() {
    for options in every_server() {
        let server = Running::start(ServeOptions { half_open_max: 10, ..options });
        let mut ann = server.user("ann");
        let mut idle: Vec<_> = (0..10).map(|_| server.connect()).collect();
        idle.iter_mut().for_each(Client::ping);
        for _ in 0..100 {
            let mut refused = server.connect();
            assert_eq!(refused.read_line().unwrap(), "ERROR :Too many unregistered connections");
            assert_eq!(refused.read_line(), None);
        }
        ann.ping();
        // a registered connection makes room for another
        idle[0].register("bob");
        idle[0].ping();
        let mut another = server.connect();
        another.ping();
        // and so does a closed one
        another.send("QUIT");
        another.read_until("ERROR");
        assert_eq!(another.read_line(), None);
        server.user("cid").ping();
        server.stop();
    }
}

#[test]
fn registration_has_a_limited_time() {
    for options in every_server() {
        let server = Running::start(ServeOptions { registration_timeout_s: 1, ..options });
        let mut ann = server.user("ann");
        let (mut silent, mut half) = (server.connect(), server.connect());
        half.send("NICK half\r\nCAP LS");
        half.read_until("CAP");
        for late in [&mut silent, &mut half] {
            assert_eq!(late.read_line().unwrap(), "ERROR :Closing link: (Registration timed out)");
            assert_eq!(late.read_line(), None);
        }
        ann.ping();
        server.user("half").ping();
        server.stop();
    }
}

#[test]
fn a_reset_is_seen_as_a_quit() {
    for options in every_server() {
        let server = Running::start(options);
        let (mut ann, mut bob) = (server.user("ann"), server.user("bob"));
        ann.join("#a");
        bob.join("#a");
        sockopt::set_socket_linger(&bob.socket, Some(Duration::ZERO)).unwrap();
        drop(bob);
        assert_eq!(ann.read_until(" QUIT "), ":bob!bob@127.0.0.1 QUIT :Connection reset");
        ann.ping();
        server.stop();
    }
}

#[test]
fn a_client_that_closes_after_its_command_still_gets_the_answer() {
    for options in every_server() {
        let server = Running::start(options);
        let mut users = ["ann", "bob", "cat"].map(|nick| server.user(nick));
        users.iter_mut().for_each(|user| user.join("#a"));
        let [_, _, cat] = &mut users;
        cat.send("QUIT :bye");
        cat.socket.shutdown(Shutdown::Write).unwrap();
        assert_eq!(cat.read_until("ERROR "), "ERROR :Closing link: (Quit: bye)");
        server.stop();
    }
}

#[test]
fn a_thousand_connections_open_and_close() {
    for options in every_server() {
        let server = Running::start(options);
        let mut ann = server.user("ann");
        for number in 0..1000 {
            let mut guest = server.connect();
            guest.send(&format!("NICK g{number}\r\nUSER g 0 * :g\r\nJOIN #g{number}"));
        }
        // The last of them is gone when it is not on any more.
        loop {
            ann.send("LUSERS");
            if ann.read_until(" 251 ").contains("0 users and 1 invisible")
                && ann.read_until(" 254 ").contains(" 0 ")
            {
                break;
            }
        }
        server.stop();
    }
}

#[test]
fn bytes_after_a_nul_affect_no_other_client() {
    for options in every_server() {
        let server = Running::start(options);
        let (mut ann, mut bob) = (server.user("ann"), server.user("bob"));
        ann.join("#a");
        bob.join("#a");
        bob.send("PRIVMSG #a :\0");
        assert_eq!(bob.read_until("ERROR"), "ERROR :Closing link: (NUL in input)");
        assert_eq!(ann.read_until("QUIT"), ":bob!bob@127.0.0.1 QUIT :NUL in input");
        ann.ping();
        server.stop();
    }
}

#[test]
fn a_port_in_use_is_reported() {
    let server = Running::start(ServeOptions::default());
    let error =
        serve(&ServeOptions { listen: server.address.to_string(), ..ServeOptions::default() }).unwrap_err();
    let expected = format!(
        "cannot listen on {}: address already in use; stop the other program or choose another port",
        server.address
    );
    assert_eq!(error.to_string(), expected);
    server.stop();
}

#[test]
fn an_invalid_address_is_reported() {
    for listen in ["nonsense", "127.0.0.1", "127.0.0.1:99999"] {
        let error = serve(&ServeOptions { listen: listen.into(), ..ServeOptions::default() }).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with(&format!("cannot listen on {listen}: ")), "{text}");
        assert!(text.ends_with("; give an address and a port, like 127.0.0.1:6667"), "{text}");
    }
    let error =
        serve(&ServeOptions { listen: "192.0.2.1:6667".into(), ..ServeOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("this machine does not have that address"), "{error}");
}
