//! The catalog: one TOML file per platform, in the folder `platforms/` of the source and inside the program.

use include_dir::{Dir, include_dir};
use klatch_record::Class;
use serde::Deserialize;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../platforms");

/// What the catalog says of a platform.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name, which is that of its file.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// How it writes.
    pub class: Class,
    /// The protocol it speaks.
    pub wire: Wire,
    /// How it is started. `{klatch}`, `{java}`, `{jar}` and `{address}` are put in.
    pub command: Vec<String>,
    /// What it needs of a JDK, if it is a Java program.
    pub java: Option<NeedsJava>,
}

/// The protocols that a crowd speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// IRC.
    Irc,
}

/// What a platform needs of a JDK.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedsJava {
    /// The oldest feature version that will do.
    pub version_min: u32,
}

/// All platforms, by name.
pub fn catalog() -> Vec<Entry> {
    let mut entries: Vec<Entry> = FILES
        .files()
        .filter(|file| file.path().extension().is_some_and(|ending| ending == "toml"))
        .map(|file| {
            let text = file.contents_utf8().expect("the catalog is text");
            // A test reads every file: a wrong one cannot be built in.
            toml::from_str(text).expect("the catalog is valid")
        })
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_valid_and_named_as_its_platform() {
        let names: Vec<String> = catalog().into_iter().map(|entry| entry.name).collect();
        let mut files: Vec<&str> =
            FILES.files().filter_map(|file| file.path().file_stem()?.to_str()).collect();
        files.sort_unstable();
        assert_eq!(names, files);
    }
}
