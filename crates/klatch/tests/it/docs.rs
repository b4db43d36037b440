//! The documentation: links lead somewhere, commands parse, dated measurements stand in notes only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::support::{Finished, klatch, root};
use clap::error::ErrorKind;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// Markdown files of the root folder, docs/ and research/, by path relative to the root.
pub(crate) fn pages() -> BTreeMap<PathBuf, Page> {
    let mut files = markdown_in(&root());
    let mut folders = vec![root().join("docs"), root().join("research")];
    while let Some(folder) = folders.pop() {
        files.extend(markdown_in(&folder));
        let entries = std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path());
        folders.extend(entries.filter(|path| path.is_dir()));
    }
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file.strip_prefix(root()).unwrap().to_owned(), Page::parse(&text))
    };
    files.into_iter().map(read).collect()
}

fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[derive(Default)]
pub(crate) struct Page {
    links: Vec<String>,
    /// Names by which a link can address a heading.
    anchors: Vec<String>,
    /// Lines of `console` blocks.
    pub(crate) console: Vec<String>,
    /// Code within a line, between backticks.
    code: Vec<String>,
    pub(crate) text: String,
}

impl Page {
    fn parse(text: &str) -> Page {
        let mut page = Page { text: text.to_owned(), ..Page::default() };
        let (mut heading, mut in_console) = (None, false);
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let name = anchor(&heading.take().unwrap_or_default());
                    let earlier = page.anchors.iter().filter(|anchor| **anchor == name).count();
                    page.anchors.push(if earlier == 0 { name } else { format!("{name}-{earlier}") });
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                    in_console = &*language == "console";
                }
                Event::End(TagEnd::CodeBlock) => in_console = false,
                Event::Text(text) if in_console => page.console.extend(text.lines().map(str::to_owned)),
                Event::Text(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
                Event::Code(text) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&text));
                    page.code.push(text.into_string());
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading, by GitHub's rule: lower case, no punctuation, hyphens for spaces.
fn anchor(heading: &str) -> String {
    let characters = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    characters.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The target of a relative link from a page, as a path relative to the root.
fn resolve(page: &Path, target: &str) -> PathBuf {
    let mut path = page.parent().unwrap().to_owned();
    for component in Path::new(target).components() {
        match component {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

fn dead_links(pages: &BTreeMap<PathBuf, Page>) -> Vec<String> {
    let mut dead = Vec::new();
    for (path, page) in pages {
        for link in page.links.iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (target, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { path.clone() } else { resolve(path, target) };
            let exists = pages.contains_key(&target) || root().join(&target).exists();
            let anchored = |page: &Page| page.anchors.iter().any(|anchor| anchor == fragment);
            let has_fragment = fragment.is_empty() || pages.get(&target).is_some_and(anchored);
            if !exists || !has_fragment {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    dead
}

/// Arguments of a command line without shell comments; quotes group words, and `\` is an ordinary character.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            ('#', None) if word.is_none() => break,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The cause why a command line of the documentation is wrong, if it is.
fn wrong(line: &str, make_targets: &[String]) -> Option<String> {
    let words = words(line);
    match words.first().map(String::as_str) {
        Some("klatch" | "target/release/klatch") => {
            match klatch::command_line().try_get_matches_from(&words) {
                Err(error) if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
                    Some(error.to_string())
                }
                _ => None,
            }
        }
        Some("make") => {
            let target = words.iter().skip(1).find(|word| !make_targets.contains(word));
            target.map(|target| format!("the Makefile has no target {target}"))
        }
        _ => None,
    }
}

/// Targets of the Makefile, pattern rules and variables aside.
fn make_targets() -> Vec<String> {
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let rules = makefile.lines().filter(|line| !line.starts_with(['\t', '#', '.', ' ']));
    let targets = rules.filter_map(|line| line.split_once(':').filter(|(_, rest)| !rest.starts_with('=')));
    targets.flat_map(|(names, _)| names.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn relative_links_and_anchors_exist() {
    let pages = pages();
    assert!(pages.len() > 40, "the pages were not read: {}", pages.len());
    let dead = dead_links(&pages);
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

/// The book of `make docs` has the folder `docs/` only. Evidence is linked in `research/`, which the book leaves to the repository.
#[test]
fn links_of_the_book_stay_in_it_or_lead_to_research() {
    let mut leaving = Vec::new();
    for (path, page) in pages().iter().filter(|(path, _)| path.starts_with("docs")) {
        for link in page.links.iter().filter(|link| !link.contains(':') && !link.starts_with('#')) {
            let target = link.split_once('#').map_or(link.as_str(), |(target, _)| target);
            let target = resolve(path, target);
            if !target.starts_with("docs") && !target.starts_with("research") {
                leaving.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(leaving.is_empty(), "name the path as code instead:\n{}", leaving.join("\n"));
}

#[test]
fn source_paths_in_guide_and_reference_exist() {
    let folders =
        ["crates/", "scripts/", "platforms/", "studies/", "vectors/", "java/", "bench/", "research/"];
    let is_path = |code: &str| {
        folders.iter().any(|folder| code.starts_with(folder)) && !code.contains(['*', ' ', '…', '{'])
    };
    let mut missing = Vec::new();
    for (path, page) in pages().iter().filter(|(path, _)| !path.starts_with("research/notes")) {
        let paths = page.code.iter().filter(|code| is_path(code));
        let absent = paths.filter(|code| !root().join(code).exists() && !code.contains("/target"));
        missing.extend(absent.map(|code| format!("{}: {code}", path.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn commands_of_readme_guide_and_reference_parse() {
    let targets = make_targets();
    let mut errors = Vec::new();
    let mut checked = 0;
    // The commands of a note are those of its day.
    for (path, page) in pages().into_iter().filter(|(path, _)| !path.starts_with("research/notes")) {
        let commands = page.console.iter().filter_map(|line| line.strip_prefix("$ "));
        for command in commands {
            checked += 1;
            errors.extend(
                wrong(command, &targets).map(|cause| format!("{}: {command}\n{cause}", path.display())),
            );
        }
    }
    assert!(checked > 60, "the console blocks were not read: {checked}");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn planted_errors_are_detected() {
    let planted = "# A page\n\n## `make` it\n\n[a](no-such.md) [b](#make-it) [c](#nowhere) [d](README.md)\n";
    let mut pages = BTreeMap::from([(PathBuf::from("planted.md"), Page::parse(planted))]);
    pages.insert(PathBuf::from("README.md"), Page::default());
    assert_eq!(dead_links(&pages), ["planted.md: no-such.md", "planted.md: #nowhere"]);

    let targets = make_targets();
    assert_eq!(wrong("klatch run --platform 'a b'  # comment --no-such", &targets), None);
    assert!(wrong("klatch run --no-such", &targets).is_some_and(|cause| cause.contains("--no-such")));
    assert!(wrong("klatch run --pacing slowly", &targets).is_some_and(|cause| cause.contains("slowly")));
    assert!(wrong("klatch sing", &targets).is_some());
    assert_eq!(wrong("make run", &targets), None);
    assert!(wrong("make coffee", &targets).is_some_and(|cause| cause.contains("coffee")));
}

/// The pages of a folder that its index does not link to.
fn unlisted(folder: &str, index: &str) -> Vec<PathBuf> {
    let (pages, index) = (pages(), Path::new(index));
    let listed: BTreeSet<PathBuf> = pages[index].links.iter().map(|link| resolve(index, link)).collect();
    let missing = pages.into_keys().filter(|path| path.starts_with(folder) && path != index);
    missing.filter(|path| !listed.contains(path)).collect()
}

#[test]
fn summary_lists_every_page_of_the_book() {
    let missing = unlisted("docs", "docs/SUMMARY.md");
    assert!(missing.is_empty(), "add them to docs/SUMMARY.md: {missing:?}");
}

#[test]
fn the_index_of_research_lists_every_note() {
    let missing = unlisted("research", "research/README.md");
    assert!(missing.is_empty(), "add them to research/README.md: {missing:?}");
}

/// Only a measurement needs a date, so a date elsewhere is a misplaced measurement.
#[test]
fn dates_stand_in_notes_only() {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let is_date = |words: &[&str]| {
        let [day, month, year] = words else { return false };
        let year = year.trim_end_matches(|c: char| !c.is_ascii_digit());
        day.trim_start_matches('(').parse::<u8>().is_ok()
            && MONTHS.contains(month)
            && year.parse::<u16>().is_ok()
    };
    for (path, page) in pages() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.starts_with("research/notes") {
            let date: String = name.chars().take(10).filter(char::is_ascii_digit).collect();
            assert!(date.len() == 8, "{name} begins with no date");
        } else if path != Path::new("CHANGELOG.md") {
            let words: Vec<&str> = page.text.split_whitespace().collect();
            let date = words.windows(3).find(|words| is_date(words));
            assert!(date.is_none(), "{} has a date: {date:?}", path.display());
        }
    }
}

#[test]
fn one_sentence_introduces_klatch_everywhere() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let sentence = readme.lines().find(|line| line.starts_with("Klatch ")).unwrap().trim_end_matches('.');
    for path in ["docs/README.md", "book.toml"] {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        assert!(text.contains(sentence), "{path} introduces Klatch otherwise than README.md");
    }
    let help = Finished::run(klatch().arg("--help")).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.starts_with(sentence), "{help}");
}
