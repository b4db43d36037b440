//! Waits at a gate with one more connection, in room 0 of the server under test.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use klatch_record::{Failure, FailureKind, Gate};

use crate::addresses::Addresses;
use crate::channel::{Channel, ClientEndpoint, append_through, too_long};
use crate::gate::{GateAction, GateMembership, REPEAT_NS};
use crate::link::check_waiting;
use crate::options::Options;
use crate::protocol::{Protocol, ServerEvent, UserId, printable, shown};
use crate::shared::{ControlMessage, Phase, Shared};

/// The room in which shards meet. The rooms of crowds start at 1.
const ROOM: u32 = 0;
/// Users of that room are numbered by their shard's first room.
const USERS: u32 = 65_536;
/// Longest wait for input before the clock is checked.
const TICK: Duration = Duration::from_millis(200);
/// Longest time for a server to close the connection of a client that has quit.
const LEAVE: Duration = Duration::from_secs(2);
/// Longest unit of a chat protocol that a server may send, bytes.
const UNIT_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one read.
const READ_BYTES: usize = 32 * 1024;

/// Starts a thread that waits at the gate. It sends the outcome as a control message.
pub(crate) fn spawn<P: Protocol>(
    server: &ClientEndpoint,
    options: &Options,
    terms: &P::Terms,
    gate: Gate,
    addresses: Addresses,
    shared: Arc<Shared>,
    control: Sender<ControlMessage>,
) -> std::io::Result<()> {
    let (start, rooms) = (options.workload.start(), options.workload.parties());
    let (timeout, connect_timeout) = (options.gate_timeout, options.connect_timeout);
    let (server, terms) = (server.clone(), terms.clone());
    std::thread::Builder::new().name("gate".to_owned()).spawn(move || {
        let membership = GateMembership::new(gate, start, rooms);
        let id = UserId { room: ROOM, user: start, users: USERS };
        let (protocol, channel) = (P::new(id, &terms), Channel::new(&server, id));
        let stream = match addresses.connect(0, connect_timeout) {
            Ok(stream) => stream,
            Err(error) => return fail(&control, FailureKind::Join, format!("cannot connect: {error}")),
        };
        let mut client = GateClient {
            protocol,
            stream,
            channel,
            membership,
            shared,
            control,
            out: Vec::new(),
            raw: Vec::new(),
            reported: 0,
        };
        match client.until_open(timeout) {
            Ok(Some(run)) => {
                client.shared.set_gate_run(run);
                // Start first: the clock is running.
                let _ = client.control.send(ControlMessage::Go);
                client.leave();
            }
            Ok(None) => {
                client.announce_leaving();
                client.leave();
            }
            Err((kind, detail)) => {
                // Before the crowd learns of it, because that ends the process.
                client.announce_leaving();
                fail(&client.control, kind, detail);
                client.leave();
            }
        }
    })?;
    Ok(())
}

fn fail(control: &Sender<ControlMessage>, kind: FailureKind, detail: String) {
    let failure = Failure {
        kind,
        connection: None,
        room: None,
        user: None,
        detail: printable(format!("the gate: {detail}")),
    };
    // The receiver is gone only when the crowd has ended.
    let _ = control.send(ControlMessage::Failed(failure));
}

struct GateClient<P> {
    protocol: P,
    stream: TcpStream,
    channel: Option<Box<Channel>>,
    membership: GateMembership,
    shared: Arc<Shared>,
    control: Sender<ControlMessage>,
    out: Vec<u8>,
    /// Bytes of the transport that the socket has not taken.
    raw: Vec<u8>,
    /// The number of shards that was reported last.
    reported: usize,
}

impl<P: Protocol> GateClient<P> {
    /// Returns the number with which the gate was opened, or `None` when the crowd stops before.
    fn until_open(&mut self, timeout: Duration) -> Result<Option<u64>, (FailureKind, String)> {
        let broke =
            |error: std::io::Error| (FailureKind::Disconnect, format!("the connection broke: {error}"));
        let set_up = |stream: &TcpStream| {
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(TICK))?;
            stream.set_write_timeout(Some(TICK))
        };
        set_up(&self.stream).map_err(broke)?;
        self.protocol.write_handshake(&mut self.out);
        let deadline = Instant::now() + timeout;
        let (mut joined, mut announced_ns) = (false, 0);
        let (mut input, mut buffer) = (Vec::new(), vec![0; READ_BYTES]);
        while self.shared.phase() == Phase::Join {
            let now_ns = self.shared.now_ns();
            if joined && self.membership.must_open() {
                self.queue_line(self.membership.open_line());
                self.flush_until(deadline).map_err(broke)?;
                return Ok(Some(self.membership.run()));
            }
            if joined && now_ns - announced_ns >= REPEAT_NS {
                self.queue_line(self.membership.announcement());
                announced_ns = now_ns;
            }
            self.report_present();
            if let Some(why) = self.membership.failure(now_ns) {
                let present = self.membership.describe();
                return Err((FailureKind::Join, format!("{why}; {present}")));
            }
            if Instant::now() >= deadline {
                let present = self.membership.describe();
                return Err((FailureKind::Timeout, format!("after {} s {present}", timeout.as_secs_f64())));
            }
            self.flush().map_err(broke)?;
            let read = match &mut self.channel {
                None => self.stream.read(&mut buffer),
                Some(channel) => append_through(channel, &mut self.stream, &mut input),
            };
            let drained = match read {
                Ok(0) if self.channel.is_some() => false,
                Ok(0) => return Err((FailureKind::Disconnect, "the server closed the connection".into())),
                Ok(bytes) => {
                    if self.channel.is_none() {
                        input.extend_from_slice(&buffer[..bytes]);
                    }
                    bytes < READ_BYTES
                }
                Err(error) if is_timeout(&error) => true,
                Err(error) => return Err(broke(error)),
            };
            // A thread that was not scheduled for a while finds the lines of that time here.
            let now_ns = self.shared.now_ns();
            let mut taken = 0;
            while let Some((bytes, event)) = self.protocol.parse(&input[taken..], &mut self.out) {
                taken += bytes;
                let action = match event {
                    ServerEvent::Joined => {
                        joined = true;
                        GateAction::Answer
                    }
                    ServerEvent::Message(_, text) => self.membership.on_line(text, now_ns),
                    ServerEvent::Refused(line) | ServerEvent::Closing(line) => {
                        let line = shown(line);
                        return Err((FailureKind::Join, format!("the server answered: {line}")));
                    }
                    ServerEvent::Left(start) => {
                        self.membership.on_left(start, now_ns);
                        GateAction::Wait
                    }
                    ServerEvent::Stranger(_) | ServerEvent::Ignored => GateAction::Wait,
                };
                match action {
                    GateAction::Go(run) => return Ok(Some(run)),
                    GateAction::Answer => {
                        (announced_ns, _) = (now_ns, self.queue_line(self.membership.announcement()))
                    }
                    GateAction::Wait => {}
                }
            }
            input.drain(..taken);
            if input.len() > UNIT_BYTES_MAX {
                return Err(broke(too_long(UNIT_BYTES_MAX)));
            }
            if drained {
                self.membership.on_drained(now_ns);
            }
        }
        Ok(None)
    }

    fn queue_line(&mut self, line: String) {
        self.protocol.write_message(&mut self.out, line.len(), |out| out.extend_from_slice(line.as_bytes()));
    }

    /// Sends as much as the server takes within [`TICK`]; the rest waits.
    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.channel {
            None => self.raw.append(&mut self.out),
            Some(channel) => {
                channel.send(&self.out, &mut self.raw);
                self.out.clear();
            }
        }
        while !self.raw.is_empty() {
            match self.stream.write(&self.raw) {
                Ok(bytes) => drop(self.raw.drain(..bytes)),
                Err(error) if is_timeout(&error) => return check_waiting(self.raw.len()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sends everything, until `deadline` at most.
    fn flush_until(&mut self, deadline: Instant) -> std::io::Result<()> {
        loop {
            self.flush()?;
            if self.raw.is_empty() {
                return Ok(());
            }
            if Instant::now() >= deadline || self.shared.phase() == Phase::Stop {
                return Err(std::io::Error::other("the server does not read"));
            }
        }
    }

    /// Reports the number of shards present when it has changed.
    fn report_present(&mut self) {
        let present = self.membership.count_present();
        if present != self.reported {
            self.reported = present;
            let _ = self.control.send(ControlMessage::ShardsAtGate(present as u32));
        }
    }

    /// Announces that this shard does not start, so that the others need not wait.
    fn announce_leaving(&mut self) {
        self.queue_line(self.membership.leave_line());
        // Without a connection, the server or the silence announces it.
        let _ = self.flush();
    }

    /// Quits and reads until the connection is closed, so that the last message is delivered.
    fn leave(mut self) {
        self.protocol.write_quit(&mut self.out);
        let mut sent = self.flush();
        if let Some(channel) = &mut self.channel {
            channel.close();
            sent = sent.and_then(|()| self.flush());
        }
        let sent = sent.and_then(|()| self.stream.shutdown(Shutdown::Write));
        let deadline = Instant::now() + LEAVE;
        let mut buffer = [0; 4096];
        while sent.is_ok() && Instant::now() < deadline {
            match self.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if is_timeout(&error) => {}
                Err(_) => break,
            }
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
