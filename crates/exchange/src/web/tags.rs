//! The tags in files of class 1 and 2 that name an ad. A dynamic page replaces the ad in each of them.

use super::files::{FileId, PATH_BYTES};

/// Number of ads in Custom.Ads.
pub const ADS: u32 = 360;

const BEFORE: &[u8] = b"<!WEB99CAD><IMG SRC=\"";
const AFTER: &[u8] = b"\"><!/WEB99CAD>";
/// Bytes of a tag.
pub(super) const TAG_BYTES: usize = BEFORE.len() + PATH_BYTES + AFTER.len();

/// The file that an ad is: directory ad / 36, class (ad % 36) / 9, file ad % 9.
///
/// # Panics
/// If `ad` is not below [`ADS`].
pub fn ad_file(ad: u16) -> FileId {
    assert!(u32::from(ad) < ADS, "there is no ad {ad}");
    FileId::new(u32::from(ad) / 36, (ad % 36 / 9) as u8, (ad % 9) as u8).expect("ads name ten directories")
}

/// The tag that names a file.
pub(super) fn tag(file: FileId) -> [u8; TAG_BYTES] {
    let mut tag = [0; TAG_BYTES];
    let (before, rest) = tag.split_at_mut(BEFORE.len());
    let (path, after) = rest.split_at_mut(PATH_BYTES);
    before.copy_from_slice(BEFORE);
    path.copy_from_slice(&file.path());
    after.copy_from_slice(AFTER);
    tag
}

/// A file has one tag in each section of so many bytes, which makes one to nine; 0 if its class has none.
pub(super) fn tag_step_bytes(class: u8) -> usize {
    match class {
        1 => 1024,
        2 => 10 * 1024,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_the_file_of_its_ad() {
        assert_eq!(
            tag(ad_file(359)).escape_ascii().to_string().replace('\\', ""),
            "<!WEB99CAD><IMG SRC=\"/file_set/dir00009/class3_8\"><!/WEB99CAD>"
        );
        assert_eq!(ad_file(0), FileId::new(0, 0, 0).unwrap());
        assert_eq!(ad_file(35), FileId::new(0, 3, 8).unwrap());
        assert_eq!(ad_file(36 + 9), FileId::new(1, 1, 0).unwrap());
        // The published rule is the order of the files.
        assert!((0..ADS as u16).all(|ad| ad_file(ad).index() == usize::from(ad)));
    }
}
