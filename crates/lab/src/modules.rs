//! Modules of a kernel, in the folder of its release below `lib/modules`.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::LabError;

/// What precedes the names of the modules that a module needs, in its section `.modinfo`.
const DEPENDS: &[u8] = b"\0depends=";

/// The modules below a folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modules {
    /// Path of each, by its name with `_` for `-`, as the kernel does.
    paths: BTreeMap<String, PathBuf>,
}

impl Modules {
    /// All modules below `folder`.
    pub(crate) fn in_folder(folder: &Path) -> io::Result<Modules> {
        let (mut modules, mut folders) = (Modules::default(), vec![folder.to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                // Links lead to the sources and the build of the kernel.
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else if let Some(name) = name_of(&entry.path()) {
                    modules.paths.insert(name, entry.path());
                }
            }
        }
        Ok(modules)
    }

    /// Whether it has the module.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.paths.contains_key(&plain(name))
    }

    /// The modules with these names, each once and after those that it needs.
    pub(crate) fn with_needed<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Vec<u8>>, LabError> {
        let (mut named, mut all) = (Vec::new(), Vec::new());
        names.into_iter().try_for_each(|name| self.add(&plain(name), &mut named, &mut all))?;
        Ok(all)
    }

    fn add(&self, name: &str, named: &mut Vec<String>, all: &mut Vec<Vec<u8>>) -> Result<(), LabError> {
        // What another module needs and is not here is built in.
        let Some(path) = self.paths.get(name) else { return Ok(()) };
        if named.iter().any(|other| other == name) {
            return Ok(());
        }
        named.push(name.to_owned());
        let bytes = read(path).map_err(|source| LabError::file("read the module", path, source))?;
        for needed in needed(&bytes) {
            self.add(&needed, named, all)?;
        }
        all.push(bytes);
        Ok(())
    }
}

/// Name of the module in a file; `None` if the file is none.
pub(crate) fn name_of(path: &Path) -> Option<String> {
    let file = path.file_name()?.to_str()?;
    let (name, rest) = file.split_once(".ko")?;
    matches!(rest, "" | ".xz" | ".zst" | ".gz").then(|| plain(name))
}

fn plain(name: &str) -> String {
    name.replace('-', "_")
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let bytes = std::fs::read(path)?;
    match path.extension().and_then(|end| end.to_str()) {
        Some("xz") => {
            let mut unpacked = Vec::new();
            liblzma::read::XzDecoder::new(&bytes[..]).read_to_end(&mut unpacked)?;
            Ok(unpacked)
        }
        Some("ko") => Ok(bytes),
        _ => Err(io::Error::other("it is compressed with something else than xz; unpack it beside it")),
    }
}

/// Names of the modules that a module needs.
fn needed(module: &[u8]) -> Vec<String> {
    let at = module.windows(DEPENDS.len()).position(|part| part == DEPENDS);
    let text = at.map_or(&[][..], |at| &module[at + DEPENDS.len()..]);
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(text).split(',').filter(|name| !name.is_empty()).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(needs: &str) -> Vec<u8> {
        format!("\x7fELF\0license=GPL\0depends={needs}\0intree=Y\0").into_bytes()
    }

    #[test]
    fn a_module_comes_after_those_that_it_needs_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("kernel/drivers");
        std::fs::create_dir_all(&deep).unwrap();
        for (name, needs) in [("a-a", "b,c"), ("b", "c,built_in"), ("c", "")] {
            std::fs::write(deep.join(format!("{name}.ko")), module(needs)).unwrap();
        }
        std::fs::write(folder.path().join("modules.order"), "").unwrap();
        let modules = Modules::in_folder(folder.path()).unwrap();
        assert!(modules.has("a_a") && modules.has("a-a") && !modules.has("modules"));
        let expected = [module(""), module("c,built_in"), module("b,c")];
        assert_eq!(modules.with_needed(["c", "a_a", "b"]).unwrap(), expected);
        assert!(modules.with_needed(["no"]).unwrap().is_empty());
        std::fs::write(deep.join("d.ko.zst"), "").unwrap();
        let error = Modules::in_folder(folder.path()).unwrap().with_needed(["d"]).unwrap_err().to_string();
        assert!(error.contains("d.ko.zst") && error.contains("something else than xz"), "{error}");
    }
}
