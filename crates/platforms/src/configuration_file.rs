//! The configuration files of a platform.

use std::collections::BTreeMap;

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
    /// Content of the file, with the same placeholders as the command, and `{insert:NAME}`: the texts of this name of the transport and of
    /// HTTP/2, or nothing.
    pub text: String,
}

/// The beginning of the place of a text in a file.
const INSERT: &str = "{insert:";

/// The place of the texts of this name.
pub(crate) fn insert_place(name: &str) -> String {
    format!("{INSERT}{name}}}")
}

impl ConfigurationFile {
    /// The content in which the texts of `inserts` stand in their places, those of one name one after another. The other places are empty.
    pub(crate) fn with_inserts(&self, inserts: &[&BTreeMap<String, String>]) -> String {
        let mut parts = self.text.split(INSERT);
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or((part, ""));
            text.extend(inserts.iter().filter_map(|texts| texts.get(name)).map(String::as_str));
            text += rest;
        }
        text
    }
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
    fn texts_of_a_name_follow_one_another_in_its_place() {
        let text = "listen {port}{insert:listen};{insert:more}{insert:listen}.".to_owned();
        let file = ConfigurationFile { name: "a".to_owned(), quotes: Quotes::None, text };
        let insert = |text: &str| [("listen".to_owned(), text.to_owned())].into();
        let (tls, http2) = (insert(" ssl"), insert(" http2"));
        assert_eq!(file.with_inserts(&[]), "listen {port};.");
        assert_eq!(file.with_inserts(&[&tls, &http2]), "listen {port} ssl http2; ssl http2.");
    }

    #[test]
    fn a_shell_reads_what_was_quoted() {
        let script = format!("printf %s \"{}\"", Quotes::Shell.quoted(ODD));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), ODD);
    }
}
