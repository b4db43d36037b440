//! Runtimes and servers that can be measured here.

use std::collections::BTreeSet;

use klatch_platforms::{PlatformRequest, list};
use klatch_record::error_chain;

use super::finding::Finding;

const TOPIC: &str = "Runtimes and servers";
/// What stands between the reason and the command in an error of the catalog.
const INSTALL: &str = "; install it: ";

pub(super) fn findings() -> anyhow::Result<Vec<Finding>> {
    let (mut usable, mut gaps, mut javas) = (0, Vec::new(), BTreeSet::new());
    for listed in list(&PlatformRequest::default())? {
        match &listed.variants {
            Ok(variants) => {
                usable += 1;
                javas.extend(
                    variants.iter().filter_map(|one| one.java.as_ref()).map(|java| java.version.clone()),
                );
            }
            Err(error) => {
                let reason = error_chain(error);
                let name = listed.entry.name.as_str();
                gaps.push(match reason.split_once(INSTALL) {
                    Some((state, command)) => Finding::gap(TOPIC, name, state, command),
                    None => Finding { is_gap: true, ..Finding::works(TOPIC, name, reason.as_str()) },
                });
            }
        }
    }
    let java = match javas.is_empty() {
        true => Finding::gap(TOPIC, "Java", "there is none", "apt-get install default-jre-headless"),
        false => Finding::works(TOPIC, "Java", javas.into_iter().collect::<Vec<_>>().join("; ")),
    };
    let all = Finding::works(TOPIC, "platforms", format!("{usable} can be measured: klatch platforms"));
    Ok([all, java].into_iter().chain(gaps).collect())
}
