//! The Debian mirror that this machine uses.

use std::process::Command;

/// Names that Debian's suites have now, and will have next.
const SUITES: [&str; 10] =
    ["oldstable", "stable", "testing", "unstable", "sid", "bullseye", "bookworm", "trixie", "forky", "duke"];

/// The address of `$DEBIAN_MIRROR`, or else of the mirror that apt is configured with; without a slash at its end.
pub(crate) fn mirror() -> Option<String> {
    let named = std::env::var("DEBIAN_MIRROR").ok().filter(|address| !address.is_empty());
    named.map(|address| address.trim_end_matches('/').to_owned()).or_else(|| of_apt(&downloads()))
}

/// What apt would download to update its lists. It reads its sources itself, in both of their formats.
fn downloads() -> String {
    let output = Command::new("apt-get").args(["--print-uris", "update"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Other archives use the names of Debian's suites too; a mirror's address ends in `debian` almost always.
fn of_apt(downloads: &str) -> Option<String> {
    let archive = |line: &str| -> Option<String> {
        let (address, rest) = line.strip_prefix('\'')?.split_once("/dists/")?;
        let (suite, rest) = rest.split_once('/')?;
        (SUITES.contains(&suite) && rest.starts_with("main/")).then(|| address.to_owned())
    };
    let addresses: Vec<String> = downloads.lines().filter_map(archive).collect();
    let named = addresses.iter().find(|address| address.ends_with("debian"));
    named.or(addresses.first()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_the_archive_of_debian_itself() {
        let downloads = "'https://flat.example/y/./Packages.xz' flat.example_y_._Packages 0 \n\
             'https://packages.example/vendor/dists/bookworm/main/binary-amd64/Packages.xz' a 0 \n\
             'https://mirror.example/debian-security/dists/bookworm-security/main/binary-amd64/Packages.xz' b 0 \n\
             'https://contrib.example/debian/dists/bookworm/contrib/binary-amd64/Packages.xz' c 0 \n\
             'https://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' d 0 \n\
             'https://other.example/debian/dists/trixie/main/binary-amd64/Packages.xz' e 0 \n";
        assert_eq!(of_apt(downloads).as_deref(), Some("https://mirror.example/debian"));
    }

    #[test]
    fn a_mirror_may_have_another_address() {
        let downloads = "'https://proxy.example/remote/dists/bookworm/main/binary-amd64/Packages.xz' a 0 \n";
        assert_eq!(of_apt(downloads).as_deref(), Some("https://proxy.example/remote"));
    }

    #[test]
    fn a_machine_without_debian_has_none() {
        let ubuntu = "'http://ubuntu.example/ubuntu/dists/jammy/main/binary-amd64/Packages.xz' a 0 \n";
        assert_eq!((of_apt(ubuntu), of_apt("")), (None, None));
    }
}
