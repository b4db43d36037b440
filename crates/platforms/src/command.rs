//! The exact command line of a platform, and the files it reads.

use std::path::Path;

use crate::choose::{Chosen, PlatformError};
use crate::own::{klatch_itself, klatch_jar, netty_jar};
use crate::sources::{Places, prepare};

/// Where a server is to listen, and where its files are.
pub(crate) struct Site<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) folder: &'a Path,
}

impl Chosen {
    /// Builds what is to be built, writes the files, and gives the command line.
    pub(crate) fn prepare(&self, site: &Site<'_>) -> Result<Vec<String>, PlatformError> {
        let wrong = |source| PlatformError::Source { name: self.entry.name.clone(), source };
        let places = prepare(&self.entry, |word, places| self.fill(word, site, places)).map_err(wrong)?;
        for file in &self.entry.files {
            let path = site.folder.join(&file.name);
            let text = self.fill(&file.text, site, &places);
            std::fs::write(&path, text)
                .map_err(|source| wrong(crate::sources::SourceError::Lay { path, source }))?;
        }
        let mut words = Vec::new();
        for word in &self.entry.command {
            match word.as_str() {
                "{klatch}" => words.push(klatch_itself()?.display().to_string()),
                "{jar}" => words.push(klatch_jar()?.display().to_string()),
                "{netty_jar}" => words.push(netty_jar()?.display().to_string()),
                "{java_options}" => words.extend(self.tuned.java_options.iter().cloned()),
                "{knobs}" => words.extend(self.tuned.arguments.iter().cloned()),
                word => words.push(self.fill(word, site, &places)),
            }
        }
        if klatch_privileges::programs_run_as_root() {
            words.extend(self.entry.arguments_as_root.iter().cloned());
        }
        Ok(words)
    }

    fn fill(&self, text: &str, site: &Site<'_>, places: &Places) -> String {
        let path = |path: Option<&Path>| path.map_or(String::new(), |path| path.display().to_string());
        text.replace("{address}", &format!("{}:{}", site.host, site.port))
            .replace("{host}", site.host)
            .replace("{port}", &site.port.to_string())
            .replace("{folder}", &path(Some(site.folder)))
            .replace("{source}", &path(Some(&places.source)))
            .replace("{build}", &path(Some(&places.build)))
            .replace("{program}", &path(self.program.as_ref().map(|program| program.path.as_path())))
            .replace("{java}", &path(self.java.as_ref().map(|java| java.path.as_path())))
    }
}
