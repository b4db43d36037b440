//! Files of Debian packages: `ar` archives of compressed `tar` archives.

use std::io::{self, Read};
use std::path::Path;

/// Hands each regular file of a package to `take`, with its path in the package: `usr/lib/…`.
///
/// # Errors
/// It is no Debian package, its data is compressed with something else than xz, or `take` fails.
pub(crate) fn each_file(
    package: impl Read,
    mut take: impl FnMut(&Path, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let mut members = ar::Archive::new(package);
    while let Some(member) = members.next_entry() {
        let member = member?;
        let name = String::from_utf8_lossy(member.header().identifier()).into_owned();
        match name.as_str() {
            "data.tar.xz" => {
                let mut files = tar::Archive::new(liblzma::read::XzDecoder::new_multi_decoder(member));
                for file in files.entries()? {
                    let mut file = file?;
                    if file.header().entry_type().is_file() {
                        let path = file.path()?.into_owned();
                        take(path.strip_prefix(".").unwrap_or(&path), &mut file)?;
                    }
                }
                return Ok(());
            }
            other if other.starts_with("data.tar") => {
                return Err(io::Error::other(format!("it has {other}, and Klatch reads data.tar.xz")));
            }
            _ => {}
        }
    }
    Err(io::Error::other("it is no Debian package, as it has no data.tar.xz"))
}
