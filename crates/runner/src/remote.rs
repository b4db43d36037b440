//! Crowds on other machines, over OpenSSH.

/// Where crowds run, if not here, and how they are reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// The machines, as ssh knows them; none means this one.
    pub hosts: Vec<String>,
    /// The program and options that reach one: `ssh -o BatchMode=yes`.
    pub ssh: Vec<String>,
    /// Klatch as it is called there.
    pub program: String,
}

impl Remote {
    /// The machine of shard `number`, if not this one: one after the other.
    pub(crate) fn host(&self, number: usize) -> Option<&str> {
        self.hosts.get(number % self.hosts.len().max(1)).map(String::as_str)
    }

    /// The command that runs `command` on `host`. A shell reads it there.
    pub(crate) fn over_ssh(&self, host: &str, command: &[String]) -> Vec<String> {
        let mut words = self.ssh.clone();
        words.extend(["--".to_owned(), host.to_owned(), in_shell(command)]);
        words
    }
}

/// Words as a shell reads them.
pub fn in_shell(words: &[String]) -> String {
    // Only a NUL cannot be told to a shell, and no argument of a program holds one.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

/// The words of a command as a shell reads it; `None` if a quote is not closed.
pub fn from_shell(command: &str) -> Option<Vec<String>> {
    shlex::split(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_the_shell_of_the_other_machine() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let remote = Remote {
            hosts: words("alpha beta"),
            ssh: words("ssh -o BatchMode=yes"),
            program: "klatch".into(),
        };
        let command = ["/opt/my klatch".to_owned(), "crowd".to_owned(), "$HOME".to_owned()];
        let mut wanted = words("ssh -o BatchMode=yes -- alpha");
        wanted.push("'/opt/my klatch' crowd '$HOME'".to_owned());
        assert_eq!(remote.over_ssh("alpha", &command), wanted);
        let hosts: Vec<_> = (0..3).map(|number| remote.host(number)).collect();
        assert_eq!(hosts, [Some("alpha"), Some("beta"), Some("alpha")]);
        assert_eq!(Remote::default().host(5), None);
    }
}
