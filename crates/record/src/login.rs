//! What a client says of itself before a server lets it in.

use std::fmt;

use serde::{Deserialize, Serialize};

/// User and password. No record has the password, and `Debug` does not show it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// Name of the user; absent for a password or token alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Password or token; absent for a user alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.password.as_ref().map(|_| "…");
        f.debug_struct("Login").field("user", &self.user).field("password", &shown).finish()
    }
}

/// The text without users and passwords in addresses: `redis://:secret@host` becomes `redis://…@host`.
pub fn without_logins(text: &str) -> String {
    with_logins_as(text, |_| "…")
}

/// The text without passwords in addresses: `redis://alice:secret@host` becomes `redis://alice@host`.
pub fn without_passwords(text: &str) -> String {
    with_logins_as(text, |login| login.split_once(':').map_or(login, |(user, _)| user))
}

/// The text with what is shown of each login in an address in its place.
fn with_logins_as(text: &str, shown_of: fn(&str) -> &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        shown.push_str(before);
        let end = after
            .find(|letter: char| letter.is_whitespace() || "/'\"".contains(letter))
            .unwrap_or(after.len());
        // A password may contain `@` and even `/`, which belongs to it if an `@` follows in the same word.
        let word = after.find(char::is_whitespace).unwrap_or(after.len());
        let secret = after[..end].rfind('@').or_else(|| after[..word].rfind('@'));
        rest = match secret {
            Some(secret) => {
                shown.push_str(shown_of(&after[..secret]));
                &after[secret..]
            }
            None => after,
        };
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        let login = Login { user: Some("alice".into()), password: Some("hunter2".into()) };
        let text = format!("{login:?}");
        assert!(text.contains("alice") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn addresses_in_a_text_lose_their_logins() {
        for (text, shown) in [
            ("redis://:secret@host:1", "redis://…@host:1"),
            ("invalid value 'nats://a:b@c@host:x' for", "invalid value 'nats://…@host:x' for"),
            ("irc://a:b/c@host:1 and ws://x:1/p", "irc://…@host:1 and ws://x:1/p"),
            ("http://host/a, mail a@b", "http://host/a, mail a@b"),
            ("irc://host", "irc://host"),
        ] {
            assert_eq!(without_logins(text), shown);
        }
    }
}
