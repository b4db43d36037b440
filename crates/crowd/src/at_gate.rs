//! Waits at a gate: one connection more, in room 0 of the server under test.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use klatch_record::{Failure, FailureKind, Gate};

use crate::gate::{Presence, REPEAT_NS, Then};
use crate::links::connect_any;
use crate::options::Options;
use crate::protocol::{News, Protocol, Seat};
use crate::shared::{Notice, Phase, Shared};

/// The room in which shards meet; crowds begin at 1.
const ROOM: u32 = 0;
/// Users of that room are numbered by their shard's first room.
const USERS: u32 = 65_536;
/// How long nothing may be heard before the clock is looked at.
const TICK: Duration = Duration::from_millis(200);
/// How long a server may take to close the connection of who has left.
const LEAVE: Duration = Duration::from_secs(2);

/// Waits on a thread of its own. What comes of it is sent as a notice.
pub(crate) fn wait<W: Protocol>(
    options: &Options,
    gate: Gate,
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
    notices: Sender<Notice>,
) -> std::io::Result<()> {
    let (start, rooms) = (options.workload.start, options.workload.rooms);
    let (timeout, connect_timeout) = (options.gate_timeout, options.connect_timeout);
    std::thread::Builder::new().name("gate".to_owned()).spawn(move || {
        let presence = Presence::new(gate, start, rooms);
        let protocol = W::new(Seat { room: ROOM, user: start, users: USERS });
        let stream = match connect_any(&addresses, connect_timeout) {
            Ok(stream) => stream,
            Err(error) => return fail(&notices, FailureKind::Join, format!("cannot connect: {error}")),
        };
        let mut visitor = Visitor { protocol, stream, presence, shared, notices, out: Vec::new(), told: 0 };
        match visitor.until_open(timeout) {
            Ok(true) => {
                // Whoever steers is told first: the clock runs.
                let _ = visitor.notices.send(Notice::Go);
                visitor.leave();
            }
            Ok(false) => {}
            Err((kind, detail)) => fail(&visitor.notices, kind, detail),
        }
    })?;
    Ok(())
}

fn fail(notices: &Sender<Notice>, kind: FailureKind, detail: String) {
    let failure = Failure { kind, room: None, user: None, detail: format!("the gate: {detail}") };
    // A crowd that has ended needs no gate.
    let _ = notices.send(Notice::Failed(failure));
}

struct Visitor<W> {
    protocol: W,
    stream: TcpStream,
    presence: Presence,
    shared: Arc<Shared>,
    notices: Sender<Notice>,
    out: Vec<u8>,
    /// How many were said to be here.
    told: usize,
}

impl<W: Protocol> Visitor<W> {
    /// Whether the gate opened; not, if the crowd stops before.
    fn until_open(&mut self, timeout: Duration) -> Result<bool, (FailureKind, String)> {
        let broke =
            |error: std::io::Error| (FailureKind::Disconnect, format!("the connection broke: {error}"));
        self.stream.set_nodelay(true).and(self.stream.set_read_timeout(Some(TICK))).map_err(broke)?;
        self.protocol.hello(&mut self.out);
        let deadline = Instant::now() + timeout;
        let (mut joined, mut said_ns) = (false, 0);
        let (mut input, mut buffer) = (Vec::new(), [0; 4096]);
        while self.shared.phase() == Phase::Join {
            let now_ns = self.shared.now_ns();
            if joined && self.presence.must_open(now_ns) {
                self.say(self.presence.open());
                self.flush().map_err(broke)?;
                return Ok(true);
            }
            if joined && now_ns - said_ns >= REPEAT_NS {
                self.say(self.presence.here());
                said_ns = now_ns;
            }
            self.tell(now_ns);
            if Instant::now() >= deadline {
                let who = self.presence.who(now_ns);
                return Err((FailureKind::Timeout, format!("after {} s {who}", timeout.as_secs_f64())));
            }
            self.flush().map_err(broke)?;
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err((FailureKind::Disconnect, "the server closed the connection".into())),
                Ok(bytes) => input.extend_from_slice(&buffer[..bytes]),
                Err(error) if is_no_news(&error) => continue,
                Err(error) => return Err(broke(error)),
            }
            let mut taken = 0;
            while let Some((bytes, news)) = self.protocol.hear(&input[taken..], &mut self.out) {
                taken += bytes;
                let then = match news {
                    News::Joined => {
                        joined = true;
                        Then::Answer
                    }
                    News::Said(_, text) => self.presence.hear(text, now_ns),
                    News::Refused(line) | News::Closing(line) => {
                        let line = String::from_utf8_lossy(line);
                        return Err((FailureKind::Join, format!("the server said: {line}")));
                    }
                    News::Stranger(_) | News::Nothing => Then::Wait,
                };
                match then {
                    Then::Go => return Ok(true),
                    Then::Answer => (said_ns, _) = (now_ns, self.say(self.presence.here())),
                    Then::Wait => {}
                }
            }
            input.drain(..taken);
        }
        Ok(false)
    }

    fn say(&mut self, line: String) {
        self.protocol.say(&mut self.out, line.len(), |out| out.extend_from_slice(line.as_bytes()));
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Tells how many are here, when it is another number than before.
    fn tell(&mut self, now_ns: u64) {
        let here = self.presence.count(now_ns);
        if here != self.told {
            self.told = here;
            let _ = self.notices.send(Notice::Here(here as u32));
        }
    }

    /// Listens to the end, so that what was said last is delivered.
    fn leave(mut self) {
        self.protocol.bye(&mut self.out);
        let gone = self.flush().and_then(|()| self.stream.shutdown(Shutdown::Write));
        let deadline = Instant::now() + LEAVE;
        let mut buffer = [0; 4096];
        while gone.is_ok() && Instant::now() < deadline {
            match self.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if is_no_news(&error) => {}
                Err(_) => break,
            }
        }
    }
}

fn is_no_news(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
