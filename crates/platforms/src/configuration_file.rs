//! The configuration files of a platform.

use serde::Deserialize;

/// A file that a platform reads when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFile {
    /// Name of the file within `{folder}`.
    pub name: String,
    /// How paths are written in it, wherever it has them between double quotes. Default: as they are.
    #[serde(default)]
    pub quotes: Quotes,
    /// Content of the file, with the same placeholders as the command.
    pub text: String,
}

/// How a kind of file writes a text between double quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quotes {
    /// As it is.
    #[default]
    None,
    /// With a backslash before `"` and `\\`: nginx, Apache, NATS, YAML.
    Backslash,
    /// With a backslash before `"` alone: lighttpd, Caddy.
    BackslashQuote,
    /// With a backslash before what a shell would expand.
    Shell,
    /// With the entities of XML: InspIRCd.
    Entities,
}

impl Quotes {
    /// What stands between the double quotes for this text.
    pub(crate) fn quoted(self, text: &str) -> String {
        let special: &[char] = match self {
            Quotes::None => return text.to_owned(),
            Quotes::Entities => return text.replace('&', "&amp;").replace('"', "&quot;"),
            Quotes::Backslash => &['"', '\\'],
            Quotes::BackslashQuote => &['"'],
            Quotes::Shell => &['"', '\\', '$', '`'],
        };
        let mut quoted = String::with_capacity(text.len());
        for letter in text.chars() {
            if special.contains(&letter) {
                quoted.push('\\');
            }
            quoted.push(letter);
        }
        quoted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ODD: &str = "/tmp/a b'c\"d\\e$f`g&h";

    #[test]
    fn each_kind_of_file_has_its_quotes() {
        assert_eq!(Quotes::None.quoted(ODD), ODD);
        assert_eq!(Quotes::Backslash.quoted(ODD), "/tmp/a b'c\\\"d\\\\e$f`g&h");
        assert_eq!(Quotes::BackslashQuote.quoted(ODD), "/tmp/a b'c\\\"d\\e$f`g&h");
        assert_eq!(Quotes::Entities.quoted(ODD), "/tmp/a b'c&quot;d\\e$f`g&amp;h");
    }

    #[test]
    fn a_shell_reads_what_was_quoted() {
        let script = format!("printf %s \"{}\"", Quotes::Shell.quoted(ODD));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), ODD);
    }
}
