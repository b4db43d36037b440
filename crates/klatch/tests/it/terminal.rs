//! What commands print on terminals of 80, 100 and 140 columns: no line is wider, no word is broken, and what is known in advance is as it was.

use std::path::Path;

use klatch_record::samples::record;

use crate::support::{Finished, klatch};

const WIDTHS: [usize; 3] = [80, 100, 140];

/// What the command prints on a terminal of this width.
fn printed(arguments: &[&str], folder: &Path, width: usize) -> String {
    let mut command = klatch();
    command.args(arguments).current_dir(folder).env("COLUMNS", width.to_string());
    let finished = Finished::run(&mut command);
    assert!(matches!(finished.status, Some(0 | 1)), "{finished:?}");
    finished.out
}

/// Checks that lines fit, and that the words are those of an endless line, whole and in their order where nothing is left out.
fn check_fits(arguments: &[&str], folder: &Path) {
    let whole = Finished::run(klatch().args(arguments).current_dir(folder)).out;
    let is_word = |word: &str| whole.split_whitespace().any(|known| known == word);
    for width in WIDTHS {
        let text = printed(arguments, folder, width);
        let wide: Vec<&str> = text
            .lines()
            .filter(|line| {
                line.chars().count() > width && line.trim().contains(' ') && !line.contains("klatch ")
            })
            .collect();
        assert!(wide.is_empty(), "{arguments:?} at {width}: {wide:#?}");
        let hint = "(a wider terminal also shows ";
        let own = text.lines().filter(|line| !line.starts_with(hint)).flat_map(str::split_whitespace);
        let broken: Vec<&str> = own.filter(|word| !is_word(word)).collect();
        assert!(broken.is_empty(), "{arguments:?} at {width}: {broken:?} in {text}");
    }
}

#[test]
fn lists_of_this_machine_fit() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["platforms"] as &[&str],
        &["platforms", "--knobs"],
        &["instruments"],
        &["study"],
        &["sched", "list"],
        &["sched", "list", "o1"],
        &["help", "glossary"],
        &["study", "knee", "--dry-run"],
        &["study", "eight-cpus", "--dry-run"],
        &["study", "messaging-servers", "--preset", "quick", "--dry-run"],
        &["lab", "kernels"],
    ] {
        check_fits(arguments, folder.path());
    }
}

/// Two folders with records of four trials each.
fn write_records(folder: &Path) {
    for (name, throughput) in [("a", 50_000.0), ("b", 61_000.0)] {
        std::fs::create_dir(folder.join(name)).unwrap();
        for number in 1..=4 {
            let trial = record(number, number, throughput + 500.0 * f64::from(number % 3));
            let path = folder.join(name).join(format!("trial-{number}.json"));
            std::fs::write(path, serde_json::to_string(&trial).unwrap()).unwrap();
        }
    }
}

/// Events of two threads on two CPUs, in the words of perf script.
const EVENTS: &str = "server 7 [000] 1.000001: sched:sched_waking: comm=crowd pid=8 prio=120 target_cpu=001\n\
    server 7 [000] 1.000002: sched:sched_switch: server:7 [120] S ==> swapper/0:0 [120]\n\
    swapper 0 [001] 1.000004: sched:sched_switch: swapper/1:0 [120] R ==> crowd:8 [120]\n\
    crowd 8 [001] 1.000030: sched:sched_switch: crowd:8 [120] S ==> swapper/1:0 [120]\n";

#[test]
fn a_trace_is_as_it_was_at_three_widths() {
    let folder = tempfile::tempdir().unwrap();
    let (text, trace) = (folder.path().join("perf.txt"), folder.path().join("t.trace"));
    std::fs::write(&text, EVENTS).unwrap();
    let imported = Finished::run(klatch().args(["trace", "import"]).args([&text, &trace]));
    assert_eq!(imported.status, Some(0), "{imported:?}");
    let at = |width: &usize| {
        let shown =
            ["summary", "show"].map(|action| printed(&["trace", action, "t.trace"], folder.path(), *width));
        assert!(
            shown.iter().flat_map(|text| text.lines()).all(|line| line.chars().count() <= *width),
            "{shown:?}"
        );
        format!("{width} columns\n{}", shown.join("\n"))
    };
    insta::assert_snapshot!("trace", WIDTHS.iter().map(at).collect::<Vec<_>>().join("\n"));
}

/// Commands whose output depends on no machine; one that prints what a program reads is not broken into lines.
#[test]
fn lists_and_plans_are_as_they_were_at_three_widths() {
    let folder = tempfile::tempdir().unwrap();
    for (name, arguments) in [
        ("schedulers", &["sched", "list"] as &[&str]),
        ("scheduler", &["sched", "list", "o1"]),
        ("dry_run", &["study", "eight-cpus", "--dry-run"]),
        ("site", &["web-files", "site", "--directories", "1"]),
        ("plan", &["plan", "--target", "irc://server:6667", "--shards", "2", "--gate-name", "g"]),
    ] {
        let at = |width: &usize| format!("{width} columns\n{}", printed(arguments, folder.path(), *width));
        insta::assert_snapshot!(name, WIDTHS.iter().map(at).collect::<Vec<_>>().join("\n"));
    }
}

/// The kernels that the lab can boot without anything that was fetched before.
#[test]
fn kernels_are_as_they_were_at_three_widths() {
    let folder = tempfile::tempdir().unwrap();
    let at = |width: &usize| {
        let mut command = klatch();
        command
            .args(["lab", "kernels"])
            .env("COLUMNS", width.to_string())
            .env("XDG_CACHE_HOME", folder.path());
        let finished = Finished::run(&mut command);
        assert_eq!(finished.status, Some(0), "{finished:?}");
        format!("{width} columns\n{}", finished.out)
    };
    insta::assert_snapshot!("kernels", WIDTHS.iter().map(at).collect::<Vec<_>>().join("\n"));
}

#[test]
fn results_are_as_they_were_at_three_widths() {
    let folder = tempfile::tempdir().unwrap();
    write_records(folder.path());
    let simulated = ["simulate", "run", "--set", "rooms=2", "--set", "count=5", "--machine", "2 cpus"];
    for (name, arguments) in [("compare", &["compare", "a", "b"] as &[&str]), ("simulate", &simulated)] {
        check_fits(arguments, folder.path());
        let at = |width: &usize| format!("{width} columns\n{}", printed(arguments, folder.path(), *width));
        let text: Vec<String> = WIDTHS.iter().map(at).collect();
        insta::assert_snapshot!(name, text.join("\n"));
    }
}
