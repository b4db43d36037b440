//! Requests for URLs of an HTTP server: the header fields, and what must be true of each reply.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Most bytes of a path with its query, of a header field, and of an expected value.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The setting whose values may be secrets.
pub const HEADER: &str = "header";
/// Stands in records for the value of a header field that may be a secret.
const HIDDEN: &str = "…";

/// Header fields whose values no record has to hide.
const PUBLIC: [&str; 18] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "origin",
    "pragma",
    "range",
    "te",
    "user-agent",
];

/// Header fields that follow from the body.
const OF_BODY: [&str; 2] = ["content-length", "transfer-encoding"];

/// A header field of each request, as records have it: never with a value that may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct HeaderField {
    /// Its name.
    pub name: String,
    /// Where its value is.
    pub value: HeaderValue,
}

/// The value of a header field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderValue {
    /// Itself, of a field that is no secret.
    Public(String),
    /// The first line of this file: `@FILE`.
    File(PathBuf),
    /// A variable of the environment: `$NAME`.
    Variable(String),
    /// In the memory of the process that was given it, and nowhere else.
    Hidden,
}

impl HeaderField {
    /// Reads a header field as users write it: `Name: value`, `Name: @FILE` or `Name: $VARIABLE`. Returns its literal value too, if it has one.
    ///
    /// # Errors
    /// What it must be; the text has no value in it.
    pub fn parse(line: &str) -> Result<(HeaderField, Option<String>), String> {
        let form = "a header field as in 'Accept: text/html'";
        let (name, value) = line.split_once(':').ok_or_else(|| format!("{form}, with a colon"))?;
        let value = value.trim();
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(format!("{form}, with a name of letters, digits and -"));
        }
        let name = name.to_owned();
        if OF_BODY.iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(format!("another field than {name}, which follows from the body"));
        }
        check_value(&name, value)?;
        if let Some(file) = value.strip_prefix('@') {
            return match file {
                "" => Err(format!("{name}: @FILE, with the name of a file")),
                _ => Ok((HeaderField { name, value: HeaderValue::File(file.into()) }, None)),
            };
        }
        if let Some(variable) = value.strip_prefix('$') {
            return match variable.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                true => Ok((HeaderField { name, value: HeaderValue::Variable(variable.to_owned()) }, None)),
                false => Err(format!("{name}: $VARIABLE, with the name of a variable")),
            };
        }
        let is_public = PUBLIC.iter().any(|public| name.eq_ignore_ascii_case(public));
        let shown = if is_public { HeaderValue::Public(value.to_owned()) } else { HeaderValue::Hidden };
        let literal = Some(value.to_owned()).filter(|value| value != HIDDEN);
        Ok((HeaderField { name, value: shown }, literal))
    }
}

/// Checks the value of the header field `name`.
///
/// # Errors
/// What it must be, without the value.
pub(crate) fn check_value(name: &str, value: &str) -> Result<(), String> {
    match value.len() <= TEXT_BYTES_MAX && !value.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(format!("{name} with a value of at most 8 KiB without control characters")),
    }
}

/// Whether a byte may stand in a name of HTTP: RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl FromStr for HeaderField {
    type Err = String;

    fn from_str(line: &str) -> Result<HeaderField, String> {
        HeaderField::parse(line).map(|(field, _)| field)
    }
}

impl fmt::Display for HeaderField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.value {
            HeaderValue::Public(value) => f.write_str(value),
            HeaderValue::File(file) => write!(f, "@{}", file.display()),
            HeaderValue::Variable(variable) => write!(f, "${variable}"),
            HeaderValue::Hidden => f.write_str(HIDDEN),
        }
    }
}

impl TryFrom<String> for HeaderField {
    type Error = String;

    fn try_from(text: String) -> Result<HeaderField, String> {
        text.parse()
    }
}

impl From<HeaderField> for String {
    fn from(field: HeaderField) -> String {
        field.to_string()
    }
}

/// A value in a JSON body, by its pointer: `/user/name=Ann`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct JsonValue {
    /// The pointer, as in RFC 6901; empty for the whole body.
    pub pointer: String,
    /// The value, as it was written: JSON, or else a text.
    text: String,
}

impl JsonValue {
    /// The value that must be there.
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| Value::String(self.text.clone()))
    }
}

impl FromStr for JsonValue {
    type Err = String;

    fn from_str(text: &str) -> Result<JsonValue, String> {
        let form = "a pointer and a value, as in /ok=true";
        let (pointer, value) = text.split_once('=').ok_or(form)?;
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        let is_short = text.len() <= TEXT_BYTES_MAX && !text.contains('\n');
        match is_pointer && is_short {
            true => Ok(JsonValue { pointer: pointer.to_owned(), text: value.to_owned() }),
            false => Err(form.to_owned()),
        }
    }
}

impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.pointer, self.text)
    }
}

impl TryFrom<String> for JsonValue {
    type Error = String;

    fn try_from(text: String) -> Result<JsonValue, String> {
        text.parse()
    }
}

impl From<JsonValue> for String {
    fn from(value: JsonValue) -> String {
        value.to_string()
    }
}

/// Whether a text is a path, with or without a query, as a request has it.
pub(crate) fn is_path(text: &str) -> bool {
    text.starts_with('/')
        && text.len() <= TEXT_BYTES_MAX
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#')
}

/// Whether a text is a method.
pub(crate) fn is_method(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-')
}

/// Whether a text is a SHA-256 in hexadecimal digits.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_values_and_references_are_recorded() {
        for (line, recorded, literal) in [
            ("accept:text/html", "accept: text/html", Some("text/html")),
            ("Authorization: Bearer s3cret", "Authorization: …", Some("Bearer s3cret")),
            ("X-Mine: s3cret", "X-Mine: …", Some("s3cret")),
            ("Cookie: @/run/cookie", "Cookie: @/run/cookie", None),
            ("Authorization: $TOKEN", "Authorization: $TOKEN", None),
            ("Authorization: …", "Authorization: …", None),
            ("X-Empty:", "X-Empty: …", Some("")),
        ] {
            let (field, value) = HeaderField::parse(line).unwrap();
            assert_eq!((field.to_string().as_str(), value.as_deref()), (recorded, literal), "{line}");
            assert_eq!(HeaderField::parse(recorded).unwrap().0, field, "{line}");
            let json = serde_json::to_string(&field).unwrap();
            assert!(!json.contains("s3cret"), "{json}");
            assert_eq!(serde_json::from_str::<HeaderField>(&json).unwrap(), field);
        }
    }

    #[test]
    fn a_wrong_field_is_named_without_its_value() {
        for (line, answer) in [
            ("s3cret", "with a colon"),
            (": s3cret", "with a name"),
            ("My Name: s3cret", "with a name"),
            ("Content-Length: s3cret", "follows from the body"),
            ("X-Mine: s3cret\r\nX: y", "X-Mine with a value of at most"),
            ("Cookie: $s3cret-x", "Cookie: $VARIABLE"),
            ("Cookie: @", "Cookie: @FILE"),
        ] {
            let error = HeaderField::parse(line).unwrap_err();
            assert!(error.contains(answer) && !error.contains("s3cret"), "{line}: {error}");
        }
    }

    #[test]
    fn an_expected_value_is_json_or_a_text() {
        let value = |text: &str| text.parse::<JsonValue>().map(|one| (one.pointer.clone(), one.value()));
        assert_eq!(value("/ok=true"), Ok(("/ok".to_owned(), Value::Bool(true))));
        assert_eq!(value("/a/0=x=y"), Ok(("/a/0".to_owned(), Value::String("x=y".to_owned()))));
        assert_eq!(value("=null"), Ok((String::new(), Value::Null)));
        assert!(value("ok=true").is_err() && value("/ok").is_err());
    }
}
