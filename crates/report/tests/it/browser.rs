//! Uses reports in headless Chromium: layout, charts, downloads, flame graph.

use crate::support::{add, add_failed, observe, study, time, warn};
use klatch_record::{Cause, Class, Reason, Status};
use klatch_report::{ChartKind, Entry, EntryKind, IndexFilter, Place, Scale, Source, html, index, report};
use klatch_testing::{Chromium, Need, needs};

const STACKS: &str = "server;java;main;read;tcp_recvmsg_[k] 300\nserver;java;main;write;tcp_sendmsg_[k] 500\n\
    crowd;klatch;loop;epoll_wait_[k] 150\nothers;sshd 50\n";

/// A source with lines over rooms, timelines with a stall, bars of routines and a flame graph.
fn observed_source(folder: &std::path::Path) -> Source {
    let mut study = study("sweep", "How does throughput fall?");
    for rooms in ["5", "10", "25"] {
        for platform in ["java-threads", "native-epoll"] {
            let by = rooms.parse::<f64>().unwrap() + if platform == "native-epoll" { 40.0 } else { 0.0 };
            let trials = [90_000.0 - by * 1_000.0, 91_500.0 - by * 1_000.0, 89_300.0 - by * 1_000.0];
            add(&mut study, &[("platform", platform), ("rooms", rooms)], Class::Classic, &trials);
        }
    }
    time(&mut study);
    observe(&mut study, folder, STACKS);
    study
}

/// A script that lists overflowing text, overlapping text, values that are none, and pages wider than the screen.
const LAYOUT_FAULTS: &str = "(() => {
    const faults = [];
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth + 1) faults.push(`the page is ${page.scrollWidth} px wide`);
    for (const svg of document.querySelectorAll('.chart .plot svg')) {
        const name = svg.closest('figure').id;
        const texts = [...svg.querySelectorAll('text')].filter((text) => !text.closest('[aria-label=tip]'));
        const boxes = texts.map((text) => ({ text: text.textContent, ...text.getBoundingClientRect().toJSON() }))
            .filter((box) => box.width > 0);
        for (const [at, a] of boxes.entries()) {
            if (/NaN|undefined|null/.test(a.text)) faults.push(`${name}: ${a.text}`);
            if (a.left < -1 || a.right > page.clientWidth + 1) faults.push(`${name}: cut: ${a.text}`);
            for (const b of boxes.slice(at + 1)) {
                const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (across > 1 && down > 3) faults.push(`${name}: ${a.text} lies on ${b.text}`);
            }
        }
    }
    return faults.join('\\n');
})()";

fn looks_right(browser: &mut Chromium, study: &Source) {
    let page = html(&report(study)).unwrap();
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    for (width, dark) in [(1440, false), (400, true)] {
        browser.open(&page, width, dark);
        assert_eq!(browser.evaluate(LAYOUT_FAULTS), "", "{} at {width} px", study.path.display());
    }
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

/// Lines have places between words too, such as the releases of a kernel.
#[test]
fn lines_over_words_have_a_tick_for_each_word() {
    needs!(Need::Chromium);
    let folder = tempfile::tempdir().unwrap();
    let mut report = report(&observed_source(folder.path()));
    let charts = report.sections.iter_mut().flat_map(|section| &mut section.charts);
    let chart = { charts }.find(|chart| chart.id == "messages_per_s").unwrap();
    assert_eq!((chart.kind, chart.x.scale), (ChartKind::Lines, Scale::Linear));
    chart.x.scale = Scale::Words;
    for point in &mut chart.points {
        let Place::At(rooms) = point.x else { panic!("{:?}", point.x) };
        point.x = Place::Named(format!("Linux {rooms}.{rooms}"));
    }
    let page = html(&report).unwrap();
    let mut browser = Chromium::start();
    for (width, dark) in [(1440, false), (400, true)] {
        browser.open(&page, width, dark);
        assert_eq!(browser.evaluate(LAYOUT_FAULTS), "", "at {width} px");
        let ticks = browser.evaluate(
            "[...document.querySelectorAll('#chart-messages_per_s svg [aria-label=\"x-axis tick label\"] text')]
                .map((text) => text.textContent).join()",
        );
        assert_eq!(ticks, "Linux 5.5,Linux 10.10,Linux 25.25", "at {width} px");
    }
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn a_report_is_read_opened_zoomed_and_saved() {
    needs!(Need::Chromium);
    let folder = tempfile::tempdir().unwrap();
    let study = observed_source(folder.path());
    let mut browser = Chromium::start();
    looks_right(&mut browser, &study);

    let opened = browser.evaluate(
        "(() => { const table = document.querySelector('#chart-messages_per_s details');
            table.querySelector('summary').click();
            return table.open && table.querySelectorAll('tbody tr').length; })()",
    );
    assert_eq!(opened, 6);

    // The saved CSV has the values of the records.
    let (name, text) = browser.saved("#chart-messages_per_s [data-save=csv]");
    assert_eq!(name, "messages_per_s.csv");
    let result = study.result.as_ref().unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), result.cells.len());
    for row in &rows {
        let cell =
            result.cells.iter().find(|cell| cell.at["platform"] == row[0] && cell.at["rooms"] == row[1]);
        let estimate = &cell.expect("every row is a cell").estimates["messages_per_s"];
        let numbers: Vec<f64> = (2..5).map(|column| row[column].parse().unwrap()).collect();
        assert_eq!(numbers, [estimate.mean, estimate.low.unwrap(), estimate.high.unwrap()]);
        assert_eq!(&row[5], "3");
    }
    let (name, text) = browser.saved("#chart-latency-percentiles [data-save=svg]");
    assert!(
        name == "latency-percentiles.svg" && text.starts_with("<svg") && !text.contains("var(--"),
        "{text}"
    );

    // The stall is marked in the chart of its run, and the table describes the late delivery.
    let stalled = browser.evaluate(
        "[...document.querySelectorAll('figure[id^=chart-latency-over-time]')].filter((figure) =>
            figure.querySelector('.legend').textContent.includes('stall: no delivery from 2.50 to 3.50 s'))
            .map((figure) => figure.querySelector('h3').textContent).join()",
    );
    assert_eq!(stalled, "Latency over the time of a run: native-epoll, 25 rooms");
    let (_, text) = browser.saved("#chart-latency-over-time-3 [data-save=csv]");
    let told: Vec<&str> = text.lines().filter(|line| line.contains("stall")).collect();
    assert_eq!(told, ["max,3.625,1074.79,,,850,stall: no delivery from 2.50 to 3.50 s"]);
    let (_, text) = browser.saved("#chart-deliveries-over-time [data-save=csv]");
    let silent = text.lines().filter(|line| line.contains("25 rooms") && line.ends_with(",0,,,0,"));
    assert_eq!(silent.count(), 4, "{text}");

    // The flame graph zooms by click and by keys, and zooms out again.
    let flame = "document.querySelector('figure.flame')";
    let seen = format!("[...{flame}.querySelectorAll('text')].map((text) => text.textContent).join(' ')");
    let before = browser.evaluate(&seen);
    assert!(before.as_str().unwrap().contains("crowd"), "{before}");
    let click = format!(
        "[...{flame}.querySelectorAll('rect')].find((rect) => rect.textContent.startsWith('server:'))
            .dispatchEvent(new MouseEvent('click', {{ bubbles: true }}))"
    );
    browser.evaluate(&click);
    let zoomed = browser.evaluate(&seen);
    assert!(
        zoomed.as_str().unwrap().contains("tcp_sendmsg") && !zoomed.as_str().unwrap().contains("crowd"),
        "{zoomed}"
    );
    let says = browser.evaluate(&format!("{flame}.querySelector('.at').textContent"));
    assert_eq!(says, "server: 800 samples, 80.0 % of all");
    browser.evaluate(&format!("{flame}.querySelector('svg').focus()"));
    browser.press("Escape");
    assert_eq!(browser.evaluate(&seen), before);
    browser.press("ArrowDown");
    browser.press("ArrowRight");
    browser.press("Enter");
    let crowd = browser.evaluate(&format!("{flame}.querySelector('.at').textContent"));
    assert_eq!(crowd, "crowd: 150 samples, 15.0 % of all");
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn a_pointer_over_a_chart_shows_value_interval_and_n() {
    needs!(Need::Chromium);
    let folder = tempfile::tempdir().unwrap();
    let mut browser = Chromium::start();
    browser.open(&html(&report(&observed_source(folder.path()))).unwrap(), 1440, false);
    let tip = browser.evaluate(
        "(() => { const svg = document.querySelector('#chart-messages_per_s .plot svg');
            const dot = svg.querySelector('circle').getBoundingClientRect();
            const at = { bubbles: true, pointerType: 'mouse', clientX: dot.left + 2, clientY: dot.top + 2 };
            svg.dispatchEvent(new PointerEvent('pointerenter', at));
            svg.dispatchEvent(new PointerEvent('pointermove', at));
            return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
                done(svg.querySelector('[aria-label=tip]').textContent)))); })()",
    );
    let tip = tip.as_str().unwrap();
    for part in ["java-threads", "rooms: 5", "85,267 messages/s", "interval", "n = 3"] {
        assert!(tip.contains(part), "{tip:?} does not tell {part}");
    }
}

#[test]
fn twelve_platforms_forty_points_long_failures_and_nothing_at_all_look_right() {
    needs!(Need::Chromium);
    let mut browser = Chromium::start();
    let mut platforms =
        study("platforms", "Which of twelve platforms with names of some length carries the chat best?");
    for number in 1..=12 {
        let name = format!(
            "java-threads@{number}.0.15+6-Debian-1deb12u1 interpreted, heap {number}6m, on-CPUs-0-to-{number}"
        );
        let class = if number % 3 == 0 { Class::Open } else { Class::Classic };
        let trials =
            [10_000.0 * f64::from(number), 10_400.0 * f64::from(number), 9_900.0 * f64::from(number)];
        add(&mut platforms, &[("platform", &name)], class, &trials);
    }
    let failure = "room 17, user 3: connection reset by peer, and a word-without-any-blank-".repeat(28);
    assert!(failure.len() > 2_000);
    add_failed(&mut platforms, &[("platform", "failing")], &failure);
    warn(&mut platforms, "the hypervisor gave 3.0 % of the CPU time to others");
    looks_right(&mut browser, &platforms);

    let mut sweep = study("sweep", "How does it fall?");
    for rooms in 1..=40 {
        for platform in ["a-platform-with-a-long-name", "another-platform-with-a-longer-name"] {
            let rooms = (rooms * 5).to_string();
            let at = [("platform", platform), ("rooms", rooms.as_str())];
            match rooms.as_str() {
                "200" => add_failed(&mut sweep, &at, &failure),
                _ => add(&mut sweep, &at, Class::Classic, &[50_000.0, 51_000.0, 49_500.0]),
            }
        }
    }
    looks_right(&mut browser, &sweep);
    looks_right(&mut browser, &study("empty", ""));
    let mut failed = study("failed", "Does anything work?");
    add_failed(&mut failed, &[("platform", "failing")], &failure);
    looks_right(&mut browser, &failed);
    assert_eq!(browser.evaluate("document.querySelector('.badge').textContent"), "no result");
}

/// An entry of the index with this name and platform, of the `number`th second.
fn entry(name: &str, platform: &str, number: u32) -> Entry {
    Entry {
        folder: format!("folder-{number}"),
        kind: EntryKind::Study,
        name: name.to_owned(),
        platforms: vec![platform.to_owned()],
        answer: String::new(),
        question: format!("What of {name}?"),
        started_at: format!("2026-11-25T{:02}:{:02}:{:02}Z", number / 3600, number / 60 % 60, number % 60),
        summary: "3 cells".to_owned(),
        score: Some(51_234.0),
        unit: "message".to_owned(),
        cpu_us: Some(12.3),
        p99_us: Some(1_850.0),
        verdict: Some(Status::Valid),
        values: vec![50_000.0, 51_234.0, 52_000.0],
        is_final: true,
    }
}

#[test]
fn the_index_is_searched_filtered_paged_and_stays_text() {
    needs!(Need::Chromium);
    let evil = "<img src=x onerror=window.caught=1>";
    let mut entries: Vec<Entry> = (0..450).map(|number| entry("threads", "native-epoll", number)).collect();
    entries.push(entry(evil, evil, 451));
    let mut browser = Chromium::start();
    let filter = |words: &str, platform: &str, page| IndexFilter {
        words: words.to_owned(),
        platform: platform.to_owned(),
        page,
        ..IndexFilter::default()
    };
    let rows = "document.querySelectorAll('tbody tr').length";
    for (width, dark) in [(1440, false), (400, true)] {
        browser.open(&index(&entries, &filter("", "", 1), &[], evil, Some(evil)).unwrap(), width, dark);
        assert_eq!(browser.evaluate(LAYOUT_FAULTS), "", "at {width} px");
        assert_eq!(browser.evaluate(rows), 200);
        assert_eq!(browser.evaluate("document.querySelector('tbody th a').textContent"), evil);
        let second = "document.querySelectorAll('tbody tr')[1].textContent.replace(/\\s+/g, ' ').trim()";
        let told = browser.evaluate(second);
        for part in ["threads", "51,234 messages/s", "12.3 µs", "1.85 ms", "complete", "▁▅█", "3 cells"]
        {
            assert!(told.as_str().unwrap().contains(part), "no {part} in {told}");
        }
    }
    for (filter, wanted) in [
        (filter("", "", 3), 51),
        (filter("", "", 99), 51),
        (filter("THREADS folder-7", "", 1), 11),
        (filter("", evil, 1), 1),
        (IndexFilter { study: "threads".to_owned(), ..IndexFilter::default() }, 200),
        (filter(evil, "native-epoll", 1), 0),
    ] {
        browser.open(&index(&entries, &filter, &[], "results", None).unwrap(), 1440, false);
        assert_eq!(browser.evaluate(rows), wanted, "{filter:?}");
        assert_eq!(browser.evaluate("document.querySelector('[name=words]').value"), filter.words);
        assert_eq!(browser.evaluate("document.querySelector('[name=platform]').value"), filter.platform);
    }
    let running = ["http://127.0.0.1:4000/".to_owned()];
    browser.open(&index(&[], &IndexFilter::default(), &running, "results", None).unwrap(), 400, false);
    assert_eq!(browser.evaluate(LAYOUT_FAULTS), "");
    assert_eq!(browser.evaluate("document.querySelector('header .answer a').href"), running[0]);
    assert!(
        browser
            .evaluate("document.querySelector('main').textContent")
            .as_str()
            .unwrap()
            .contains("no results yet")
    );
    assert_eq!(browser.evaluate("document.querySelectorAll('img').length + (window.caught ?? 0)"), 0);
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn what_others_wrote_stays_text() {
    needs!(Need::Chromium);
    let evil =
        "</script><script>window.caught=1</script><img src=x onerror=window.caught=1>\"'`${window.caught=1}";
    let folder = tempfile::tempdir().unwrap();
    let mut study = study(evil, evil);
    for cpus in ["1", "2"] {
        add(&mut study, &[("platform", evil), ("cpus", cpus)], Class::Classic, &[50_000.0, 51_000.0]);
    }
    study.path = "study".into();
    for (number, run) in study.runs.iter_mut().enumerate() {
        run.file = format!("block-{number}/trial-1.json").into();
        run.record.platform.command = Some(vec![evil.into()]);
        run.record.environment.distribution = Some(evil.into());
        run.record.verdict.reasons = vec![Reason::new(Cause::Crowd, evil)];
    }
    add_failed(&mut study, &[("platform", evil), ("cpus", "4")], evil);
    warn(&mut study, evil);
    observe(&mut study, folder.path(), &format!("server;{} 60\n{evil} 40\n", evil.replace(';', "_")));
    let mut browser = Chromium::start();
    browser.open(&html(&report(&study)).unwrap(), 1440, false);
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
    let caught =
        "document.querySelectorAll('img, script:not(:where(body > script))').length + (window.caught ?? 0)";
    assert_eq!(browser.evaluate(caught), 0);
    assert_eq!(browser.evaluate("document.querySelector('h1').textContent"), evil);
    // The policy would block an injected script even if it were in the page.
    let added =
        "(() => { const script = document.createElement('script'); script.textContent = 'window.caught = 1';
        document.body.append(script); return window.caught ?? 0; })()";
    assert_eq!(browser.evaluate(added), 0);
}
