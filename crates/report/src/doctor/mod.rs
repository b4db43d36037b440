//! What this machine can do, and the command that closes each gap.

mod files;
mod finding;
mod kernel;
mod noise;
mod servers;
mod size;

use klatch_platforms::PlatformError;

pub use self::finding::Finding;

/// What this machine can do, by topic. Nothing is changed.
///
/// # Errors
/// The catalog of platforms cannot be read.
pub fn findings() -> Result<Vec<Finding>, PlatformError> {
    let findings = [
        kernel::machine(),
        size::findings()?,
        noise::findings(),
        files::findings(),
        kernel::instruments(),
        kernel::schedulers(),
        servers::findings()?,
    ];
    Ok(findings.concat())
}

/// The findings under their topics, and the number of gaps.
pub fn text(findings: &[Finding]) -> String {
    let (mut text, mut topic) = (String::new(), "");
    for finding in findings {
        if finding.topic != topic {
            let between = if topic.is_empty() { "" } else { "\n" };
            text += &format!("{between}{}\n", finding.topic);
            topic = finding.topic;
        }
        text += &format!("{finding}\n");
    }
    let gaps = findings.iter().filter(|finding| finding.is_gap).count();
    let number = if gaps == 1 { "1 gap".to_owned() } else { format!("{gaps} gaps") };
    text + &format!("\n{number}; `klatch run` needs none of them closed\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::at_widths;

    #[test]
    fn the_list_is_as_it_was_at_three_widths() {
        let findings = [
            Finding::works(
                "Size",
                "200 users",
                "all limits are high enough for server and crowd on this machine",
            ),
            Finding::gap(
                "Size",
                "20,000 users",
                "files (ulimit -n) is 1,024, and a server with 20,000 users needs 20,100 of them at the same time",
                "ulimit -n 20100, or LimitNOFILE=20100 in the service that starts the shell",
            ),
            Finding::gap("Servers", "ergo", "is not installed", "apt-get install ergochat"),
        ];
        insta::assert_snapshot!(at_widths(|| text(&findings)));
    }
}
