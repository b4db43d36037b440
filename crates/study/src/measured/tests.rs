//! Study files: their cells, and errors with line and column.

use klatch_record::{Pacing, Workload};
use klatch_runner::CrowdKind;

use crate::scripted::study;

fn outcome(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let outcome =
        study(folder.path(), text).map_or_else(|error| error, |plan| format!("{} cells", plan.cells.len()));
    outcome.replace(&format!("{}/", folder.path().display()), "")
}

const HEAD: &str = "question = 'q'\nplatforms = ['native-epoll']\n";

#[test]
fn a_duet_has_no_end_of_its_own() {
    let text = "question = 'q'\nplatforms = ['native-epoll', 'native-threads']\n[workload]\ncount = 50\n[rules]\npreset = 'duet'\n";
    let refused = outcome(text);
    assert!(refused.contains("so its workload has no count") && refused.contains("4:9"), "{refused}");
    let refused = outcome(&text.replace("count = 50", "duration = '5s'"));
    assert!(refused.contains("so its workload has no duration") && refused.contains("4:12"), "{refused}");
}

#[test]
fn a_duet_has_no_instruments() {
    let text = "question = 'q'\nplatforms = ['native-epoll', 'native-threads']\ninstruments = ['usage']\n[rules]\npreset = 'duet'\n";
    let refused = outcome(text);
    assert!(refused.contains("a duet runs without instruments") && refused.contains("3:15"), "{refused}");
}

#[test]
fn the_starts_of_a_duet_have_times() {
    let folder = tempfile::tempdir().unwrap();
    let head = "question = 'q'\nplatforms = ['jetty', 'tomcat']\n[workload]\nkind = 'web'\n[rules]\n";
    let plan = study(folder.path(), &format!("{head}preset = 'duet'\ntrials_max = 4\n")).unwrap();
    assert_eq!(plan.estimate_s(), (4.0 * 23.0, 4.0 * 23.0), "two starts, and a JVM compiles for six seconds");
    let times = "preset = 'duet'\ntrials_max = 4\nwarmup = 30\nduration = '20s'\n";
    let plan = study(folder.path(), &format!("{head}{times}")).unwrap();
    assert_eq!(plan.estimate_s(), (4.0 * 53.0, 4.0 * 53.0));
    assert!(plan.rules.to_string().ends_with("in 4 starts; 20 s of each count, after 30 s of warm-up"));
    let short = outcome(&format!("{head}preset = 'duet'\nduration = 1\n"));
    assert!(
        short.contains("duration must be 2 to 3,600 seconds, got 1") && short.contains("7:12"),
        "{short}"
    );
    let elsewhere = outcome(&format!("{head}duration = 3\n"));
    assert!(elsewhere.contains("duration belongs to the presets duet and quick"), "{elsewhere}");
    let both = outcome(&format!("{head}warmup = 3\nwarmups = 1\n"));
    assert!(both.contains("a start has warmups, which is a number of runs, or a warmup"), "{both}");
}

#[test]
fn starts_belong_to_the_rules_with_several_trials_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let plan = study(folder.path(), &format!("{HEAD}[rules]\npreset = 'ibm-2000'\nstarts = 5\n")).unwrap();
    assert_eq!((plan.rules.visits(), plan.rules.runs_per_visit()), ((5, 5), 6));
    let elsewhere = outcome(&format!("{HEAD}[rules]\nstarts = 5\n"));
    assert!(
        elsewhere.contains("4:10") && elsewhere.contains("starts belongs to the preset ibm-2000"),
        "{elsewhere}"
    );
    let none = outcome(&format!("{HEAD}[rules]\npreset = 'ibm-2000'\nstarts = 0\n"));
    assert!(none.contains("starts must be 1 to 100, got 0"), "{none}");
}

#[test]
fn every_combination_is_a_cell() {
    let text = "question = 'q'
platforms = ['native-epoll', { name = 'native-threads', label = 'one to one', knobs = { sendq = [100000, 200000] } }]
[workload]
rooms = [5, 10]
pacing = ['turns', 'rounds']
window = [1, 4]
count = 50
[server]
nodelay = [true, false]
[crowd]
kind = 'java'
";
    let folder = tempfile::tempdir().unwrap();
    let plan = study(folder.path(), text).unwrap();
    // Three platforms × two room counts × (turns, and rounds with two windows) × two nodelays.
    assert_eq!(plan.cells.len(), 3 * 2 * 3 * 2);
    let names: Vec<&str> = plan.head.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names[0], "platform");
    assert!(["rooms", "pacing", "window", "nodelay", "sendq"].iter().all(|axis| names.contains(axis)));
    assert!(!names.contains(&"count") && !names.contains(&"crowd.kind"), "{names:?}");
    let cell = plan
        .cells
        .iter()
        .find(|cell| cell.id == "one-to-one_sendq-100000_rooms-5_pacing-rounds_window-4_nodelay-off");
    let cell =
        cell.unwrap_or_else(|| panic!("{:?}", plan.cells.iter().map(|cell| &cell.id).collect::<Vec<_>>()));
    let chat = cell.plan.workload.chat().unwrap();
    assert_eq!((chat.rooms, chat.count), (5, 50));
    assert_eq!(chat.pacing, Pacing::Rounds { window: 4 });
    assert_eq!(cell.plan.crowd, CrowdKind::Java);
    let own = cell.plan.subject.platform().unwrap();
    assert!(own.request.settings.iter().any(|setting| setting.to_string() == "nodelay=off"));
}

#[test]
fn the_volanomark_test_has_its_crowd_and_yields_at_both_ends() {
    let text = "question = 'q'\nplatforms = ['native-threads']\n[workload]\npreset = 'volanomark'\nrooms = [5, 10]\n";
    let folder = tempfile::tempdir().unwrap();
    let plan = study(folder.path(), text).unwrap();
    assert_eq!(plan.cells.len(), 2);
    for cell in plan.cells {
        let own = cell.plan.subject.platform().unwrap();
        let (server, crowd) = (&own.request.settings, &cell.plan.crowd_settings);
        assert_eq!(cell.plan.crowd, CrowdKind::NativeThreads);
        assert!([server, crowd].map(|all| all.iter().any(|one| one.to_string() == "yield=on")) == [true; 2]);
    }
    let refused = outcome(&format!("{text}[crowd]\nkind = 'native'\n"));
    assert_eq!(refused, "mine.toml:7:8: the VolanoMark test has a crowd of its own; leave kind out");
    let refused = outcome(&text.replace("rooms", "pacing = 'flood'\nrooms"));
    assert_eq!(refused, "mine.toml:5:10: the VolanoMark test has pacing turns; leave it out");
    let refused = outcome(&text.replace("threads", "epoll"));
    assert!(refused.starts_with("mine.toml:2:14: ") && refused.contains("java-threads"), "{refused}");
}

#[test]
fn a_transport_that_a_platform_lacks_makes_its_cells_absent() {
    let text =
        "question = 'q'\nplatforms = ['native-epoll', 'redis']\n[server]\ntransport = ['plain', 'ws']\n";
    let folder = tempfile::tempdir().unwrap();
    let plan = study(folder.path(), text).unwrap();
    let absent: Vec<bool> = plan.cells.iter().map(|cell| cell.absent.is_some()).collect();
    // Whether Redis is installed or not.
    assert!(!absent[0] && !absent[1] && absent[3], "{:?}", plan.cells);
    assert!(outcome(&text.replace("'ws'", "'udp'")).contains("must be one of"));
}

#[test]
fn each_workload_has_axes_of_its_own() {
    let cells = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let plan = study(folder.path(), &format!("{HEAD}[workload]\n{text}")).unwrap();
        (plan.cells.iter().map(|cell| cell.plan.workload.clone()).collect::<Vec<_>>(), plan.rules.metric.name)
    };
    let (rr, metric) =
        cells("kind = 'rr'\nconnections = [1, 8]\ndepth = 2\nsize = 100\nrate = 5\nduration = 1");
    assert_eq!((rr.len(), metric), (2, "operations_per_s"));
    let Workload::Rr(last) = &rr[1] else { panic!("{rr:?}") };
    assert_eq!((last.connections, last.depth, last.size_bytes, last.duration_s), (8, 2, 100, 1.0));
    assert_eq!(last.rate_per_connection_per_s, Some(5.0));
    let (web, _) = cells("kind = 'web'\nlines = [10, 1000]\nline = ['none', 400]\nstatic_only = true");
    let parts = |cell: &Workload| match cell {
        Workload::Web(web) => (web.lines, web.line_kbit_per_s, web.directories, web.static_only),
        other => panic!("{other:?}"),
    };
    let shown: Vec<_> = web.iter().map(parts).collect();
    assert!(
        shown.contains(&(10, None, 31, true)) && shown.contains(&(1000, Some(400), 200, true)),
        "{shown:?}"
    );
}

#[test]
fn invalid_files_are_refused_with_line_and_column() {
    let invalid = [
        (
            "question = 'q'\nplatforms = ['native-epoll']\ninstruments = ['stopwatch']\n".to_owned(),
            "mine.toml:3:16: unknown variant stopwatch; there are usage, profile, ",
        ),
        (format!("{HEAD}speed = 3\n"), "mine.toml:3:1: unknown field speed; there are question, "),
        (
            format!("{HEAD}[workload]\nrooms = []\n"),
            "mine.toml:4:9: rooms has no value, so there is nothing to run",
        ),
        (format!("{HEAD}[workload]\nrooms = [1, 0]\n"), "mine.toml:4:9: rooms must be 1 to 65,535, got 0"),
        (
            format!("{HEAD}[workload]\nrooms = 'many'\n"),
            "mine.toml:4:9: rooms must be a whole number, got many",
        ),
        (
            format!("{HEAD}[workload]\nkind = 'rr'\nrooms = 3\n"),
            "mine.toml:5:9: rooms belongs to the workload chat, not to rr",
        ),
        (
            format!("{HEAD}[workload]\nstatic_only = true\n"),
            "mine.toml:4:15: static_only belongs to the workload web, not to chat",
        ),
        (
            format!(
                "{HEAD}[workload]\nkind = 'web'\n[search]\nkind = 'knee'\nrate_from = 1\nrate_max = 2\nlatency_p99_max_ms = 3\n"
            ),
            "mine.toml:5:1: the lines of web have no rate, so there is no knee; search a limit",
        ),
        (format!("{HEAD}[server]\nturbo = 1\n"), "mine.toml:4:9: native-epoll has no knob turbo; it has "),
        (
            format!("{HEAD}[crowd]\nkind = 'human'\n"),
            "mine.toml:4:8: crowd kind must be native, native-threads or java, got human",
        ),
        (format!("{HEAD}[crowd]\nturbo = 1\n"), "mine.toml:4:9: "),
        (format!("{HEAD}[workload]\nwindow = 2\n"), "mine.toml:4:10: window belongs to pacing rounds"),
        (
            format!("{HEAD}[workload]\npacing = 'rate'\nrate = 5\npause = 0.5\n"),
            "mine.toml:6:9: pause must be 0 under pacing rate, whose schedule is fixed in advance, got 0.5",
        ),
        (
            format!(
                "{HEAD}[workload]\npause = 0.5\n[search]\nkind = 'knee'\nrate_from = 1\nrate_max = 9\n\
                 latency_p99_max_ms = 20\n"
            ),
            "mine.toml:4:9: pause cannot be combined with a knee, whose schedules are fixed in advance",
        ),
        (format!("{HEAD}[workload]\npacing = 'rate'\n"), "mine.toml:4:10: pacing rate needs a rate"),
        (
            format!("{HEAD}[workload]\nkind = 'rr'\nrate = 5\nstages = '1m:5'\n"),
            "mine.toml:5:8: rate cannot be combined with stages",
        ),
        (
            format!(
                "{HEAD}[workload]\nkind = 'rr'\nstages = '1m:5'\n[search]\nkind = 'knee'\nrate_from = 1\nrate_max = 9\nlatency_p99_max_ms = 3\n"
            ),
            "mine.toml:5:10: stages cannot be combined with a knee, which sets the rates itself",
        ),
        (format!("{HEAD}cpus = [1, 4096]\n"), "mine.toml:3:8: cpus must be 1 to "),
        (
            format!("{HEAD}[rules]\npreset = 'fastest'\n"),
            "mine.toml:4:10: unknown variant fastest; there are ",
        ),
        (
            format!("{HEAD}[rules]\ntrials_min = 8\ntrials_max = 3\n"),
            "mine.toml:5:14: trials_max must be at least",
        ),
        (format!("{HEAD}[rules]\nwithin_percent = 0\n"), "mine.toml:4:18: within_percent must be above 0"),
        (
            "question = 'q'\nplatforms = []\n".into(),
            "mine.toml:2:13: platforms is empty, so there is nothing to run",
        ),
        (
            "question = 'q'\nplatforms = ['x']\n".into(),
            "mine.toml:2:14: no platform is named x; klatch platforms lists all ",
        ),
        ("platforms = ['x']\n".into(), "mine.toml:1:1: missing field `question`"),
        ("question = 'q\n".into(), "mine.toml:1:"),
    ];
    for (text, expected) in invalid {
        let outcome = outcome(&text);
        assert!(outcome.starts_with(expected), "{text}\n  gives {outcome}\n  not   {expected}");
    }
}
