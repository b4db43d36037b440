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
        let training = self.knobs.archive.as_ref();
        let options = training.map_or(&self.knobs.java_options, |training| &training.training_options);
        let mut platform = self.with_options(options, archive);
        // This run only writes what the setting needs.
        platform.knobs.java_promises.retain(|one| Some(one.setting.as_str()) != self.needs_training());
        platform
    }

    /// The same with an archive that a training run has written.
    #[must_use]
    pub fn trained(&self, archive: &Path) -> ResolvedPlatform {
        self.with_options(&self.knobs.java_options, archive)
    }

    fn with_options(&self, options: &[String], archive: &Path) -> ResolvedPlatform {
        let mut platform = self.clone();
        let path = archive.display().to_string();
        let fill = |word: &String| word.replace("{archive}", &path);
        platform.knobs.java_options = options.iter().map(fill).collect();
        for promise in &mut platform.knobs.java_promises {
            promise.options = promise.options.iter().map(fill).collect();
        }
        platform.knobs.archive = None;
        platform
    }
}
