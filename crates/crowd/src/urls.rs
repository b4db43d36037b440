//! The URLs that requests of `rr` ask for, and what must be true of each reply.

use std::fmt::Write as _;

use klatch_record::{JsonValue, RequestParts, RrWorkload};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::channel::ClientEndpoint;
use crate::http_command::HttpError;
use crate::protocol::shown_up_to;
use crate::schedule::choice;

/// Most bytes of a body that is kept: a reply is compared with the first one, or read as JSON.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Most bytes of all first bodies.
const BODIES_BYTES_MAX: usize = 256 << 20;
/// Most bytes of a wrong body that are kept for its message.
const WRONG_BYTES_MAX: usize = 1024;
/// Most characters of a body that a message shows.
const SHOWN_MAX: usize = 40;

/// Methods whose requests say that they have no body.
pub(crate) const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// One URL.
pub(crate) struct Url {
    /// Method and path.
    name: String,
    status: u16,
    /// The body of the first reply.
    pub(crate) body: Vec<u8>,
    /// The first reply was as expected, so every reply with the same body is.
    is_right: bool,
}

/// All URLs, and what is expected of their replies.
pub(crate) struct Urls {
    all: Vec<Url>,
    /// The sum of the weights up to and with each URL.
    ends: Vec<u32>,
    seed: u64,
    expected: Expected,
}

/// What must be true of a reply.
struct Expected {
    /// Status and body are those of the first reply.
    same: bool,
    status: Option<u32>,
    length: Option<u32>,
    sha256: Option<String>,
    json: Vec<JsonValue>,
}

/// A reply that has been read.
pub(crate) struct Seen<'a> {
    pub(crate) status: u16,
    /// Bytes of the body.
    pub(crate) length: usize,
    /// The first byte that is not that of the first body; `None` if both are equal.
    pub(crate) differs_at: Option<usize>,
    /// The body from there, as far as it is kept.
    pub(crate) rest: &'a [u8],
}

impl Urls {
    /// The URLs of a workload, before their first replies.
    pub(crate) fn new(rr: &RrWorkload, parts: &RequestParts, seed: u64) -> Urls {
        let usual = rr.method.as_deref().unwrap_or(if parts.body.is_some() { "POST" } else { "GET" });
        let url = |method: &str, path: &str| Url {
            name: format!("{method} {path}"),
            status: 0,
            body: Vec::new(),
            is_right: false,
        };
        let (mut all, mut ends, mut sum) = (Vec::new(), Vec::new(), 0);
        for one in &parts.urls {
            all.push(url(one.method.as_deref().unwrap_or(usual), &one.path));
            sum += one.weight;
            ends.push(sum);
        }
        if all.is_empty() {
            all.push(url(usual, rr.url.as_deref().unwrap_or("/")));
            ends.push(1);
        }
        let expected = Expected {
            same: rr.expects_same(),
            status: rr.expect_status,
            length: rr.expect_length,
            sha256: rr.expect_sha256.clone(),
            json: rr.expect_json.clone(),
        };
        Urls { all, ends, seed, expected }
    }

    /// Asks for each URL once, for the first replies. `ask` has its index, whether its replies have heads only, and the most bytes of a body.
    ///
    /// # Errors
    /// The server does not answer, or with bodies that are too long. The name is that of the URL.
    pub(crate) fn ask(
        mut self,
        ask: impl Fn(usize, bool, usize) -> Result<(u16, Vec<u8>), HttpError>,
    ) -> Result<Urls, (String, HttpError)> {
        let mut left = BODIES_BYTES_MAX;
        for index in 0..self.all.len() {
            let answer = ask(index, self.is_head(index), left.min(BODY_BYTES_MAX));
            let url = &mut self.all[index];
            (url.status, url.body) = answer.map_err(|error| (url.name.clone(), error))?;
            left -= url.body.len();
            let differs_at = (!url.body.is_empty()).then_some(0);
            let seen = Seen { status: url.status, length: url.body.len(), differs_at, rest: &url.body };
            url.is_right = self.expected.fault_of_body(&[], &seen).is_none();
        }
        Ok(self)
    }

    /// Number of URLs.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Method and path of a URL.
    pub(crate) fn name(&self, index: usize) -> &str {
        &self.all[index].name
    }

    /// The same, each by itself.
    pub(crate) fn method_and_path(&self, index: usize) -> (&str, &str) {
        self.name(index).split_once(' ').expect("a path follows the method")
    }

    /// Whether replies of a URL have heads only.
    pub(crate) fn is_head(&self, index: usize) -> bool {
        self.name(index).starts_with("HEAD ")
    }

    pub(crate) fn url(&self, index: usize) -> &Url {
        &self.all[index]
    }

    /// The URL of a request of a connection.
    pub(crate) fn choose(&self, connection: u32, sequence: u32) -> usize {
        match self.ends[..] {
            [_] => 0,
            [.., all] => {
                let chosen = choice(self.seed, connection, sequence, all);
                self.ends.partition_point(|end| *end <= chosen)
            }
            [] => unreachable!("there is a URL"),
        }
    }

    /// Most bytes of a body to keep from its first difference on.
    pub(crate) fn kept_bytes_max(&self) -> usize {
        let reads_all = self.expected.sha256.is_some() || !self.expected.json.is_empty();
        if reads_all { BODY_BYTES_MAX } else { WRONG_BYTES_MAX }
    }

    /// What is wrong with a reply of a URL; `None` if nothing is.
    pub(crate) fn fault(&self, index: usize, seen: &Seen<'_>) -> Option<String> {
        let url = &self.all[index];
        let fault = self.expected.fault_of_status(url, seen).or_else(|| {
            let is_first = seen.differs_at.is_none();
            let is_right = is_first && (self.expected.same || url.is_right);
            if is_right { None } else { self.fault_of_body(url, seen) }
        });
        fault.map(|fault| format!("{}: {fault}", url.name))
    }

    fn fault_of_body(&self, url: &Url, seen: &Seen<'_>) -> Option<String> {
        match (self.expected.same, seen.differs_at) {
            (true, Some(at)) => Some(difference(&url.body, at, seen)),
            _ => {
                let equal = &url.body[..seen.differs_at.unwrap_or(url.body.len())];
                self.expected.fault_of_body(equal, seen)
            }
        }
    }
}

impl Expected {
    fn fault_of_status(&self, url: &Url, seen: &Seen<'_>) -> Option<String> {
        let status = u32::from(seen.status);
        if self.same && seen.status == url.status && !(200..300).contains(&status) {
            return Some(format!("status {status}, and no status is expected by the setting expect_status"));
        }
        let wanted = if self.same { Some(url.status.into()) } else { self.status };
        let wanted = wanted.filter(|wanted| *wanted != status)?;
        let equal = &url.body[..seen.differs_at.unwrap_or(url.body.len())];
        let beginning = [equal, seen.rest].concat();
        let text = if beginning.is_empty() {
            String::new()
        } else {
            format!(" with the body {}", quoted(&beginning))
        };
        Some(format!("expected status {wanted}, got {status}{text}"))
    }

    /// What is wrong with a body, whose first bytes are `equal`.
    fn fault_of_body(&self, equal: &[u8], seen: &Seen<'_>) -> Option<String> {
        if let Some(length) = self.length.filter(|length| *length as usize != seen.length) {
            return Some(format!("expected a body of {length} bytes, got {}", seen.length));
        }
        if self.sha256.is_none() && self.json.is_empty() {
            return None;
        }
        if seen.length > BODY_BYTES_MAX {
            return Some(format!("the body has {} bytes, over {BODY_BYTES_MAX}", seen.length));
        }
        let body = [equal, seen.rest].concat();
        if let Some(wanted) = &self.sha256 {
            let got = hexadecimal(&Sha256::digest(&body));
            if got != *wanted {
                return Some(format!(
                    "expected a body with the SHA-256 {wanted}, got {got} of {}",
                    quoted(&body)
                ));
            }
        }
        self.fault_of_json(&body)
    }

    fn fault_of_json(&self, body: &[u8]) -> Option<String> {
        if self.json.is_empty() {
            return None;
        }
        let Ok(json) = serde_json::from_slice::<Value>(body) else {
            return Some(format!("expected JSON, got {}", quoted(body)));
        };
        self.json.iter().find_map(|wanted| {
            let got = json.pointer(&wanted.pointer);
            let is_right = got == Some(&wanted.value());
            let shown =
                || got.map_or("nothing".to_owned(), |got| shown_up_to(got.to_string().as_bytes(), SHOWN_MAX));
            let wanted = || shown_up_to(wanted.to_string().as_bytes(), 2 * SHOWN_MAX);
            (!is_right).then(|| format!("expected {}, got {}", wanted(), shown()))
        })
    }
}

/// The first difference of a body from the first one.
fn difference(first: &[u8], at: usize, seen: &Seen<'_>) -> String {
    let length = match seen.length == first.len() {
        true => String::new(),
        false => format!(", and {} bytes instead of {}", seen.length, first.len()),
    };
    let [expected, got] = [&first[at..], seen.rest].map(quoted);
    format!("the body is not that of the first reply: expected {expected} at byte {at}, got {got}{length}")
}

/// The beginning of a body.
fn quoted(bytes: &[u8]) -> String {
    match bytes {
        [] => "its end".to_owned(),
        _ => format!("\"{}\"", shown_up_to(bytes, SHOWN_MAX)),
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The server as requests name it.
pub(crate) fn host(server: &ClientEndpoint) -> String {
    let usual = if server.tls.is_some() { ":443" } else { ":80" };
    let host = server.to_string();
    host.strip_suffix(usual).map_or(host.clone(), str::to_owned)
}

#[cfg(test)]
impl Urls {
    /// The same after a first reply of the one URL, which is right.
    pub(crate) fn with_first(mut self, status: u16, body: &[u8]) -> Urls {
        let url = &mut self.all[0];
        (url.status, url.body, url.is_right) = (status, body.to_vec(), true);
        self
    }
}

#[cfg(test)]
#[path = "urls_tests.rs"]
mod tests;
