//! One page and its connection to the server: lines to the server, messages to the page.

use std::io::{ErrorKind, Result};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use klatch_crowd::{ClientEndpoint, StrangerConnection};
use klatch_protocol::websocket::{Decoder, Event, MESSAGE_BYTES_MAX, Opcode, Role, write_frame};

use super::outbox::Outbox;
use super::{Times, read_more, write};

/// The code of a close frame of a connection that did what it was for.
const NORMAL: u16 = 1000;
/// The same of one that cannot go on.
const FAILED: u16 = 1011;

/// A page, its server, and what waits for the page.
pub(super) struct Conversation<'a> {
    page: &'a TcpStream,
    server: &'a StrangerConnection,
    outbox: Outbox,
    ping_after: Duration,
}

impl Conversation<'_> {
    /// Connects to the server and carries lines until one side ends. `input` is what the page has sent after its request, `opcode` that
    /// of the messages that it gets.
    pub(super) fn hold(
        page: &TcpStream,
        input: Vec<u8>,
        opcode: Opcode,
        upstream: &ClientEndpoint,
        times: Times,
    ) -> Result<()> {
        let server = match StrangerConnection::open(upstream, times.patience) {
            Ok(server) => server,
            Err(error) => return write(page, &close_frame(FAILED, &format!("cannot connect: {error}"))),
        };
        let conversation =
            Conversation { page, server: &server, outbox: Outbox::new(opcode), ping_after: times.ping_after };
        std::thread::scope(|threads| {
            threads.spawn(|| conversation.forward_to_outbox());
            threads.spawn(|| conversation.write_outbox());
            let (code, why) = conversation.forward_to_server(input);
            conversation.outbox.end(&close_frame(code, &why));
            let _ = server.send(b"QUIT :left\r\n");
            server.close();
        });
        Ok(())
    }

    /// Sends the page's messages as lines, until it closes or breaks a rule. Returns what to close with.
    fn forward_to_server(&self, mut input: Vec<u8>) -> (u16, String) {
        let mut decoder = Decoder::new(Role::Server, MESSAGE_BYTES_MAX);
        let mut is_pinged = false;
        loop {
            let mut taken = 0;
            loop {
                let (bytes, event) = match decoder.decode(&input[taken..]) {
                    Ok(Some(decoded)) => decoded,
                    Ok(None) => break,
                    Err(error) => return (error.code, error.reason.to_owned()),
                };
                taken += bytes;
                match event {
                    Event::Message { payload, .. } => {
                        if let Err(error) = self.server.send(&line(payload)) {
                            return (FAILED, error.to_string());
                        }
                    }
                    Event::Ping(payload) => {
                        let mut pong = Vec::new();
                        write_frame(&mut pong, Opcode::Pong, None, payload);
                        self.outbox.add_control(&pong);
                    }
                    Event::Close { .. } => return (NORMAL, String::new()),
                    Event::Pong(_) | Event::Nothing => {}
                }
            }
            input.drain(..taken);
            match read_more(self.page, &mut input, Instant::now() + self.ping_after) {
                Ok(()) => is_pinged = false,
                Err(error) if error.kind() == ErrorKind::TimedOut && !is_pinged => {
                    is_pinged = true;
                    let mut ping = Vec::new();
                    write_frame(&mut ping, Opcode::Ping, None, b"");
                    self.outbox.add_control(&ping);
                }
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    return (FAILED, "this page did not answer".to_owned());
                }
                Err(_) => return (NORMAL, String::new()),
            }
        }
    }

    /// Puts the server's lines into the outbox, however slow the page is: a server must not wait for it.
    fn forward_to_outbox(&self) {
        let mut input = Vec::new();
        loop {
            let received = self.server.receive(&mut input);
            while let Some(end) = input.iter().position(|&byte| byte == b'\n') {
                let line = input.drain(..=end).collect::<Vec<u8>>();
                let line = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(&line);
                // A text frame is UTF-8, and a line of IRC need not be.
                self.outbox.add_line(&String::from_utf8_lossy(line));
            }
            // No line is longer; what is, is of no IRC server.
            let error = match received {
                Ok(()) if input.len() <= MESSAGE_BYTES_MAX => continue,
                Ok(()) => "the server sent a line that is too long".to_owned(),
                Err(error) => error.to_string(),
            };
            return self.outbox.end(&close_frame(FAILED, &error));
        }
    }

    /// Writes the outbox to the page, until its end. Then the page's side ends too.
    fn write_outbox(&self) {
        while let Some(frames) = self.outbox.take() {
            if write(self.page, &frames).is_err() {
                break;
            }
        }
        // A page that has left needs no notice.
        let _ = self.page.shutdown(Shutdown::Both);
    }
}

/// One line of IRC. What follows a line end would be another, which the page did not mean.
fn line(payload: &[u8]) -> Vec<u8> {
    let text = payload.split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
    [text, b"\r\n"].concat()
}

fn close_frame(code: u16, why: &str) -> Vec<u8> {
    // A control frame has at most 125 bytes, and a text no half character.
    let reason: String = why
        .chars()
        .scan(0, |bytes, char| {
            *bytes += char.len_utf8();
            (*bytes <= 123).then_some(char)
        })
        .collect();
    let mut frame = Vec::new();
    write_frame(&mut frame, Opcode::Close, None, &[&code.to_be_bytes(), reason.as_bytes()].concat());
    frame
}
