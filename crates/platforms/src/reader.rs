//! A platform of workload `files`: a program that reads, and no server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use klatch_host::privileges::temporary_folder;
use klatch_record::Workload;
use tempfile::TempDir;

use crate::block_files::block_files;
use crate::command::{Prepared, Site};
use crate::launch::Launch;
use crate::platform_error::PlatformError;
use crate::process::Processes;
use crate::resolve::ResolvedPlatform;
use crate::secrets::Secrets;
use crate::server::ServerError;

/// A program that reads files, ready to be started.
pub struct ReaderProgram {
    /// Its command line, to which the option that takes a job is still to be appended.
    pub command: Vec<String>,
    /// Variables that its platform file sets.
    pub variables: BTreeMap<String, String>,
    /// How its process is started.
    pub launch: Launch,
    /// The folder of the files that it reads.
    pub files: PathBuf,
    _folder: TempDir,
}

impl ReaderProgram {
    /// Writes the files that are missing, and builds the program if necessary.
    ///
    /// # Errors
    /// A file cannot be written, or the program cannot be built.
    pub fn prepare(platform: &ResolvedPlatform, all: &Processes) -> Result<ReaderProgram, ServerError> {
        let no_site = |source| ServerError::Site { name: platform.name.clone(), source };
        let folder = temporary_folder().map_err(no_site)?;
        let files = match &platform.workload {
            Workload::Files(files) => block_files(files)
                .map_err(|source| PlatformError::Source { name: platform.entry.name.clone(), source })?,
            _ => PathBuf::new(),
        };
        let secrets = Secrets::default();
        let site = Site { host: "", port: 0, folder: folder.path(), secrets: &secrets };
        let Prepared { command, launch, variables, .. } = platform.prepare(&site, all)?;
        Ok(ReaderProgram { command, variables, launch, files, _folder: folder })
    }
}
