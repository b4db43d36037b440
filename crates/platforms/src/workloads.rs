//! What a platform does in each workload that it carries.

use std::collections::BTreeMap;

use klatch_record::{Class, ProtocolName, Workload, WorkloadKind};
use serde::Deserialize;

/// How a platform carries one workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct InWorkload {
    /// The wire protocol of its clients, if it is not the one of the platform.
    pub protocol: Option<ProtocolName>,
    /// The command line, if it is not the one of the platform.
    pub command: Vec<String>,
    /// The arguments that replace `{workload}` in the command. Placeholders of `web`: `{directories}`, `{content_seed}`; of
    /// `trade`: `{database_url}`, `{users}`, `{quotes}`, `{content_seed}`; of `orders`: `{database_url}`, `{injection_rate}` (of the
    /// population), `{content_seed}`.
    pub arguments: Vec<String>,
    /// Of `rr`: the arguments in place of `arguments` where requests are for URLs, with the same placeholders as those of `web`; it then
    /// speaks HTTP.
    pub url: Vec<String>,
    /// Of `trade` and `orders`: the databases that it can use, if not all.
    pub databases: Vec<String>,
    /// Of `trade` and `orders`: the command that audits a database with other tables than those of the workload's definition, with the
    /// placeholders of `command` and `arguments`.
    pub audit: Vec<String>,
    /// Of `web` and `rr`: the platform serves static files only. They are those of `{web_files}`, and requests of `rr` need a URL.
    pub static_only: bool,
}

impl InWorkload {
    /// How it carries this workload: requests for URLs may have arguments of their own.
    pub(crate) fn of(self, workload: &Workload) -> InWorkload {
        if !workload.has_url() || self.url.is_empty() {
            return self;
        }
        InWorkload { protocol: Some(ProtocolName::Http), arguments: self.url.clone(), ..self }
    }

    /// Of `rr`: it has nothing but what URLs stand for.
    pub fn needs_url(&self) -> bool {
        self.static_only || (!self.url.is_empty() && self.arguments.is_empty())
    }
}

/// The workload of platforms that declare none.
pub(crate) fn chat_only() -> BTreeMap<WorkloadKind, InWorkload> {
    [(WorkloadKind::Chat, InWorkload::default())].into()
}

/// The first error in the workloads of a platform with this class and this protocol.
pub(crate) fn check(
    workloads: &BTreeMap<WorkloadKind, InWorkload>,
    class: Option<Class>,
    protocol: ProtocolName,
) -> Result<(), String> {
    if workloads.is_empty() {
        return Err("workloads is empty: the platform can do nothing".to_owned());
    }
    if workloads.contains_key(&WorkloadKind::Chat) && class.is_none() {
        return Err("a platform that carries chat needs a class: classic or open".to_owned());
    }
    for (kind, one) in workloads {
        let protocol = one.protocol.unwrap_or(protocol);
        if !protocol.carries(*kind) {
            return Err(format!("the protocol {} does not carry the workload {kind}", protocol.name()));
        }
        if !one.url.is_empty() && *kind != WorkloadKind::Rr {
            return Err(format!("url belongs to the workload rr, not to {kind}"));
        }
    }
    Ok(())
}
