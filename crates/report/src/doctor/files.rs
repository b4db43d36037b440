//! The folders in which Klatch keeps its jars, builds and state.

use std::path::PathBuf;

use klatch_host::privileges::{FolderError, PrivateFolder, cache_path, cannot_write, state_folder};
use klatch_record::error_chain;

use super::finding::Finding;

const TOPIC: &str = "Folders";

pub(super) fn findings() -> Vec<Finding> {
    [("cache", cache_path()), ("state", state_folder())].map(|(name, path)| finding(name, path)).into()
}

fn finding(name: &str, path: Result<PathBuf, FolderError>) -> Finding {
    const REMEDY: &str = "set XDG_CACHE_HOME and XDG_STATE_HOME to folders of yours";
    let opened = path.and_then(|path| PrivateFolder::open(&path).map(|_| path));
    match opened {
        Ok(path) => match cannot_write(&path) {
            None => Finding::works(TOPIC, name, path.display().to_string()),
            Some(error) => Finding::gap(
                TOPIC,
                name,
                format!("cannot write to {}: {error}", path.display()),
                REMEDY.to_owned(),
            ),
        },
        Err(error) => {
            let remedy = match &error {
                FolderError::Untrusted { path, .. } => format!("chmod go-w {}", path.display()),
                _ => REMEDY.to_owned(),
            };
            Finding::gap(TOPIC, name, error_chain(&error), remedy)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_that_others_can_write_is_a_gap_with_its_name() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("cache");
        std::fs::create_dir(&folder).unwrap();
        assert!(!finding("cache", Ok(folder.join("klatch"))).is_gap, "it is made when it is needed");
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o777)).unwrap();
        let gap = finding("cache", Ok(folder.join("klatch")));
        assert!(gap.is_gap && gap.state.contains("others can write it (mode 777)"), "{gap:?}");
        assert_eq!(gap.remedy, Some(format!("chmod go-w {}", folder.display())));
        let gap = finding("state", Err(FolderError::NoHome { what: "state", variable: "XDG_STATE_HOME" }));
        assert!(gap.is_gap && gap.remedy.unwrap().contains("XDG_STATE_HOME"));
    }
}
