//! Platforms and their knobs as text.

use klatch_platforms::PlatformListing;
use klatch_record::{Class, error_chain};

use crate::table::{Column, TextTable};

/// A row for each variant of a platform, or one that says why it is not here.
pub fn platforms(listed: &[PlatformListing]) -> TextTable {
    let mut table = TextTable::new([
        Column::name("platform"),
        Column::name("class").less(3),
        Column::name("protocol").less(2),
        Column::name("workloads").less(1),
        Column::words("what it is"),
        Column::words("here"),
    ]);
    listed.iter().flat_map(rows).for_each(|row| table.row(row));
    table
}

fn rows(listed: &PlatformListing) -> Vec<[String; 6]> {
    match &listed.variants {
        Ok(ways) => ways.iter().map(|way| row(&way.name, listed, listed.version(way))).collect(),
        Err(error) => vec![row(&listed.entry.name, listed, format!("not here: {}", error_chain(error)))],
    }
}

/// The rows of a platform as lines, and its knobs below them.
pub fn platform_with_knobs(listed: &PlatformListing) -> String {
    let line = |row: [String; 6]| format!("{}  {}\n", row[0], row[1..].join("  "));
    rows(listed).into_iter().map(line).collect::<String>() + &knobs(&listed.knobs())
}

/// Knobs, each with what it is, for the lines below the name of their owner.
pub fn knobs(knobs: &[(String, String)]) -> String {
    let mut table = TextTable::new([Column::name(""), Column::name(""), Column::words("")]);
    knobs.iter().for_each(|(name, what)| table.row(["  ", name, what]));
    if knobs.is_empty() { String::new() } else { format!("{table}\n") }
}

fn row(name: &str, listed: &PlatformListing, state: String) -> [String; 6] {
    [
        name.to_owned(),
        listed.entry.class.map_or("–", Class::name).to_owned(),
        listed.entry.protocol.name().to_owned(),
        listed.workloads().join(" "),
        listed.entry.summary.clone(),
        state,
    ]
}

#[cfg(test)]
mod tests {
    use klatch_platforms::{InstalledProgram, PlatformError, PlatformRequest, list};

    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn the_list_is_as_it_was_at_three_widths() {
        let mut listed = list(&PlatformRequest::default()).unwrap();
        listed.retain(|one| ["ngircd", "native-epoll", "ergo"].contains(&one.entry.name.as_str()));
        for one in &mut listed {
            let version =
                |path: &str| InstalledProgram { path: path.into(), version: Some("1.2.3".to_owned()) };
            one.variants = match one.variants.as_mut() {
                Ok(ways) if one.entry.name == "native-epoll" => {
                    ways[0].program = Some(version("/usr/bin/klatch"));
                    continue;
                }
                _ if one.entry.name == "ergo" => {
                    Err(PlatformError::NoFile { path: "/usr/share/klatch/ergo/configuration.yaml".into() })
                }
                _ => Ok(Vec::new()),
            };
        }
        insta::assert_snapshot!(at_widths(|| format!("{}\n", platforms(&listed))));
    }
}
