//! The studies that are compiled into Klatch from the folder `studies/`.

use include_dir::{Dir, include_dir};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../studies");

/// A study that is part of Klatch.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Name of its file without extension.
    pub name: &'static str,
    /// Contents of its file.
    pub text: &'static str,
}

impl Shipped {
    /// The question that it answers; `None` if the file has none.
    pub fn question(&self) -> Option<String> {
        let file: toml::Table = self.text.parse().ok()?;
        file.get("question")?.as_str().map(str::to_owned)
    }
}

/// All shipped studies, sorted by name.
pub fn shipped() -> Vec<Shipped> {
    let one = |file: &'static include_dir::File<'static>| {
        let name = file.path().file_name()?.to_str()?.strip_suffix(".toml")?;
        Some(Shipped { name, text: file.contents_utf8()? })
    };
    let mut all: Vec<Shipped> = FILES.files().filter_map(one).collect();
    all.sort_by_key(|study| study.name);
    all
}
