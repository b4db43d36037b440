//! Holds source and documentation to the rules of CONTRIBUTING.md that a program can check: short files, doc comments that say
//! something, and the field's terms instead of everyday verbs.

#[path = "../tree/mod.rs"]
mod tree;

mod comments;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use words::Count;

/// Languages in which files are kept short.
const CODE: [&str; 6] = ["rs", "java", "c", "h", "go", "js"];
const LONGEST_FILE_LINES: usize = 400;
const MEDIAN_FILE_LINES: usize = 120;

fn code() -> Vec<PathBuf> {
    let root = tree::root();
    ["crates", "java", "platforms"].iter().flat_map(|folder| tree::files(&root.join(folder), &CODE)).collect()
}

#[test]
fn files_are_short() {
    let mut lengths: Vec<(usize, PathBuf)> =
        code().into_iter().map(|path| (tree::text(&path).lines().count(), path)).collect();
    lengths.sort();
    let long: Vec<_> = lengths.iter().filter(|(lines, _)| *lines > LONGEST_FILE_LINES).collect();
    assert!(long.is_empty(), "files of more than {LONGEST_FILE_LINES} lines: {long:?}");
    let (median, _) = lengths[lengths.len() / 2];
    assert!(
        median <= MEDIAN_FILE_LINES,
        "the median file has {median} lines; {MEDIAN_FILE_LINES} are allowed"
    );
}

#[test]
fn doc_comments_have_more_than_three_words() {
    let short: Vec<String> = code()
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .flat_map(|path| {
            let short = comments::short_docs(&tree::text(path));
            short.into_iter().map(|line| format!("{}:{line}", path.display())).collect::<Vec<_>>()
        })
        .collect();
    assert!(short.is_empty(), "doc comments of three words or fewer:\n{}", short.join("\n"));
}

/// Per kind of text, every family stays under [`words::MOST_PER_10_000`].
#[test]
fn everyday_verbs_do_not_stand_for_terms() {
    let mut kinds: BTreeMap<&str, Count> = BTreeMap::new();
    for path in code() {
        let text = tree::text(&path);
        let (comments, identifiers) = comments::split(&text);
        kinds.entry("comments").or_default().add(&comments);
        kinds.entry("parts of identifiers").or_default().add_identifiers(&identifiers);
    }
    for path in tree::files(&tree::root(), &["md"]) {
        kinds.entry("documents").or_default().add(&tree::text(&path));
    }
    let excess: Vec<String> = kinds
        .iter()
        .flat_map(|(kind, count)| count.excess().into_iter().map(move |family| format!("{kind}: {family}")))
        .collect();
    assert!(
        excess.is_empty(),
        "more often than {} in 10,000 words:\n{}",
        words::MOST_PER_10_000,
        excess.join("\n")
    );
}
