//! The studies that are compiled into Klatch from the folder `studies/`.

use std::path::Path;

use include_dir::{Dir, include_dir};
use klatch_record::ResultKind;

use super::StudyFile;

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../studies");

/// A study that is part of Klatch.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Name of its file without extension, unique among all kinds.
    pub name: &'static str,
    /// How it gets its numbers, by the folder of its file.
    pub kind: ResultKind,
    /// Contents of its file.
    pub text: &'static str,
}

impl Shipped {
    /// The question that it answers; `None` if the file has none.
    pub fn question(&self) -> Option<String> {
        let file: toml::Table = self.text.parse().ok()?;
        file.get("question")?.as_str().map(str::to_owned)
    }

    pub(super) fn file(&self) -> StudyFile {
        let path = Path::new(self.name).with_extension("toml");
        StudyFile { path, text: self.text.into(), kind: self.kind, has_lines: true }
    }
}

/// All shipped studies: the measured ones, then those of the lab and the simulated ones, each sorted by name.
pub fn shipped() -> Vec<Shipped> {
    let folders = [
        (ResultKind::Measured, Some(&FILES)),
        (ResultKind::Emulated, FILES.get_dir("lab")),
        (ResultKind::Simulated, FILES.get_dir("simulated")),
    ];
    let studies_in = |(kind, folder): (ResultKind, Option<&'static Dir<'static>>)| {
        let study = |file: &'static include_dir::File<'static>| {
            let name = file.path().file_name()?.to_str()?.strip_suffix(".toml")?;
            Some(Shipped { name, kind, text: file.contents_utf8()? })
        };
        let files = folder.into_iter().flat_map(|folder| folder.files());
        let mut studies: Vec<Shipped> = files.filter_map(study).collect();
        studies.sort_by_key(|study| study.name);
        studies
    };
    folders.into_iter().flat_map(studies_in).collect()
}
