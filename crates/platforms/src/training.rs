//! A platform in its training run, and with the archive that the run has written.

use std::path::Path;

use crate::resolve::ResolvedPlatform;

impl ResolvedPlatform {
    /// The setting for which a training run must write an archive before the platform can start, as `name=value`.
    pub fn needs_training(&self) -> Option<&str> {
        self.knobs.archive.as_ref().map(|archive| archive.setting.as_str())
    }

    /// The same for the training run, which writes this archive when its process ends.
    #[must_use]
    pub fn in_training(&self, archive: &Path) -> ResolvedPlatform {
        let options = self.knobs.archive.as_ref().map(|archive| archive.training_options.as_slice());
        self.with_options(options.unwrap_or(&self.knobs.java_options), archive)
    }

    /// The same with an archive that a training run has written.
    #[must_use]
    pub fn trained(&self, archive: &Path) -> ResolvedPlatform {
        self.with_options(&self.knobs.java_options, archive)
    }

    fn with_options(&self, options: &[String], archive: &Path) -> ResolvedPlatform {
        let mut platform = self.clone();
        let path = archive.display().to_string();
        platform.knobs.java_options = options.iter().map(|word| word.replace("{archive}", &path)).collect();
        platform.knobs.archive = None;
        platform
    }
}
