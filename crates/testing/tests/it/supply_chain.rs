//! What builds and publishes Klatch is named by its content: actions by commit, images by digest, tools by version and checksum.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use regex::Regex;

use crate::tree;

/// The workflows, each with its name.
fn workflows() -> Vec<(String, String)> {
    let files = tree::files(&tree::root().join(".github/workflows"), &["yml", "yaml"]);
    assert!(files.len() >= 3, "{files:?}");
    files.into_iter().map(|path| (name(&path), tree::text(&path))).collect()
}

/// The scripts and the other files with commands, each with its name.
fn commands() -> Vec<(String, String)> {
    let root = tree::root();
    let mut files = tree::files(&root.join("scripts"), &["sh"]);
    files.extend(["Makefile", ".ci/run"].map(|file| root.join(file)));
    let scripts = files.into_iter().map(|path| (name(&path), tree::text(&path)));
    scripts.chain(workflows()).collect()
}

fn name(path: &std::path::Path) -> String {
    path.strip_prefix(tree::root()).unwrap_or(path).display().to_string()
}

/// The lines of `files` in which `wrong` holds, as `file: line`.
fn lines(files: &[(String, String)], wrong: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let all = files.iter().flat_map(|(file, text)| text.lines().map(move |line| (file, line)));
    all.filter(|(file, line)| wrong(file, line))
        .map(|(file, line)| format!("{file}: {}", line.trim()))
        .collect()
}

/// The jobs of a workflow: the indented blocks below `jobs:`.
fn jobs(workflow: &str) -> Vec<&str> {
    let all = workflow.split_once("\njobs:\n").expect("a workflow has jobs").1;
    let heads = Regex::new(r"(?m)^  [\w-]+:$").unwrap();
    let mut starts: Vec<usize> = heads.find_iter(all).map(|head| head.start()).collect();
    starts.push(all.len());
    starts.windows(2).map(|pair| &all[pair[0]..pair[1]]).collect()
}

#[test]
fn actions_are_named_by_commit_and_images_by_digest() {
    let action = Regex::new(r"uses: [\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$").unwrap();
    let image = Regex::new(r"image: \S+@sha256:[0-9a-f]{64}$").unwrap();
    let short = Regex::new(r"container: *\S").unwrap();
    let wrong = lines(&workflows(), |_, line| {
        line.contains("uses:") && !action.is_match(line)
            || line.contains("image:") && !line.contains("-image:") && !image.is_match(line)
            || short.is_match(line)
    });
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn jobs_have_no_more_permissions_than_they_need() {
    for (file, text) in workflows() {
        assert!(
            text.contains("\npermissions:\n  contents: read\n\n"),
            "{file}: it begins with the right to read alone"
        );
        for job in jobs(&text) {
            let head = job.lines().next().unwrap_or_default();
            assert_eq!(
                job.matches("actions/checkout@").count(),
                job.matches("persist-credentials: false").count(),
                "{file}, {head} a checkout leaves the token in the folder"
            );
            let rights = job.matches(": write").count();
            let attests = job.contains("id-token: write") && job.contains("attestations: write");
            assert!(rights <= 1 || attests && rights == 2, "{file}, {head} it may write several things");
            let own = job.contains("actions/checkout@") || job.contains("actions/cache@");
            assert!(
                rights == 0 || !own,
                "{file}, {head} what may write runs code of the repository or of a cache"
            );
        }
    }
    let release = workflows().into_iter().find(|(file, _)| file.ends_with("release.yml")).unwrap().1;
    assert!(!release.contains("actions/cache"), "other workflows can write the cache");
}

#[test]
fn tools_are_installed_by_one_script_with_versions_and_checksums() {
    let install = Regex::new(r"(cargo|pip3?|go|npm|gem)(\x22)? install|npx |uvx |pipx ").unwrap();
    let commands = commands();
    let elsewhere = lines(&commands, |file, line| {
        file != "scripts/install-tools.sh" && install.is_match(line) && !line.trim_start().starts_with('#')
    });
    assert_eq!(elsewhere, Vec::<String>::new(), "scripts/install-tools.sh installs tools");
    let script =
        commands.iter().filter(|(file, _)| file == "scripts/install-tools.sh").cloned().collect::<Vec<_>>();
    let version = Regex::new(r"@v?\d+\.\d+\.\d+( |$)").unwrap();
    let wrong = lines(&script, |_, line| {
        line.contains("cargo install") && !line.contains("--locked")
            || line.contains("pip\" install") && !line.contains("--require-hashes")
            || (line.contains(" go install") || line.contains(") crate ")) && !version.is_match(line)
    });
    assert_eq!(wrong, Vec::<String>::new());
    let hashed = Regex::new(r"(?m)^[\w.-]+==\S+.* \\\n    --hash=sha256:[0-9a-f]{64}").unwrap();
    for path in tree::files(&tree::root().join("scripts/requirements"), &["txt"]) {
        let text = tree::text(&path);
        let packages = text.split("\n\n").flat_map(|part| part.split_inclusive("==").skip(1)).count();
        assert!(packages > 0 && !text.contains("--index-url") && !text.contains("--find-links"), "{path:?}");
        assert_eq!(hashed.find_iter(&text).count(), packages, "{path:?}");
    }
}

/// The lines of the list of Maven's checksums.
fn maven_list() -> String {
    tree::text(&tree::root().join("java/.mvn/checksums/checksums.sha256"))
}

#[test]
fn maven_runs_between_comparisons_and_the_list_has_what_the_manifests_name() {
    let own = ["scripts/maven.sh", "scripts/maven-checksums.sh"];
    let bare = Regex::new(r"(^|[ \t(@=])mvn (-|\x22)").unwrap();
    let wrong = lines(&commands(), |file, line| !own.contains(&file) && bare.is_match(line));
    assert_eq!(wrong, Vec::<String>::new(), "scripts/maven.sh runs mvn");

    let list = maven_list();
    let line = Regex::new(r"^[0-9a-f]{64}  [\w./+-]+$").unwrap();
    assert_eq!(list.lines().find(|text| !line.is_match(text)), None);
    let fixed = Regex::new(r"<artifactId>([\w.-]+)</artifactId>\s*<version>([\w.-]+)</version>").unwrap();
    let manifests = tree::files(&tree::root().join("java"), &["xml"])
        .into_iter()
        .filter(|path| path.ends_with("pom.xml"));
    let mut missing = Vec::new();
    for path in manifests.chain([tree::root().join("platforms/payara/pom.xml")]) {
        let text = tree::text(&path);
        for found in fixed.captures_iter(&text) {
            let (artifact, version) = (&found[1], &found[2]);
            let pom = format!("/{artifact}/{version}/{artifact}-{version}.pom");
            if !artifact.starts_with("klatch") && !list.contains(&pom) {
                missing.push(format!("{}: {artifact} {version}", name(&path)));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "make the list anew: scripts/maven-checksums.sh write");
    let payara = tree::text(&tree::root().join("platforms/payara/pom.xml"));
    let jar = Regex::new(r"<(\w+)\.sha256>([0-9a-f]{64})</").unwrap();
    let listed =
        jar.captures_iter(&payara).filter(|found| list.contains(&format!("{}  ", &found[2]))).count();
    assert_eq!(listed, 2, "the jars that Payara Micro runs have their checksums in its manifest too");
}

/// Compares a local repository of Maven that has one file with the list.
fn compared(path: &str, content: &str, all: &[&str]) -> Output {
    let repository = tempfile::tempdir().unwrap();
    let file: PathBuf = repository.path().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, content).unwrap();
    let mut script = Command::new(tree::root().join("scripts/maven-checksums.sh"));
    script.args(all).env("MAVEN_OPTS", format!("-Dmaven.repo.local={}", repository.path().display()));
    script.env_remove("MAVEN_ARGS").output().unwrap()
}

#[test]
fn an_altered_file_of_maven_is_refused() {
    let list = maven_list();
    let path =
        list.lines().find_map(|line| line.split("  ").nth(1).filter(|path| path.ends_with(".jar"))).unwrap();
    let altered = compared(path, "altered", &[]);
    let told = String::from_utf8(altered.stderr).unwrap();
    assert!(!altered.status.success() && told.contains(path) && told.contains("differ from"), "{told}");
    let other = "org/example/other/1.0/other-1.0.jar";
    assert!(compared(other, "other", &[]).status.success(), "another project's file is left alone");
    let unlisted = compared(other, "other", &["all"]);
    let told = String::from_utf8(unlisted.stderr).unwrap();
    assert!(!unlisted.status.success() && told.contains(other), "{told}");
    assert!(compared("org/example/other/1.0/_remote.repositories", "", &["all"]).status.success());
}
