//! What a user of the machine can do to a server beyond its workload: reach no other port, give no order, and find no process of root.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::process::Command;
use std::time::Duration;

use crate::support::{NativeServer, children_of, is_tested, least, two_at_a_time};
use klatch_platforms::{
    Entry, PlatformListing, PlatformRequest, Processes, ResolvedPlatform, RunningDatabase, Server, Setting,
    TRANSPORT_KNOB, list, resolve,
};
use klatch_record::{
    OrdersWorkload, RrWorkload, TradeWorkload, Transport, WebWorkload, Workload, WorkloadKind,
};
use klatch_testing::{Need, needs};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const PATIENCE: Duration = Duration::from_secs(120);
const ANSWER: Duration = Duration::from_secs(40);

/// The workload with little to load, as the server can carry it.
fn workload(entry: &Entry, kind: WorkloadKind, database: &str) -> Workload {
    let database = Some(database.to_owned());
    match kind.usual() {
        Workload::Rr(rr) if entry.workloads[&kind].needs_url() => {
            Workload::Rr(RrWorkload { url: Some("/file_set/dir00000/class0_1".to_owned()), ..rr })
        }
        Workload::Web(web) => Workload::Web(WebWorkload { directories: 1, ..web }),
        Workload::Trade(trade) => Workload::Trade(TradeWorkload { users: 50, quotes: 40, database, ..trade }),
        Workload::Orders(orders) => Workload::Orders(OrdersWorkload { database, ..orders }),
        usual => usual,
    }
}

fn resolved(name: &str, workload: &Workload, transport: Option<Transport>) -> ResolvedPlatform {
    let setting =
        |kind: Transport| Setting { name: TRANSPORT_KNOB.to_owned(), value: kind.name().to_owned() };
    let request = PlatformRequest {
        name: Some(name.to_owned()),
        settings: transport.map(setting).into_iter().collect(),
        ..PlatformRequest::default()
    };
    resolve(&request, workload).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn started(platform: &ResolvedPlatform, all: &Processes) -> Server {
    Server::start(platform, LOOPBACK, all, PATIENCE).unwrap_or_else(|error| panic!("{error}"))
}

/// A server in chat on its first transport.
fn chat_server(name: &str, all: &Processes) -> Server {
    started(&resolved(name, &Workload::default(), None), all)
}

/// The process and its descendants.
fn tree(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut next = 0;
    while let Some(&parent) = all.get(next) {
        all.extend(children_of(parent).into_iter().map(|(pid, _)| pid));
        next += 1;
    }
    all
}

/// The ports on which these processes accept connections.
fn listening(pids: &[u32]) -> BTreeSet<u16> {
    let mut ports = BTreeMap::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let port = fields[1].rsplit(':').next().unwrap();
            // State 0A is LISTEN; field 9 is the inode of the socket.
            if fields[3] == "0A" {
                ports.insert(fields[9].to_owned(), u16::from_str_radix(port, 16).unwrap());
            }
        }
    }
    let descriptors = pids.iter().filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok());
    let links = descriptors.flatten().flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links
        .filter_map(|link| {
            let inode = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned();
            ports.get(&inode).copied()
        })
        .collect()
}

/// The user ids of a process: real, effective, saved and of the file system; `None` if it has ended.
fn user_ids(pid: u32) -> Option<Vec<String>> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    Some(line.split_whitespace().map(str::to_owned).collect())
}

/// The platforms that can run here, but for those whose program is Klatch's own, since this program is not. The others are reported.
fn present() -> Vec<(Entry, ResolvedPlatform)> {
    let mut present = Vec::new();
    let all = list(&PlatformRequest::default()).unwrap();
    for PlatformListing { entry, variants } in all.into_iter().filter(|one| is_tested(&one.entry.name)) {
        match variants.map(|all| all.into_iter().last()) {
            // One Java opens no other port than another one.
            Ok(Some(variant)) if entry.command[0] != "{klatch}" => present.push((entry, variant)),
            Ok(_) => {}
            Err(why) => klatch_testing::not_run(&entry.name, &why.to_string()),
        }
    }
    present
}

/// A server in one way to carry a workload.
struct Way {
    entry: Entry,
    name: String,
    workload: WorkloadKind,
    transport: Option<Transport>,
}

fn ways() -> Vec<Way> {
    let mut all = Vec::new();
    for (entry, variant) in present() {
        for &workload in entry.workloads.keys().filter(|kind| kind.has_server()) {
            let mut transports: Vec<Option<Transport>> = vec![None];
            if workload == WorkloadKind::Chat && !entry.transports.is_empty() {
                transports = entry.transports.keys().copied().map(Some).collect();
            }
            let way =
                |transport| Way { entry: entry.clone(), name: variant.name.clone(), workload, transport };
            all.extend(transports.into_iter().map(way));
        }
    }
    all
}

#[test]
fn every_server_listens_on_its_port_alone() {
    // Every platform, with what some have to fetch.
    needs!(Need::TestAll);
    let ways = ways();
    assert!(ways.len() >= least(30, 10), "only {} ways", ways.len());
    for workload in ["chat", "rr", "web"] {
        for model in ["threads", "epoll", "tokio", "uring"] {
            let server = NativeServer::start_with(&["--workload", workload, "--model", model]);
            let ports = listening(&[server.child.id()]);
            assert_eq!(ports, BTreeSet::from([server.address.port()]), "{model} {workload}");
        }
    }
    two_at_a_time(&ways, |way| {
        let Way { entry, name, workload: kind, transport } = way;
        let all = Processes::default();
        // Those that name databases do not have H2 in their process.
        let database = entry.workloads[kind].databases.first().map_or("h2", String::as_str);
        let workload = workload(entry, *kind, database);
        let platform = resolved(name, &workload, *transport);
        let database = RunningDatabase::start(&workload, None, &all, PATIENCE).unwrap();
        let platform = match &database {
            Some(database) => platform.with_database(&database.server_access),
            None => platform,
        };
        let server = started(&platform, &all);
        let mut ports = listening(&tree(server.pid));
        assert!(ports.remove(&server.address.port()), "{name} {kind}: {ports:?}");
        // NATS has a port of its own protocol beside that of the WebSocket, with the same rights.
        let others = usize::from(entry.name == "nats" && transport.is_some_and(Transport::has_websocket));
        assert_eq!(ports.len(), others, "{name} {kind} {transport:?} listens on {ports:?} too");
        if let Some(pid) = database.as_ref().and_then(RunningDatabase::pid) {
            assert_eq!(listening(&tree(pid)).len(), 1);
        }
    });
}

#[test]
fn servers_of_others_run_without_the_rights_of_root() {
    needs!(Need::Root);
    let mut checked = 0;
    for (entry, variant) in present() {
        let Some(user) = &entry.user else { continue };
        let kind = *entry.workloads.keys().next().unwrap();
        let all = Processes::default();
        let server = started(&resolved(&variant.name, &workload(&entry, kind, "h2"), None), &all);
        let expected = Command::new("id").args(["-u", user]).output().unwrap();
        let expected = String::from_utf8(expected.stdout).unwrap();
        let ids: Vec<Vec<String>> = tree(server.pid).into_iter().filter_map(user_ids).collect();
        assert!(!ids.is_empty(), "{} has ended", entry.name);
        ids.iter().for_each(|ids| assert_eq!(ids, &[expected.trim(); 4], "{} as {user}", entry.name));
        checked += 1;
    }
    assert!(checked >= least(8, 2), "only {checked} servers run as another user");
}

/// A connection of a protocol of lines.
struct Lines(BufReader<TcpStream>);

impl Lines {
    fn connect(server: &Server) -> Lines {
        let stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(ANSWER)).unwrap();
        Lines(BufReader::new(stream))
    }

    fn send(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.0.read_line(&mut line);
        // A server may reset the connection of a client that it does not like.
        assert!(
            read.is_ok() || read.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset),
            "no answer"
        );
        line
    }

    /// All lines until the first one with one of these words, or the end.
    fn until(&mut self, words: &[&str]) -> String {
        let mut all = String::new();
        loop {
            let line = self.line();
            all += &line;
            if line.is_empty() || words.iter().any(|word| line.contains(word)) {
                return all;
            }
        }
    }
}

#[test]
fn redis_does_nothing_but_carry_messages() {
    needs!(Need::Program("redis-server", "redis-server"));
    let all = Processes::default();
    let mut server = chat_server("redis", &all);
    for command in [
        "CONFIG SET dir /tmp",
        "CONFIG SET dbfilename klatch-written",
        "CONFIG GET requirepass",
        "SAVE",
        "BGSAVE",
        "BGREWRITEAOF",
        "SHUTDOWN NOSAVE",
        "DEBUG SEGFAULT",
        "MODULE LOAD /tmp/klatch.so",
        "REPLICAOF 127.0.0.1 1",
        "SLAVEOF 127.0.0.1 1",
        "FAILOVER",
        "SYNC",
        "PSYNC ? -1",
        "MIGRATE 127.0.0.1 1 a 0 1",
        "FLUSHALL",
        "SET a b",
        "EVAL \"return 1\" 0",
        "FUNCTION FLUSH",
        "SCRIPT FLUSH",
        "MONITOR",
        "CLIENT KILL TYPE normal",
        "CLIENT LIST",
        "ACL SETUSER default on nopass +@all",
        "ACL SAVE",
        "PSUBSCRIBE *",
        "LATENCY RESET",
        "SWAPDB 0 1",
        "KEYS *",
        "INFO",
    ] {
        let mut client = Lines::connect(&server);
        client.send(command);
        let reply = client.line();
        // DEBUG and MODULE are off before permissions are looked at.
        let off = reply.starts_with("-ERR") && reply.contains("command not allowed");
        assert!(reply.starts_with("-NOPERM") || off, "{command}: {reply:?}");
    }
    let mut client = Lines::connect(&server);
    client.send("PING");
    assert_eq!(client.line(), "+PONG\r\n");
    assert_eq!(server.ended(), None);
}

#[test]
fn irc_servers_have_no_operators_and_no_links() {
    needs!(Need::Program("ngircd", "ngircd"), Need::Program("inspircd", "inspircd"));
    let has_ergo = present().iter().any(|(entry, _)| entry.name == "ergo");
    for name in ["ngircd", "inspircd"].into_iter().chain(has_ergo.then_some("ergo")) {
        let all = Processes::default();
        let mut server = chat_server(name, &all);
        let register = |nick: &str| {
            let mut client = Lines::connect(&server);
            client.send(&format!("NICK {nick}"));
            client.send(&format!("USER {nick} 0 * :{nick}"));
            let replies = client.until(&[" 001 "]);
            assert!(replies.contains(" 001 "), "{name}: {replies}");
            client
        };
        let mut client = register("ann");
        // No O-line (491), a wrong password (464), no privileges (481), not enough parameters (461), and an unknown command (421).
        let refusals = [" 491 ", " 464 ", " 481 ", " 461 ", " 421 "];
        for order in
            ["DIE", "RESTART", "REHASH", "CONNECT 127.0.0.1 1", "KILL ann :bye", "OPER root password"]
        {
            client.send(order);
            let replies = client.until(&refusals);
            assert!(refusals.iter().any(|refusal| replies.contains(refusal)), "{name}: {order}: {replies}");
        }
        // As another server.
        let mut link = Lines::connect(&server);
        link.send("PASS link 0210-IRC+ klatch|1");
        link.send("CAPAB START 1202");
        link.send("SERVER other.localhost link 0 2KL :other");
        let replies = link.until(&["ERROR", " 451 ", " 461 ", " 421 ", "SERVER klatch"]);
        assert!(!replies.is_empty() && !replies.contains("SERVER klatch"), "{name}: {replies}");
        register("bob");
        assert_eq!(server.ended(), None, "{name}");
    }
}

#[test]
fn nats_has_no_system_account_for_clients() {
    needs!(Need::Program("nats-server", "nats-server"));
    let all = Processes::default();
    let mut server = chat_server("nats", &all);
    let mut client = Lines::connect(&server);
    client.send(r#"CONNECT {"verbose":false,"pedantic":false}"#);
    client.send("SUB klatch.reply 1");
    client.send("SUB $SYS.> 2");
    for subject in
        ["SERVER.PING", "SERVER.PING.VARZ", "SERVER.PING.CONNZ", "ACCOUNT.PING.CONNZ", "CLAIMS.LIST"]
    {
        client.send(&format!("PUB $SYS.REQ.{subject} klatch.reply 0\r\n"));
    }
    // The last message comes back after whatever came before it.
    client.send("PUB klatch.reply 4\r\nlast");
    let replies = client.until(&["last"]);
    let messages = replies.lines().filter(|line| line.starts_with("MSG klatch.reply "));
    assert_eq!(messages.count(), 1, "{replies}");
    assert_eq!(server.ended(), None);
}

#[test]
fn mosquitto_answers_no_control_topic() {
    needs!(Need::Program("mosquitto", "mosquitto"));
    let all = Processes::default();
    let mut server = chat_server("mosquitto", &all);
    let mut client = TcpStream::connect(server.address).unwrap();
    client.set_read_timeout(Some(ANSWER)).unwrap();
    let mut send = |bytes: &[u8]| client.write_all(bytes).unwrap();
    // MQTT 3.1.1: CONNECT, SUBSCRIBE to the control topics, an order that would add a user, and PINGREQ.
    send(b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a");
    let topic = |topic: &str| [&(topic.len() as u16).to_be_bytes()[..], topic.as_bytes()].concat();
    let packet = |kind: u8, body: &[u8]| [&[kind, body.len() as u8][..], body].concat();
    send(&packet(0x82, &[&b"\x00\x01"[..], &topic("$CONTROL/#"), b"\x00"].concat()));
    let order = br#"{"commands":[{"command":"listClients"}]}"#;
    send(&packet(0x30, &[&topic("$CONTROL/dynamic-security/v1")[..], order].concat()));
    send(b"\xc0\x00");
    let mut replies = Vec::new();
    while !replies.ends_with(b"\xd0\x00") {
        let mut bytes = [0; 256];
        let count = client.read(&mut bytes).unwrap();
        assert!(count > 0, "closed after {replies:?}");
        replies.extend_from_slice(&bytes[..count]);
    }
    assert!(!replies.windows(8).any(|part| part == b"response"), "{replies:?}");
    assert_eq!(server.ended(), None);
}
