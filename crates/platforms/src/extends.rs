//! A catalog file with the parts that it extends.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// Finds the text of a part by its name; `None` if there is none, and the reason if it cannot be read.
pub(crate) type FindPart<'a> = dyn Fn(&str) -> Result<Option<String>, String> + 'a;

/// The contents of a catalog file: what its parts say, below what it says itself.
///
/// # Errors
/// What is wrong with the file or a part.
pub(crate) fn with_parts<T: DeserializeOwned>(text: &str, part: &FindPart<'_>) -> Result<T, String> {
    let message = |error: toml::de::Error| error.to_string().trim_end().to_owned();
    let own: Table = toml::from_str(text).map_err(message)?;
    let Some(extends) = own.get("extends") else {
        // Straight from the text, so that an error has its line.
        return toml::from_str(text).map_err(message);
    };
    let names: Vec<String> =
        extends.clone().try_into().map_err(|_| "extends must be a list of names of parts")?;
    let mut whole = Table::new();
    for name in &names {
        let found = part(name)?.ok_or_else(|| format!("there is no parts/{name}.toml to extend"))?;
        let table =
            toml::from_str(&found).map_err(|error| format!("parts/{name}.toml: {}", message(error)))?;
        merge(&mut whole, table);
    }
    merge(&mut whole, own);
    T::deserialize(whole).map_err(|error| {
        // If the file alone has the same fault, its line is known.
        match toml::from_str::<T>(text) {
            Err(own) if own.message() == error.message() => message(own),
            _ => format!("with the parts {}: {}", names.join(", "), message(error)),
        }
    })
}

/// Puts `over` into `table`. Tables are merged; all else is replaced.
fn merge(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => drop(table.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Entry;

    const MINE: &str = "name = 'mine'\nsummary = 'x'\nclass = 'open'\nprotocol = 'irc'\ncommand = ['x']\n";

    fn parse(text: &str) -> Result<Entry, String> {
        let part = |name: &str| {
            Ok(match name {
                "a" => Some("needs.memory_mib = 1\n[knobs.k]\nhelp = 'a'\narguments = ['-a']\n".to_owned()),
                "b" => Some("[knobs.k]\nhelp = 'b'\n".to_owned()),
                "wrong" => Some("[knobs.k]\nhelp = 'w'\nspeed = 9\n".to_owned()),
                _ => None,
            })
        };
        with_parts(text, &part)
    }

    #[test]
    fn the_file_wins_over_its_parts_and_a_later_part_over_an_earlier_one() {
        let entry = parse(&format!("{MINE}extends = ['a', 'b']\n[knobs.k]\nworkloads = ['chat']\n")).unwrap();
        let knob = &entry.knobs["k"];
        assert_eq!(
            (knob.help.as_str(), &knob.arguments[..], knob.workloads.len()),
            ("b", &["-a".to_owned()][..], 1)
        );
        assert_eq!(entry.needs.memory_mib, 1);
    }

    #[test]
    fn a_wrong_file_is_named_with_its_line_or_parts() {
        let error = |more: &str| parse(&format!("{MINE}{more}\n")).unwrap_err();
        assert!(error("extends = ['c']").contains("there is no parts/c.toml to extend"));
        assert!(error("extends = 'a'").contains("extends must be a list"));
        assert!(
            error("extends = ['a']\nspeed = 9").contains("line 7"),
            "{}",
            error("extends = ['a']\nspeed = 9")
        );
        let in_part = error("extends = ['a', 'wrong']");
        assert!(in_part.contains("with the parts a, wrong: ") && in_part.contains("speed"), "{in_part}");
    }
}
