//! Runtimes and servers that can be measured here.

use std::collections::BTreeSet;

use klatch_platforms::{JavaError, PlatformError, PlatformRequest, ProgramError, list};
use klatch_record::error_chain;

use super::finding::Finding;

const TOPIC: &str = "Runtimes and servers";
/// Installs the Java of the Debian release; some platforms need a newer one.
const INSTALL_JAVA: &str =
    "apt-get install default-jre-headless; `klatch platforms` names the version that each needs";

pub(super) fn findings() -> Result<Vec<Finding>, PlatformError> {
    let (mut usable, mut gaps, mut javas, mut without_java) = (0, Vec::new(), BTreeSet::new(), Vec::new());
    let mut home = None;
    for listed in list(&PlatformRequest::default())? {
        match &listed.variants {
            Ok(variants) => {
                usable += 1;
                javas.extend(
                    variants.iter().filter_map(|one| one.java.as_ref()).map(|java| java.version.clone()),
                );
            }
            // One gap for all of them is below.
            Err(PlatformError::Java { source: error @ JavaError::Home { .. }, .. }) => {
                home = Some(Finding { is_gap: true, ..Finding::works(TOPIC, "Java", error_chain(error)) });
            }
            Err(PlatformError::Java { .. }) => without_java.push(listed.entry.name.clone()),
            Err(PlatformError::Program { source: ProgramError::Missing { name, install }, .. }) => {
                let state = format!("{name} is not installed");
                gaps.push(Finding::gap(TOPIC, &listed.entry.name, state, install));
            }
            Err(error) => {
                let reason = error_chain(error);
                gaps.push(Finding { is_gap: true, ..Finding::works(TOPIC, &listed.entry.name, reason) });
            }
        }
    }
    let all = Finding::works(TOPIC, "platforms", format!("{usable} can be measured: klatch platforms"));
    Ok([all].into_iter().chain(home).chain(java(&javas, &without_java)).chain(gaps).collect())
}

/// The Java runtimes, and one gap for all platforms that none of them can run.
fn java(versions: &BTreeSet<String>, without: &[String]) -> Vec<Finding> {
    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
    let mut findings = Vec::new();
    if !versions.is_empty() {
        findings.push(Finding::works(TOPIC, "Java", versions.join("; ")));
    }
    if !without.is_empty() {
        let state = format!("none, or none new enough, for {}", without.join(", "));
        findings.push(Finding::gap(TOPIC, "Java", state, INSTALL_JAVA));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_without_java_are_one_gap() {
        let without = ["java-threads".to_owned(), "jetty".to_owned()];
        let [gap] = &java(&BTreeSet::new(), &without)[..] else { panic!() };
        assert!(gap.is_gap && gap.state.ends_with("for java-threads, jetty"), "{gap:?}");
        let [found, gap] = &java(&["OpenJDK 17".to_owned()].into(), &without[..1])[..] else { panic!() };
        assert_eq!((found.is_gap, found.state.as_str(), gap.is_gap), (false, "OpenJDK 17", true));
    }
}
