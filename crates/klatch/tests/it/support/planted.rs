//! Servers with a planted fault: a Java server made of test classes, and one that wastes CPU time.

use std::path::Path;

use klatch_record::{Cause, Record, Status};

/// Writes a catalog with the platform `planted` into `folder`: Jetty with an application that has the fault `plant`. `class` is the test
/// class of the application below `org/klatch/shop`.
pub(crate) fn planted_server(class: &str, plant: &str, folder: &Path) {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java");
    let classes = java.join("shop/target/test-classes");
    let built = classes.join(format!("org/klatch/shop/{class}.class"));
    assert!(built.is_file(), "{} is missing: make test-java makes it", built.display());
    let shipped = include_str!("../../../../../platforms/jetty.toml");
    let jar = java.join("target/klatch-web.jar").canonicalize().unwrap().display().to_string();
    let class_path = format!("{}:{jar}", classes.display());
    let text = shipped.replace("name = \"jetty\"", "name = \"planted\"").replacen(
        "\"-jar\", \"{web_jar}\", \"serve\"",
        &format!("\"-Dklatch.plant={plant}\", \"-cp\", \"{class_path}\", \"org.klatch.cli.Main\", \"serve\""),
        1,
    );
    std::fs::write(folder.join("planted.toml"), text).unwrap();
}

/// Writes a catalog with two servers into `folder`, of which `slowed` wastes CPU time on each delivery.
pub(crate) fn wasteful_servers(folder: &Path, cause: &str) {
    let server = Path::new(env!("CARGO_BIN_EXE_klatch")).with_file_name("examples").join("slow_server");
    assert!(
        server.is_file(),
        "{} is missing; `cargo build --example slow_server` builds it",
        server.display()
    );
    for (name, cause) in [("plain", "none"), ("slowed", cause)] {
        let text = format!(
            "name = '{name}'\nsummary = 'wastes {cause}'\nclass = 'classic'\nprotocol = 'irc'\n\
             command = ['{}', '{{address}}', '{cause}']\n",
            server.display()
        );
        std::fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
}

/// The record of the first run that is invalid, of runs of these durations, s. A busy machine makes few operations in a short run, and a
/// fault needs one that shows it.
pub(crate) fn invalid(
    plant: &str,
    durations: [&str; 2],
    run: impl Fn(&str) -> (Option<i32>, Record),
) -> Record {
    let (mut status, mut record) = run(durations[0]);
    if record.verdict.status == Status::Valid {
        (status, record) = run(durations[1]);
    }
    assert_eq!((status, record.verdict.status), (Some(1), Status::Invalid), "{plant}: {:?}", record.verdict);
    record
}

/// Checks that the audit of a run with the fault `plant` shows the broken rule, and that the verdict names it.
pub(crate) fn assert_audit_names(rule: &str, plant: &str, record: &Record) {
    let reasons = &record.verdict.reasons;
    let audit = record.audit.as_ref().unwrap_or_else(|| panic!("{plant}: no audit: {reasons:?}"));
    let broken = audit.broken.iter().find(|one| one.rule == rule);
    assert!(broken.is_some_and(|one| one.count > 0 && !one.examples.is_empty()), "{plant}: {audit:?}");
    let named = format!("audit: {rule} broken ");
    assert!(
        reasons.iter().any(|one| one.cause == Cause::Audit && one.message.starts_with(&named)),
        "{plant}: {reasons:?}"
    );
}
