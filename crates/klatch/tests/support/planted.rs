//! A Java server with a fault, made of test classes.

use std::path::Path;

/// Writes a catalog with the platform `planted` into `folder`: Jetty with an application that has the fault `plant`. `class` is the test
/// class of the application below `org/klatch/shop`.
pub(crate) fn planted_server(class: &str, plant: &str, folder: &Path) {
    let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java");
    let classes = java.join("shop/target/test-classes");
    let built = classes.join(format!("org/klatch/shop/{class}.class"));
    assert!(built.is_file(), "{} is missing: make build makes it", built.display());
    let shipped = include_str!("../../../../platforms/jetty.toml");
    let jar = java.join("target/klatch-web.jar").canonicalize().unwrap().display().to_string();
    let class_path = format!("{}:{jar}", classes.display());
    let text = shipped.replace("name = \"jetty\"", "name = \"planted\"").replacen(
        "\"-jar\", \"{web_jar}\", \"serve\"",
        &format!("\"-Dklatch.plant={plant}\", \"-cp\", \"{class_path}\", \"org.klatch.cli.Main\", \"serve\""),
        1,
    );
    std::fs::write(folder.join("planted.toml"), text).unwrap();
}
