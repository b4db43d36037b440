//! Passwords that exist for one start of a server: random, in no command line, record or message.

use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};
use std::io;
use std::sync::Mutex;

use rustix::rand::{GetRandomFlags, getrandom};

/// Begins a placeholder, whose name ends with `}`.
const PLACEHOLDER: &str = "{secret:";
/// Bytes of a secret: 128 bits cannot be guessed.
const BYTES: usize = 16;

/// The secrets of one server by name. Each is made when it is first needed, and is the same until the server is gone.
#[derive(Default)]
pub(crate) struct Secrets(Mutex<BTreeMap<String, String>>);

impl Secrets {
    /// The text with a secret in place of each `{secret:NAME}`.
    ///
    /// # Errors
    /// The kernel has no random bytes.
    pub(crate) fn fill(&self, text: &str) -> io::Result<String> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, name, after)) = first_placeholder(rest) {
            filled.push_str(before);
            filled.push_str(&self.named(name)?);
            rest = after;
        }
        Ok(filled + rest)
    }

    fn named(&self, name: &str) -> io::Result<String> {
        let mut all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(secret) = all.get(name) {
            return Ok(secret.clone());
        }
        let mut bytes = [0; BYTES];
        let read = rustix::io::retry_on_intr(|| getrandom(&mut bytes, GetRandomFlags::empty()))?;
        if read < BYTES {
            return Err(io::Error::other("the kernel gave too few random bytes"));
        }
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        all.insert(name.to_owned(), secret.clone());
        Ok(secret)
    }
}

/// Names alone: a secret is in no message.
impl Debug for Secrets {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        formatter.debug_set().entries(all.keys()).finish()
    }
}

/// Whether a text has a placeholder of a secret.
pub(crate) fn has_secret(text: &str) -> bool {
    text.contains(PLACEHOLDER)
}

/// The text before the first placeholder, its name, and the text after it.
fn first_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(PLACEHOLDER)?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

/// Environment variables of a process, which only its user and root can read.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Adds variables; those of the same name are replaced.
    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = (String, String)>) {
        self.0.extend(more);
    }

    /// All names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }
}

/// Names alone: values can be secrets.
impl Debug for Environment {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_secret_and_two_names_are_two() {
        let secrets = Secrets::default();
        let filled = secrets.fill("a {secret:one} b {secret:two} c {secret:one}{").unwrap();
        let words: Vec<&str> = filled.split(' ').collect();
        let [a, one, b, two, c, again] = words[..] else { panic!("{filled}") };
        assert_eq!((a, b, c, again), ("a", "b", "c", format!("{one}{{").as_str()));
        assert!(one.len() == 2 * BYTES && one.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
        assert_ne!(one, two);
        assert_ne!(Secrets::default().fill("{secret:one}").unwrap(), one, "another start has another");
    }

    #[test]
    fn debug_output_has_no_secret() {
        let secrets = Secrets::default();
        let one = secrets.fill("{secret:one}").unwrap();
        let mut environment = Environment::default();
        environment.extend([("PASSWORD".to_owned(), one.clone())]);
        let printed = format!("{secrets:?} {environment:?}");
        assert!(!printed.contains(&one) && printed.contains("PASSWORD"), "{printed}");
    }
}
