//! What requests for URLs are made of, beside the settings of their workload: what files, variables and the command line have.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::workload::request::{check_value, is_method, is_path};
use crate::{Endpoint, HeaderField, HeaderValue, RrWorkload, Workload};

/// Most bytes of the body of a request, and of a file of URLs.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Most URLs of a file.
const URLS_MAX: usize = 1000;
/// The largest weight of a URL.
const WEIGHT_MAX: u32 = 1_000_000;

/// The parts of requests that a job has and no record: header fields with their values, the body, and the URLs of a file. `Debug` does not
/// show the values.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestParts {
    /// Names and values of header fields, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    /// The body; absent for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// The URLs of a file; empty for the one of the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<UrlChoice>,
}

/// Values of header fields that are in no setting, by name, in order. `Debug` does not show them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HeaderValues(pub Vec<(String, String)>);

impl fmt::Debug for HeaderValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// The bytes of a body, in base64 where it is text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body(pub Vec<u8>);

impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        STANDARD.encode(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Body, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Body).map_err(serde::de::Error::custom)
    }
}

/// What identifies the contents of the files of which requests were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestDigest {
    /// SHA-256 of the body, in hexadecimal; absent without a body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_sha256: Option<String>,
    /// SHA-256 of the URLs of a file, in hexadecimal: of a line `WEIGHT METHOD PATH` for each; absent without such a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urls_sha256: Option<String>,
}

/// One of several URLs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlChoice {
    /// How often it is chosen, relative to the others, 1..=1000000.
    pub weight: u32,
    /// Its method; absent for that of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its path, with the query.
    pub path: String,
}

/// A part of requests that cannot be used. No text has the value of a header field.
#[derive(Debug, Error)]
pub enum RequestError {
    /// A file cannot be read.
    #[error("cannot read {what} in {path}", path = path.display())]
    Read {
        /// The content that was expected.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// A file is too long.
    #[error("{path} has over {FILE_BYTES_MAX} bytes, too many for {what}", path = path.display())]
    TooLong {
        /// The content that was expected.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
    },
    /// The variable with the value of a header field is not set.
    #[error("the value of the header field {name} is that of the variable {variable}, which is not set")]
    Variable {
        /// Name of the header field.
        name: String,
        /// Name of the variable.
        variable: String,
    },
    /// The value of a header field was not kept.
    #[error(
        "the value of the header field {0} is in no record or study file: write it anew, or name a file or variable with it, as in '{0}: @FILE' or '{0}: $VARIABLE'"
    )]
    Hidden(String),
    /// A value that a file or variable has cannot be sent.
    #[error("the header field must be {0}")]
    Value(String),
    /// A line of a file of URLs is wrong.
    #[error("line {line} of {path} {reason}", path = path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of URLs has none, or too many.
    #[error("{path} must have 1 to {URLS_MAX} URLs, and has {count}", path = path.display())]
    Count {
        /// Path of the file.
        path: PathBuf,
        /// Number of its URLs.
        count: usize,
    },
}

impl RequestParts {
    /// Reads the parts of requests for URLs; `origins` are the addresses of the server with which a URL may begin.
    fn read(
        rr: &RrWorkload,
        literals: &HeaderValues,
        origins: &[String],
    ) -> Result<RequestParts, RequestError> {
        let mut literals = literals.0.iter();
        let mut value = |field: &HeaderField| match &field.value {
            HeaderValue::Public(value) => Ok(value.clone()),
            HeaderValue::File(file) => first_line(file),
            HeaderValue::Variable(variable) => std::env::var(variable)
                .map_err(|_| RequestError::Variable { name: field.name.clone(), variable: variable.clone() }),
            HeaderValue::Hidden => literals
                .find(|(name, _)| *name == field.name)
                .map(|(_, value)| value.clone())
                .ok_or_else(|| RequestError::Hidden(field.name.clone())),
        };
        let header = |field: &HeaderField| {
            let value = value(field)?;
            check_value(&field.name, &value).map_err(RequestError::Value)?;
            Ok((field.name.clone(), value))
        };
        let headers = rr.headers.iter().map(header).collect::<Result<_, RequestError>>()?;
        let body = |file: &String| bounded("the body", Path::new(file)).map(Body);
        let body = rr.body_file.as_ref().map(body).transpose()?;
        let urls = |file: &String| read_urls(Path::new(file), origins);
        let urls = rr.urls.as_ref().map(urls).transpose()?.unwrap_or_default();
        Ok(RequestParts { headers, body, urls })
    }
}

impl Workload {
    /// What its requests for URLs are made of, at a server that is known, or at one that is not started yet; `None` if it asks for none.
    ///
    /// # Errors
    /// A file or variable is missing or has something else in it, or a value is not known.
    pub fn request_parts(
        &self,
        literals: &HeaderValues,
        server: Option<&Endpoint>,
    ) -> Result<Option<RequestParts>, RequestError> {
        let Workload::Rr(rr) = self else { return Ok(None) };
        if !rr.has_url() {
            return Ok(None);
        }
        let origins = server.map_or_else(Vec::new, |server| {
            let (url, usual) = (server.url(), if server.tls.is_some() { ":443" } else { ":80" });
            url.strip_suffix(usual).map(str::to_owned).into_iter().chain([url.clone()]).collect()
        });
        RequestParts::read(rr, literals, &origins).map(Some)
    }

    /// Whether its requests are for URLs of an HTTP server.
    pub fn has_url(&self) -> bool {
        matches!(self, Workload::Rr(rr) if rr.has_url())
    }
}

impl fmt::Debug for RequestParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let body_bytes = self.body.as_ref().map(|body| body.0.len());
        let mut shown = f.debug_struct("RequestParts");
        shown.field("headers", &names).field("body_bytes", &body_bytes).field("urls", &self.urls).finish()
    }
}

/// The bytes of a file.
fn bounded(what: &'static str, path: &Path) -> Result<Vec<u8>, RequestError> {
    let failed = |source| RequestError::Read { what, path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => Err(RequestError::TooLong { what, path: path.to_owned() }),
        false => Ok(bytes),
    }
}

fn text(what: &'static str, path: &Path) -> Result<String, RequestError> {
    let invalid = |_| std::io::Error::new(std::io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(bounded(what, path)?).map_err(|error| RequestError::Read {
        what,
        path: path.to_owned(),
        source: invalid(error),
    })
}

fn first_line(file: &Path) -> Result<String, RequestError> {
    let text = text("the value of a header field", file)?;
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// The URLs of a file with lines `[WEIGHT] [METHOD] URL`, empty ones, and comments after `#`.
fn read_urls(path: &Path, origins: &[String]) -> Result<Vec<UrlChoice>, RequestError> {
    let text = text("URLs", path)?;
    let mut urls = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let line_text = line.trim();
        if !line_text.is_empty() && !line_text.starts_with('#') {
            let wrong = |reason| RequestError::Line { path: path.to_owned(), line: place + 1, reason };
            urls.push(url_of(line_text, origins).map_err(wrong)?);
        }
    }
    match urls.len() {
        1..=URLS_MAX => Ok(urls),
        count => Err(RequestError::Count { path: path.to_owned(), count }),
    }
}

fn url_of(line: &str, origins: &[String]) -> Result<UrlChoice, &'static str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let url = words.pop().unwrap_or_default();
    let weight = match words.first() {
        Some(first) if first.starts_with(|letter: char| letter.is_ascii_digit()) => {
            let weight = words.remove(0).parse().ok().filter(|weight| (1..=WEIGHT_MAX).contains(weight));
            weight.ok_or("has a weight that is not a whole number of 1 to 1,000,000")?
        }
        _ => 1,
    };
    let method = match words[..] {
        [] => None,
        [method] if is_method(method) => Some(method.to_owned()),
        [_] => return Err("has a method that is not in capital letters, as in GET"),
        _ => return Err("has more than a weight, a method and a URL"),
    };
    let below = |origin: &String| url.strip_prefix(origin.as_str()).filter(|path| path.starts_with('/'));
    let path = match url.contains("://") {
        true => origins.iter().find_map(below).ok_or("names another server than the target")?,
        false => url,
    };
    match is_path(path) {
        true => Ok(UrlChoice { weight, method, path: path.to_owned() }),
        false => Err("has no path that begins with / and is of ASCII without spaces"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rr(lines: &str, body: &str, headers: &[&str]) -> (tempfile::TempDir, RrWorkload) {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            Some(folder.path().join(name).display().to_string())
        };
        let rr = RrWorkload {
            urls: file("urls", lines),
            body_file: file("body", body),
            headers: headers.iter().map(|line| line.parse().unwrap()).collect(),
            ..RrWorkload::default()
        };
        (folder, rr)
    }

    #[test]
    fn urls_have_weights_and_methods_and_bodies_any_bytes() {
        let (_folder, rr) =
            rr("# mine\n\n9 GET /a?b=c\nPOST https://h/d\n  7 /e\n", "\u{e9}\0", &["Accept: x", "Cookie: …"]);
        let literals = HeaderValues(vec![("Cookie".to_owned(), "s3cret".to_owned())]);
        let parts =
            RequestParts::read(&rr, &literals, &["https://h:443".into(), "https://h".into()]).unwrap();
        let url = |weight, method: Option<&str>, path: &str| UrlChoice {
            weight,
            method: method.map(str::to_owned),
            path: path.to_owned(),
        };
        assert_eq!(
            parts.urls,
            [url(9, Some("GET"), "/a?b=c"), url(1, Some("POST"), "/d"), url(7, None, "/e")]
        );
        assert_eq!(parts.headers[1].1, "s3cret");
        assert!(!format!("{parts:?}").contains("s3cret"));
        let line = serde_json::to_string(&parts).unwrap();
        assert_eq!(serde_json::from_str::<RequestParts>(&line).unwrap(), parts);
    }

    #[test]
    fn a_wrong_part_is_named_without_a_secret() {
        let error = |lines: &str, headers: &[&str]| {
            let (_folder, rr) = rr(lines, "", headers);
            crate::error_chain(&RequestParts::read(&rr, &HeaderValues::default(), &[]).unwrap_err())
        };
        for (lines, answer) in [
            ("", "must have 1 to 1000 URLs, and has 0"),
            ("/a\n0 /b", "line 2 of"),
            ("0 /b", "has a weight that is not"),
            ("get /b", "not in capital letters"),
            ("1 GET /b s3cret", "has a weight, a method"),
            ("x://s3cret/", "another server"),
            ("s3cret", "has no path"),
        ] {
            let error = error(lines, &[]);
            let is_named = error.contains(answer) || error.contains("more than a weight");
            assert!(is_named && !error.contains("s3cret"), "{lines}: {error}");
        }
        assert!(error("/", &["Cookie: s3cret"]).contains("Cookie is in no record"));
        assert!(error("/", &["Cookie: $KLATCH_NO_SUCH"]).contains("KLATCH_NO_SUCH, which is not set"));
        assert!(error("/", &["Cookie: @/no/such"]).contains("cannot read the value of a header field"));
    }
}
