//! Passwords of servers: from an address, a file or the environment.

use std::path::Path;

use anyhow::Context;
use klatch_record::ProtocolName;
use klatch_runner::Target;

/// The variable with the password of a target.
const VARIABLE: &str = "KLATCH_PASSWORD";

/// The target with a password from this file or the environment, if its address has a login without one.
///
/// # Errors
/// The file cannot be read, there is no login, there are two passwords, or one is missing.
pub(crate) fn with_password(mut target: Target, file: Option<&Path>) -> anyhow::Result<Target> {
    let (url, protocol) = (target.url(), target.endpoint.protocol);
    let Some(login) = &mut target.login else {
        anyhow::ensure!(
            file.is_none(),
            "--password-file needs a target with a user or an @: {}",
            with_at(&url)
        );
        return Ok(target);
    };
    let others = file.map(read).transpose()?.or_else(|| std::env::var(VARIABLE).ok());
    match (&login.password, others) {
        (Some(_), Some(_)) if file.is_some() => {
            anyhow::bail!("there are two passwords: that of --password-file, and one in the target")
        }
        (None, Some(password)) => login.password = Some(password),
        (Some(_), _) => {}
        // Brokers and databases may know a user by name alone.
        (None, None) => anyhow::ensure!(
            login.user.is_some() && matches!(protocol, ProtocolName::Mqtt | ProtocolName::Postgres),
            "{url} has no password: set {VARIABLE}, or use --password-file of klatch run"
        ),
    }
    let is_plain = |text: &str| !text.chars().any(char::is_control);
    let is_sent = login.password.as_deref().is_none_or(is_plain);
    anyhow::ensure!(is_sent, "a password has no control characters");
    Ok(target)
}

fn with_at(url: &str) -> String {
    url.replacen("://", "://alice@", 1)
}

/// The first line of a file.
fn read(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the password in {}", file.display()))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
