//! Finds the Debian mirror of this machine.

use std::time::Duration;

use klatch_host::privileges::Program;

/// Longest time in which apt lists addresses. It waits where another process updates the lists.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// Names of Debian's current and next suites.
const SUITES: [&str; 10] =
    ["oldstable", "stable", "testing", "unstable", "sid", "bullseye", "bookworm", "trixie", "forky", "duke"];

/// The address in `$DEBIAN_MIRROR`, else the mirror of apt's configuration; without a slash at the end.
pub(crate) fn debian_mirror() -> Option<String> {
    let named = std::env::var("DEBIAN_MIRROR").ok().filter(|address| !address.is_empty());
    named.map(|address| address.trim_end_matches('/').to_owned()).or_else(|| parse_mirror(&apt_downloads()))
}

/// The addresses that `apt-get update` would fetch. So apt itself parses its sources, in both of their formats.
fn apt_downloads() -> String {
    let output = Program::new("apt-get").args(["--print-uris", "update"]).output_within(LIST_TIMEOUT);
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

/// Prefers an address that ends in `debian`, because other archives use the names of Debian's suites too.
fn parse_mirror(downloads: &str) -> Option<String> {
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
    fn the_archive_of_debian_itself_is_preferred() {
        let downloads = "'https://flat.example/y/./Packages.xz' flat.example_y_._Packages 0 \n\
             'https://packages.example/vendor/dists/bookworm/main/binary-amd64/Packages.xz' a 0 \n\
             'https://mirror.example/debian-security/dists/bookworm-security/main/binary-amd64/Packages.xz' b 0 \n\
             'https://contrib.example/debian/dists/bookworm/contrib/binary-amd64/Packages.xz' c 0 \n\
             'https://mirror.example/debian/dists/bookworm/main/binary-amd64/Packages.xz' d 0 \n\
             'https://other.example/debian/dists/trixie/main/binary-amd64/Packages.xz' e 0 \n";
        assert_eq!(parse_mirror(downloads).as_deref(), Some("https://mirror.example/debian"));
    }

    #[test]
    fn a_mirror_with_another_address_is_accepted() {
        let downloads = "'https://proxy.example/remote/dists/bookworm/main/binary-amd64/Packages.xz' a 0 \n";
        assert_eq!(parse_mirror(downloads).as_deref(), Some("https://proxy.example/remote"));
    }

    #[test]
    fn a_machine_without_debian_has_no_mirror() {
        let ubuntu = "'http://ubuntu.example/ubuntu/dists/jammy/main/binary-amd64/Packages.xz' a 0 \n";
        assert_eq!((parse_mirror(ubuntu), parse_mirror("")), (None, None));
    }
}
