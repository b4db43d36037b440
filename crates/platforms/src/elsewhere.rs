//! What a platform needs where it is started on another machine, such as an emulated one.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::program::installed_program;
use crate::resolve::ResolvedPlatform;

/// What can be in a path; anything else separates paths in a text.
const IN_PATHS: &str = "/._-+@%~";

impl ResolvedPlatform {
    /// Whether it is built from sources before its first start.
    pub fn is_built(&self) -> bool {
        self.entry.build.is_some() || self.entry.sources.is_some()
    }

    /// The files of this machine that it needs at their places, beyond Klatch and Java: its program, the first word of its command, and
    /// those that its command, environment and configuration files name by an absolute path.
    pub fn files_needed(&self) -> Vec<PathBuf> {
        let entry = &self.entry;
        let command =
            if self.in_workload.command.is_empty() { &entry.command } else { &self.in_workload.command };
        let first = command
            .first()
            .filter(|word| !word.contains(['/', '{']))
            .and_then(|word| installed_program(word));
        let program = self.program.as_ref().map(|program| program.path.clone());
        let inserts = self.inserts();
        let files = entry.files.iter().chain(&self.in_transport.files);
        let configuration: Vec<String> = files.map(|file| file.with_inserts(&inserts)).collect();
        let texts = command
            .iter()
            .chain(&self.in_workload.arguments)
            .chain(&self.in_transport.arguments)
            .chain(self.in_http2.iter().flat_map(|one| &one.arguments))
            .chain(entry.environment.values())
            .chain(&configuration);
        let named = texts.flat_map(|text| files_in(text));
        // Each once, in an order that does not change.
        first.into_iter().chain(program).chain(named).collect::<BTreeSet<PathBuf>>().into_iter().collect()
    }
}

/// The plain files that a text names by an absolute path.
fn files_in(text: &str) -> impl Iterator<Item = PathBuf> {
    let words = text.split(|letter: char| !letter.is_alphanumeric() && !IN_PATHS.contains(letter));
    words.filter(|word| word.starts_with('/')).map(PathBuf::from).filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_files_by_their_absolute_paths() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mod_alias.so");
        std::fs::write(&file, "").unwrap();
        let text = format!(
            "LoadModule alias \"{}\"\nRoot {}\nLog=/nowhere/log /dev/null",
            file.display(),
            folder.path().display()
        );
        assert_eq!(files_in(&text).collect::<Vec<_>>(), [file]);
    }
}
