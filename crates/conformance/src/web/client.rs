//! A client of the site that waits for each answer.

use klatch_exchange::web::{AdChoice, BodyCheck, FileId, Operation, Step, Target, write_get};

use super::Site;
use crate::finding::{Checked, wrong};
use crate::http::HttpConnection;

/// The value of the header Host.
const HOST: &str = "klatch";

/// A connection to the site.
pub(super) struct Connection<'a> {
    site: &'a Site,
    pub(super) http: HttpConnection,
}

impl Site {
    pub(super) fn connect(&self) -> Checked<Connection<'_>> {
        Ok(Connection { site: self, http: HttpConnection::connect(self.address, self.answer_timeout)? })
    }

    /// Sends a command on a connection of its own. Returns the body of the answer.
    pub(super) fn command(&self, target: &Target) -> Checked<Vec<u8>> {
        let mut connection = self.connect()?;
        connection.http.send(&get(target))?;
        let reply = connection.http.reply()?;
        if reply.status == 200 { Ok(reply.body) } else { wrong(format!("status {}", reply.status)) }
    }
}

impl Connection<'_> {
    /// Sends a request and checks its reply to the last byte. Returns the number of bytes in the body.
    pub(super) fn exchange(&mut self, step: &Step) -> Checked<usize> {
        self.http.send(&request(step))?;
        self.check_reply(step)
    }

    /// Checks the reply to a request that was sent. Returns the number of bytes in the body.
    pub(super) fn check_reply(&mut self, step: &Step) -> Checked<usize> {
        let reply = self.http.reply()?;
        let path = String::from_utf8_lossy(&step.file.path()).into_owned();
        if reply.status != 200 {
            return wrong(format!("status {} for {path}", reply.status));
        }
        let chosen = match step.operation {
            Operation::Ad { user, last_ad } => {
                let expected = self.site.ads.choose(user, last_ad);
                let got = reply.ad_cookie.as_deref().and_then(AdChoice::parse_cookie);
                if got != Some(expected) {
                    let cookie = reply.ad_cookie.as_deref().map(String::from_utf8_lossy);
                    return wrong(format!("cookie {cookie:?} instead of ad {:?}", expected.ad));
                }
                expected.ad
            }
            _ => None,
        };
        let mut check = BodyCheck::new(step, chosen);
        let checked = check.feed(&self.site.content, &reply.body).and_then(|()| check.finish());
        match checked {
            Ok(()) => Ok(reply.body.len()),
            Err(error) => wrong(format!("{path}: {error}")),
        }
    }
}

/// A request over HTTP/1.1 on a connection that stays open.
pub(super) fn step(operation: Operation, file: FileId) -> Step {
    Step { operation, file, single: false, first: false, last: false }
}

pub(super) fn request(step: &Step) -> Vec<u8> {
    let mut bytes = Vec::new();
    step.write(HOST, &mut bytes);
    bytes
}

pub(super) fn get(target: &Target) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_get(target, HOST, &mut bytes);
    bytes
}
