//! Workload `rr`: connections that send requests, and each request has one reply: with the same bytes, or what a URL stands for.

use serde::{Deserialize, Serialize};

use super::arrivals::{ARRIVALS, Arrivals};
use super::error::within;
use super::http::{HTTP_VERSIONS, HttpVersion, is_of_connection};
use super::request::{HEADER, HeaderField, JsonValue, is_method, is_path, is_sha256};
use super::settings::{Range, Scope, Setting, field};
use super::stages::{Stages, check_stages, stages_setting};
use super::values::{Formed, OptionalWhole, Seconds, Word};
use super::{RATE_MAX, SECONDS_MAX, WorkloadError};

/// Most bytes that a connection may have in flight. A server holds about as many before it closes a slow reader.
const IN_FLIGHT_BYTES_MAX: u32 = 1 << 20;
/// Fewest bytes of a request.
const SIZE_MIN: u32 = 4;
/// Most streams of a connection.
const STREAMS_MAX: u32 = 1000;

pub(super) const SETTINGS: &[Setting] = &[
    Setting::new("connections", "N", "number of connections", field!(Rr, connections))
        .in_range(Range::Whole(1, 100_000)),
    Setting::new("size", "BYTES", "size of a request, and of its reply", field!(Rr, size_bytes))
        .in_range(Range::Whole(SIZE_MIN, 65_536)),
    Setting::new("depth", "REQUESTS", "requests of a connection in flight", field!(Rr, depth))
        .in_range(Range::Whole(1, IN_FLIGHT_BYTES_MAX / SIZE_MIN)),
    Setting::new(
        "url",
        "PATH",
        "HTTP: path, with a query, that each request asks for, in place of a payload that comes back; the path of a target is one",
        field!(Rr, rr => Formed { text: &mut rr.url, is_right: is_path, form: "a path that begins with / and is of ASCII without spaces" }),
    )
    .excluding(&["size"]),
    Setting::new(
        "urls",
        "FILE",
        "HTTP: file of URLs, of which each request has one at random: lines [WEIGHT] [METHOD] PATH",
        field!(Rr, urls),
    )
    .excluding(&["size", "url"]),
    Setting::new(
        "method",
        "METHOD",
        "method of requests for a URL",
        field!(Rr, rr => Formed { text: &mut rr.method, is_right: is_method, form: "a method in capital letters, as in GET" }),
    )
    .following("GET, or POST with a body"),
    Setting::new(
        HEADER,
        "'NAME: VALUE'",
        "header field of requests for a URL; several times for several. 'NAME: @FILE' and 'NAME: $VARIABLE' have the value elsewhere: for secrets",
        field!(Rr, headers),
    ),
    Setting::new(
        "http",
        "VERSION",
        "version of HTTP of requests for a URL",
        field!(Rr, rr => Word { word: &mut rr.http, words: HTTP_VERSIONS }),
    ),
    Setting::new(
        "streams",
        "N",
        "HTTP/2: streams of a connection, each with one request in flight, in place of depth",
        field!(Rr, rr => OptionalWhole(&mut rr.streams)),
    )
    .excluding(&["depth"])
    .in_range(Range::Whole(1, STREAMS_MAX))
    .following("1 with HTTP/2"),
    Setting::new("body_file", "FILE", "file with the body of requests for a URL", field!(Rr, body_file)),
    Setting::new(
        "expect_status",
        "STATUS",
        "status that each reply of a URL must have",
        field!(Rr, rr => OptionalWhole(&mut rr.expect_status)),
    )
    .in_range(Range::Whole(200, 599))
    .following(SAME),
    Setting::new(
        "expect_length",
        "BYTES",
        "length that the body of each reply of a URL must have",
        field!(Rr, rr => OptionalWhole(&mut rr.expect_length)),
    )
    .in_range(Range::Whole(0, 16 << 20))
    .following(SAME),
    Setting::new(
        "expect_sha256",
        "HEX",
        "SHA-256 that the body of each reply of a URL must have",
        field!(Rr, rr => Formed { text: &mut rr.expect_sha256, is_right: is_sha256, form: "64 digits of 0-9 and a-f" }),
    )
    .following(SAME),
    Setting::new(
        "expect_json",
        "/POINTER=VALUE",
        "value that the body of each reply of a URL must have, as JSON; several times for several",
        field!(Rr, expect_json),
    )
    .following(SAME),
    Setting::new(
        "rate",
        "1/S",
        "requests a second of each connection, on a schedule fixed in advance",
        field!(Rr, rate_per_connection_per_s),
    )
    .in_range(Range::AboveZero(RATE_MAX, "requests/s"))
    .following("none: a request follows a reply"),
    stages_setting("times, within each of which the rate of a connection ramps to a value, in place of rate and duration", field!(Rr, stages)).excluding(&["rate", "duration"]),
    Setting::new(
        "arrivals",
        "ARRIVALS",
        "with a rate or stages: how the moments of the schedule follow one another",
        field!(Rr, rr => Word { word: &mut rr.arrivals, words: ARRIVALS }),
    ),
    Setting::new(
        "duration",
        "TIME",
        "time for which requests are sent",
        field!(Rr, rr => Seconds(&mut rr.duration_s)),
    )
    .in_range(Range::AboveZero(SECONDS_MAX, "seconds"))
    .scoped(Scope::End),
    Setting::new(
        "start",
        "N",
        "number of the first connection, for several crowds on one server",
        field!(Rr, start),
    )
    .scoped(Scope::Share),
];

/// The default of what must be true of a reply.
const SAME: &str = "as the first reply, if nothing else is expected";

/// Connections, requests, and when they are sent. Definition: `docs/reference/benchmark.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RrWorkload {
    /// Number of connections, 1..=100000.
    pub connections: u32,
    /// Bytes of a request, and of its reply, 4..=65536.
    pub size_bytes: u32,
    /// Requests of a connection in flight, at least 1; their bytes at most 1 MiB.
    pub depth: u32,
    /// Path, with a query, that each request asks an HTTP server for; absent if the server is to send a payload back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// File of URLs, of which each request has one at random; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urls: Option<String>,
    /// Method of requests for a URL; absent for GET, or POST with a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Header fields of requests for a URL, `Name: value`. A value that may be a secret is `@FILE`, `$VARIABLE` or `…`. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub headers: Vec<HeaderField>,
    /// Version of HTTP of requests for a URL. Absent for HTTP/1.1.
    #[serde(default, skip_serializing_if = "HttpVersion::is_1")]
    pub http: HttpVersion,
    /// Streams of a connection of HTTP/2, each with one request in flight, 1..=1000. Absent for HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// File with the body of requests for a URL; absent without a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_file: Option<String>,
    /// Status that each reply of a URL must have; absent if none is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_status: Option<u32>,
    /// Length that the body of each reply of a URL must have, bytes; absent if none is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_length: Option<u32>,
    /// SHA-256 that the body of each reply of a URL must have, in hexadecimal; absent if none is expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_sha256: Option<String>,
    /// Values that the body of each reply of a URL must have as JSON, `/pointer=value`. Absent if none is expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub expect_json: Vec<JsonValue>,
    /// Time for which requests are sent, seconds. The run ends with the last reply.
    pub duration_s: f64,
    /// Number of the first connection, so that several crowds can share a server.
    pub start: u32,
    /// Requests/s of each connection on a schedule fixed in advance (open loop); `null`: a request follows a reply (closed loop).
    pub rate_per_connection_per_s: Option<f64>,
    /// Times and rates of each connection: a schedule whose rate changes, in place of one rate. Absent without stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Stages>,
    /// How the moments of the schedule follow one another. Absent if they are even.
    #[serde(default, skip_serializing_if = "Arrivals::is_even")]
    pub arrivals: Arrivals,
}

impl Default for RrWorkload {
    /// One connection with one request of 4 bytes in flight for 2 s, as in Netperf's TCP_RR.
    fn default() -> RrWorkload {
        RrWorkload {
            connections: 1,
            size_bytes: 4,
            depth: 1,
            url: None,
            urls: None,
            method: None,
            headers: Vec::new(),
            http: HttpVersion::Http1,
            streams: None,
            body_file: None,
            expect_status: None,
            expect_length: None,
            expect_sha256: None,
            expect_json: Vec::new(),
            duration_s: 2.0,
            start: 1,
            rate_per_connection_per_s: None,
            stages: None,
            arrivals: Arrivals::Even,
        }
    }
}

impl RrWorkload {
    /// Whether requests are due on a schedule fixed in advance, whatever the server does.
    pub fn is_scheduled(&self) -> bool {
        self.rate_per_connection_per_s.is_some() || self.stages.is_some()
    }

    /// Whether requests are for URLs of an HTTP server.
    pub fn has_url(&self) -> bool {
        self.url.is_some() || self.urls.is_some()
    }

    /// Most requests of a connection in flight.
    pub fn in_flight_max(&self) -> u32 {
        match self.http {
            HttpVersion::Http1 => self.depth,
            HttpVersion::Http2 => self.streams.unwrap_or(1),
        }
    }

    /// Whether each reply must be as the first one of its URL, as nothing else is expected.
    pub fn expects_same(&self) -> bool {
        let is_free = self.expect_status.is_none() && self.expect_length.is_none();
        is_free && self.expect_sha256.is_none() && self.expect_json.is_empty()
    }

    /// The first setting of requests for a URL, if there is any.
    fn of_url(&self) -> Option<&'static str> {
        let all = [
            ("method", self.method.is_some()),
            (HEADER, !self.headers.is_empty()),
            ("http", self.http != HttpVersion::Http1),
            ("streams", self.streams.is_some()),
            ("body_file", self.body_file.is_some()),
            ("expect_status", self.expect_status.is_some()),
            ("expect_length", self.expect_length.is_some()),
            ("expect_sha256", self.expect_sha256.is_some()),
            ("expect_json", !self.expect_json.is_empty()),
        ];
        all.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
    }

    /// The duration of a schedule in stages is theirs, and a connection of HTTP/2 has a stream.
    pub(super) fn follow(&mut self) {
        self.streams = self.streams.or((self.http == HttpVersion::Http2).then_some(1));
        self.duration_s = self.stages.as_ref().map_or(self.duration_s, Stages::time_s);
    }

    /// Checks what only one version of HTTP has.
    fn check_http(&self) -> Result<(), WorkloadError> {
        if self.http == HttpVersion::Http1 {
            let unused = WorkloadError::Unused { setting: "streams", owner: "http 2" };
            return if self.streams.is_none() { Ok(()) } else { Err(unused) };
        }
        if self.depth != 1 {
            let owner = "HTTP/1.1, and HTTP/2 has streams in its place";
            return Err(WorkloadError::Unused { setting: "depth", owner });
        }
        match self.headers.iter().find(|header| is_of_connection(header)) {
            Some(header) => {
                let form = format!("another field than {}, which HTTP/2 does not have", header.name);
                Err(WorkloadError::Form { setting: HEADER, form })
            }
            None => Ok(()),
        }
    }

    /// Checks what follows from several settings.
    pub(super) fn check_together(&self) -> Result<(), WorkloadError> {
        if self.arrivals != Arrivals::Even && !self.is_scheduled() {
            return Err(WorkloadError::Unused { setting: "arrivals", owner: "a rate" });
        }
        if let Some(setting) = self.of_url().filter(|_| !self.has_url()) {
            return Err(WorkloadError::NoUrl { setting });
        }
        self.check_http()?;
        check_stages(self.stages.as_ref(), self.rate_per_connection_per_s, Some(self.duration_s))?;
        within("depth", 1, IN_FLIGHT_BYTES_MAX / self.size_bytes, self.depth)?;
        within("start", 1, 1_000_000 - (self.connections - 1), self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Workload, WorkloadKind};

    #[test]
    fn what_is_out_of_range_is_named_with_its_range() {
        let rr = RrWorkload::default();
        assert_eq!(Workload::Rr(rr.clone()).check(), Ok(()));
        let error = |workload: RrWorkload| Workload::Rr(workload).check().unwrap_err().to_string();
        assert_eq!(
            error(RrWorkload { connections: 0, ..rr.clone() }),
            "connections must be 1 to 100,000, got 0"
        );
        assert_eq!(error(RrWorkload { size_bytes: 3, ..rr.clone() }), "size must be 4 to 65,536, got 3");
        let deep = RrWorkload { size_bytes: 65_536, depth: 17, ..rr.clone() };
        assert_eq!(error(deep), "depth must be 1 to 16, got 17");
        assert_eq!(
            error(RrWorkload { duration_s: f64::NAN, ..rr.clone() }),
            "duration must be above 0 and at most 86,400 seconds, got NaN"
        );
        assert_eq!(
            error(RrWorkload { rate_per_connection_per_s: Some(0.0), ..rr }),
            "rate must be above 0 and at most 1,000,000 requests/s, got 0"
        );
    }
    #[test]
    fn streams_are_of_http_2_and_stand_in_place_of_depth() {
        let made = |given: &[(&str, &str)]| WorkloadKind::Rr.workload(&[&[("url", "/")], given].concat());
        let text = |given: &[(&str, &str)]| made(given).unwrap().options_beside_url().join(" ");
        assert!(text(&[("http", "2")]).contains("--http 2 --streams 1"));
        assert!(text(&[("http", "2"), ("streams", "9")]).contains("--http 2 --streams 9"));
        assert!(!text(&[("http", "2")]).contains("--depth"));
        assert!(text(&[("depth", "3")]).contains("--depth 3") && !text(&[]).contains("--streams"));
        for (given, reason) in [
            (&[("streams", "1")][..], "streams belongs to http 2"),
            (
                &[("http", "2"), ("depth", "3")],
                "depth belongs to HTTP/1.1, and HTTP/2 has streams in its place",
            ),
            (&[("http", "2"), ("streams", "1001")], "streams must be 1 to 1,000, got 1001"),
            (
                &[("http", "2"), ("header", "TE: gzip")],
                "header must be another field than TE, which HTTP/2 does not have",
            ),
            (&[("http", "2.0")], "http must be 1.1 or 2, got 2.0"),
        ] {
            assert_eq!(made(given).unwrap_err().to_string(), reason);
        }
        assert!(made(&[("http", "2"), ("header", "te: trailers")]).is_ok());
        let error = WorkloadKind::Rr.workload(&[("http", "2")]).unwrap_err().to_string();
        assert_eq!(error, "http belongs to requests for a URL, and there is none");
    }
}
