//! How a command is run on another host: a template of a local command, for OpenSSH, an engine, or any other program.

use std::str::FromStr;

/// Templates with a name.
const PRESETS: [(&str, &str); 4] = [
    ("ssh", "ssh -o BatchMode=yes -- {host} {command}"),
    ("slurm", "srun --nodelist={host} --nodes=1 --ntasks=1 --overlap --quiet {command...}"),
    ("kubernetes", "kubectl exec --stdin --quiet {host} -- {command...}"),
    ("docker", "docker exec --interactive {host} {command...}"),
];

/// Stands for the name of the host, in any word.
const HOST: &str = "{host}";
/// Stands for the command as one word, quoted for a shell on the host.
const QUOTED: &str = "{command}";
/// Stands for the words of the command; it is a word itself.
const WORDS: &str = "{command...}";

/// A local command that runs another command on a host, passing standard input, output and error through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach(Vec<String>);

impl Reach {
    /// The names of the presets, in the order of help.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|(name, _)| *name)
    }

    /// The local command that runs `command` on `host`.
    pub(crate) fn command(&self, host: &str, command: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        for word in &self.0 {
            if word == WORDS {
                words.extend(command.iter().cloned());
            } else if word == QUOTED {
                words.push(in_shell(command));
            } else {
                words.push(word.replace(HOST, host));
            }
        }
        words
    }
}

impl std::fmt::Display for Reach {
    /// The name of a preset, else the template.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = PRESETS.iter().find(|(_, template)| template.parse().as_ref() == Ok(self));
        match named {
            Some((name, _)) => f.write_str(name),
            None => f.write_str(&in_shell(&self.0)),
        }
    }
}

impl Default for Reach {
    /// OpenSSH, which never asks for a password.
    fn default() -> Reach {
        PRESETS[0].1.parse().expect("a test parses all presets")
    }
}

impl FromStr for Reach {
    type Err = String;

    fn from_str(text: &str) -> Result<Reach, String> {
        let preset = PRESETS.iter().find(|(name, _)| *name == text).map(|(_, template)| *template);
        let words = shlex::split(preset.unwrap_or(text)).unwrap_or_default();
        let is_command = |word: &String| word == QUOTED || word == WORDS;
        let commands = words.iter().filter(|word| is_command(word)).count();
        let hosts = words.iter().filter(|word| word.contains(HOST)).count();
        if words.first().is_some_and(|word| !is_command(word)) && hosts > 0 && commands == 1 {
            return Ok(Reach(words));
        }
        let names: Vec<&str> = Reach::presets().collect();
        Err(format!(
            "it must be one of {}, or a command in shell syntax with {HOST}, and with {QUOTED} (quoted for a shell) or {WORDS} \
             as a word, and is {text}",
            names.join(", ")
        ))
    }
}

/// Quotes the words of a command for a shell.
pub fn in_shell(words: &[String]) -> String {
    // Quoting fails only for a NUL, which no program argument can hold.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(reach: &str) -> String {
        let command = ["/opt/my klatch".to_owned(), "crowd".to_owned(), "$HOME".to_owned()];
        let words = reach.parse::<Reach>().unwrap().command("alpha", &command);
        words.join("|")
    }

    #[test]
    fn ssh_gets_one_word_for_its_remote_shell() {
        assert_eq!(words("ssh"), "ssh|-o|BatchMode=yes|--|alpha|'/opt/my klatch' crowd '$HOME'");
        assert_eq!(Reach::default(), "ssh".parse().unwrap());
    }

    #[test]
    fn engines_get_the_words_of_the_command() {
        let srun = "srun|--nodelist=alpha|--nodes=1|--ntasks=1|--overlap|--quiet|/opt/my klatch|crowd|$HOME";
        assert_eq!(words("slurm"), srun);
        assert_eq!(words("kubernetes"), "kubectl|exec|--stdin|--quiet|alpha|--|/opt/my klatch|crowd|$HOME");
        assert_eq!(words("docker"), "docker|exec|--interactive|alpha|/opt/my klatch|crowd|$HOME");
        assert_eq!(words("on 'the {host}' {command...} end"), "on|the alpha|/opt/my klatch|crowd|$HOME|end");
    }

    #[test]
    fn a_reach_is_written_as_it_is_read() {
        for text in ["slurm", "ssh", "on 'the {host}' {command...} end"] {
            let reach: Reach = text.parse().unwrap();
            assert_eq!(reach.to_string().parse::<Reach>(), Ok(reach));
        }
        assert_eq!("docker".parse::<Reach>().unwrap().to_string(), "docker");
    }

    #[test]
    fn a_template_needs_a_host_and_a_command() {
        for wrong in [
            "",
            "rsh",
            "ssh {host}",
            "ssh {command}",
            "{command...} {host}",
            "ssh '{host} {command}",
            "a {host} x{command}",
            "a {host} {command} {command...}",
        ] {
            assert!(wrong.parse::<Reach>().is_err(), "{wrong}");
        }
        let error = "rsh".parse::<Reach>().unwrap_err();
        assert!(error.contains("one of ssh, slurm, kubernetes, docker, or a command"), "{error}");
    }
}
