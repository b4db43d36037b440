//! The studies that Klatch brings: the folder `studies/` of the source, inside the program.

use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../studies");

/// A study that Klatch brings.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

impl Shipped {
    /// The question that it answers.
    pub fn question(&self) -> Option<String> {
        let file: toml::Table = self.text.parse().ok()?;
        file.get("question")?.as_str().map(str::to_owned)
    }
}

/// All of them, by name.
pub fn shipped() -> Vec<Shipped> {
    let one = |file: &'static include_dir::File<'static>| {
        let name = file.path().file_name()?.to_str()?.strip_suffix(".toml")?;
        Some(Shipped { name, text: file.contents_utf8()? })
    };
    let mut all: Vec<Shipped> = FILES.files().filter_map(one).collect();
    all.sort_by_key(|study| study.name);
    all
}
