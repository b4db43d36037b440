//! The properties of a platform that lists of platforms show.

use std::collections::BTreeMap;

use klatch_record::WorkloadKind;
use serde_json::{Value, json};

use crate::resolve::{PlatformListing, ResolvedPlatform};
use crate::workloads::InWorkload;

impl PlatformListing {
    /// The names of its workloads.
    pub fn workloads(&self) -> Vec<&'static str> {
        self.entry.workloads.keys().map(|kind| kind.name()).collect()
    }

    /// The names of its workloads in which it serves static files only.
    fn static_only(&self) -> Vec<&'static str> {
        let of_files = self.entry.workloads.iter().filter(|(_, one)| one.static_only);
        of_files.map(|(kind, _)| kind.name()).collect()
    }

    /// The transports by which it speaks HTTP/2.
    fn http2(&self) -> Vec<&'static str> {
        let transports = self.entry.transports_of(WorkloadKind::Rr);
        let spoken = transports.keys().filter(|transport| self.entry.speaks_http2(**transport));
        spoken.map(|transport| transport.name()).collect()
    }

    /// The names of its transports in each of its workloads.
    fn transports(&self) -> BTreeMap<&'static str, Vec<&'static str>> {
        let names = |kind| self.entry.transports_of(kind).keys().map(|transport| transport.name()).collect();
        self.entry.workloads.keys().map(|kind| (kind.name(), names(*kind))).collect()
    }

    /// The version of the Java or the program of a variant: that of Klatch for its own servers, and a dash where nobody knows it.
    pub fn version(&self, variant: &ResolvedPlatform) -> String {
        let of_java = variant.java.as_ref().map(|java| java.version.clone());
        let of_program = variant.program.as_ref().and_then(|program| program.version.clone());
        let is_own = self.entry.command.first().is_some_and(|program| program == "{klatch}");
        let of_klatch = || is_own.then(|| env!("CARGO_PKG_VERSION").to_owned());
        of_java.or(of_program).or_else(of_klatch).unwrap_or_else(|| "–".to_owned())
    }

    /// The platform as a JSON object.
    pub fn to_json(&self) -> Value {
        let variants = |all: &Vec<ResolvedPlatform>| -> Vec<_> {
            all.iter().map(|one| json!({ "name": one.name, "version": self.version(one) })).collect()
        };
        json!({
            "name": self.entry.name,
            "summary": self.entry.summary,
            "class": self.entry.class,
            "workloads": self.workloads(),
            "static_only": self.static_only(),
            // Of requests of `rr`.
            "needs_url": self.entry.workloads.get(&WorkloadKind::Rr).is_some_and(InWorkload::needs_url),
            "http2": self.http2(),
            "protocol": self.entry.protocol.name(),
            "transports": self.transports(),
            "here": self.variants.as_ref().map(variants).unwrap_or_default(),
            "not_here": self.variants.as_ref().err().map(ToString::to_string),
            "knobs": self.knobs().into_iter().collect::<BTreeMap<_, _>>(),
        })
    }
}
