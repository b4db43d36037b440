//! The files of workload `files`. They are written once and kept, each complete or absent.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use klatch_exchange::files::{PAGE_BYTES, Pages, file_name};
use klatch_host::privileges::cache_folder;
use klatch_record::{CONTENT_SEED, FilesWorkload};

use crate::sources::SourceError;

/// The folder that contains the files of this workload. Files that are missing are written.
///
/// # Errors
/// The cache folder is not trusted, or a file cannot be written.
pub(crate) fn block_files(workload: &FilesWorkload) -> Result<PathBuf, SourceError> {
    let size = format!("seed-{CONTENT_SEED}-{}-mib", workload.file_mib);
    let folder = cache_folder()?.subfolder("files")?.subfolder(&size)?.path().to_owned();
    write_missing(&folder, workload).map_err(|source| SourceError::Write { path: folder.clone(), source })?;
    Ok(folder)
}

fn write_missing(folder: &Path, workload: &FilesWorkload) -> std::io::Result<()> {
    let mut pages = None;
    for file in 0..workload.files {
        let path = folder.join(file_name(file));
        if !path.exists() {
            let pages = pages.get_or_insert_with(|| Pages::new(CONTENT_SEED));
            let unfinished = path.with_extension(std::process::id().to_string());
            write_file(pages, file, workload.file_bytes() / PAGE_BYTES as u64, &unfinished)?;
            std::fs::rename(&unfinished, &path)?;
        }
    }
    Ok(())
}

fn write_file(pages: &Pages, file: u32, count: u64, path: &Path) -> std::io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut page = [0; PAGE_BYTES];
    for number in 0..count as u32 {
        pages.write(file, number, &mut page);
        writer.write_all(&page)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_written_once_with_the_contents_of_its_number() {
        let folder = tempfile::tempdir().unwrap();
        let workload = FilesWorkload { files: 2, file_mib: 1, ..FilesWorkload::default() };
        write_missing(folder.path(), &workload).unwrap();
        let pages = Pages::new(CONTENT_SEED);
        for file in 0..2 {
            let bytes = std::fs::read(folder.path().join(file_name(file))).unwrap();
            assert_eq!((bytes.len(), pages.first_wrong(file, 0, &bytes)), (1 << 20, None));
        }
        std::fs::write(folder.path().join(file_name(1)), "mine").unwrap();
        write_missing(folder.path(), &workload).unwrap();
        assert_eq!(std::fs::read(folder.path().join(file_name(1))).unwrap(), b"mine", "it is kept");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing unfinished stays");
    }
}
