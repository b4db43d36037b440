//! The imports between the modules of one crate, as its source names them: `crate::a::…` and `super::…`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::graph::{Graph, circles as circles_of};
use crate::tree;

/// The circles among sibling modules in any folder below `src`, as text.
pub(crate) fn circles(src: &Path) -> Vec<String> {
    let texts: Vec<(Vec<String>, String)> =
        tree::files(src, &["rs"]).iter().map(|file| (module_path(src, file), tree::text(file))).collect();
    let of_tests: Vec<Vec<String>> =
        texts.iter().flat_map(|(module, text)| test_modules(module, text)).collect();
    let files: Vec<(Vec<String>, String)> = texts
        .iter()
        .filter(|(module, _)| !of_tests.iter().any(|tests| module.starts_with(tests)))
        .map(|(module, text)| (module.clone(), code(text)))
        .collect();
    let exists = |path: &[String]| files.iter().any(|(module, _)| module.starts_with(path));
    // Per folder, its modules and the siblings that each imports.
    let mut folders: BTreeMap<Vec<String>, Graph> = BTreeMap::new();
    for (module, text) in &files {
        for import in imports(module, text) {
            let shared = module.iter().zip(&import).take_while(|(a, b)| a == b).count();
            let (Some(from), Some(to)) = (module.get(shared), import.get(shared)) else { continue };
            if exists(&import[..=shared]) {
                let graph = folders.entry(module[..shared].to_vec()).or_default();
                graph.entry(to.clone()).or_default();
                graph.entry(from.clone()).or_default().insert(to.clone());
            }
        }
    }
    let circle = |(folder, graph): (&Vec<String>, &Graph)| {
        let at = format!("src/{}", folder.join("/"));
        circles_of(graph)
            .into_iter()
            .map(move |circle| format!("{at}: {}", circle.join(", ")))
            .collect::<Vec<_>>()
    };
    folders.iter().flat_map(circle).collect()
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are the module `a::b`; `lib.rs` and `main.rs` are the root.
fn module_path(src: &Path, file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(src).expect("the file is below src").with_extension("");
    let mut path: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|name| matches!(name.as_str(), "mod" | "lib" | "main")) {
        path.pop();
    }
    path
}

/// The modules in files of their own that `module` declares for its tests.
fn test_modules(module: &[String], text: &str) -> Vec<Vec<String>> {
    static TEST_MODULE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"#\[cfg\(test\)\]\s*(?:pub\(crate\) )?mod (\w+);").expect("a regex"));
    let path = |found: regex::Captures<'_>| [module, &[found[1].to_owned()]].concat();
    TEST_MODULE.captures_iter(text).map(path).collect()
}

/// The source without comments and without what stands behind `#[cfg(test)] mod tests`: tests may import from anywhere.
fn code(text: &str) -> String {
    let without_tests = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    without_tests
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The paths from the crate's root that the source of `module` names. Groups count by their first level:
/// `crate::{a::B, c}` names `a` and `c`.
fn imports(module: &[String], text: &str) -> Vec<Vec<String>> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(crate|super(?:::super)*)((?:::\w+)+)").expect("a regex"));
    static GROUP: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bcrate::\{([^;]*)\};").expect("a regex"));
    let parts =
        |text: &str| text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mut imports: Vec<Vec<String>> = PATH
        .captures_iter(text)
        .map(|found| {
            let up = if &found[1] == "crate" { module.len() } else { found[1].split("::").count() };
            let mut full = module[..module.len().saturating_sub(up)].to_vec();
            full.extend(parts(&found[2]));
            full
        })
        .collect();
    for found in GROUP.captures_iter(text) {
        let mut depth = 0;
        let members = found[1].split(|letter| {
            depth += i32::from(letter == '{') - i32::from(letter == '}');
            letter == ',' && depth == 0
        });
        imports.extend(members.map(|member| parts(member.trim())).filter(|path| !path.is_empty()));
    }
    imports
}

#[test]
fn two_modules_that_import_each_other_are_a_circle() {
    let src = tempfile::tempdir().expect("a folder can be made");
    let write =
        |name: &str, text: &str| std::fs::write(src.path().join(name), text).expect("a file can be written");
    write("lib.rs", "mod a;\nmod b;\nmod c;\n#[cfg(test)]\nmod t;\n");
    write("t.rs", "use crate::c;\n");
    write("a.rs", "use crate::{b::Thing, c};\n");
    write("b.rs", "use super::a::Other;\n");
    write("c.rs", "// use crate::a;\nuse crate::t;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n");
    assert_eq!(circles(src.path()), ["src/: a, b"]);
}
