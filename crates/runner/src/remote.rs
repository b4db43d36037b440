//! Crowds on other machines, over OpenSSH.

/// The machines that run the crowd, if not this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// Host names as ssh resolves them; empty for this machine.
    pub hosts: Vec<String>,
    /// The ssh program and its options, such as `ssh -o BatchMode=yes`.
    pub ssh: Vec<String>,
    /// Name or path of Klatch on the hosts.
    pub program: String,
}

impl Remote {
    /// The host of shard `number`, counted from 0; hosts take turns. `None` for this machine.
    pub(crate) fn host(&self, number: usize) -> Option<&str> {
        self.hosts.get(number % self.hosts.len().max(1)).map(String::as_str)
    }

    /// The local command that runs `command` on `host` through a shell.
    pub(crate) fn over_ssh(&self, host: &str, command: &[String]) -> Vec<String> {
        let mut words = self.ssh.clone();
        words.extend(["--".to_owned(), host.to_owned(), in_shell(command)]);
        words
    }
}

/// Quotes the words of a command for a shell.
pub fn in_shell(words: &[String]) -> String {
    // Quoting fails only for a NUL, which no program argument can hold.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// Splits a command into words as a shell does; `None` if a quote is not closed.
pub fn from_shell(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_for_a_remote_shell_are_quoted() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let remote = Remote {
            hosts: words("alpha beta"),
            ssh: words("ssh -o BatchMode=yes"),
            program: "klatch".into(),
        };
        let command = ["/opt/my klatch".to_owned(), "crowd".to_owned(), "$HOME".to_owned()];
        let mut expected = words("ssh -o BatchMode=yes -- alpha");
        expected.push("'/opt/my klatch' crowd '$HOME'".to_owned());
        assert_eq!(remote.over_ssh("alpha", &command), expected);
        let hosts: Vec<_> = (0..3).map(|number| remote.host(number)).collect();
        assert_eq!(hosts, [Some("alpha"), Some("beta"), Some("alpha")]);
        assert_eq!(Remote::default().host(5), None);
    }
}
