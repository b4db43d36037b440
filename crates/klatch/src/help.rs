//! The text of `klatch --help`. clap has no headings for subcommands, so a table groups them.

use std::fmt::Write;

use crate::pager;

/// Heading and its commands, in the order of use. A test compares the table with clap's own list.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Commands", &["run", "duet", "compare", "study", "history", "report", "platforms", "instruments"]),
    ("Check and calibrate", &["doctor", "calibrate", "floor", "conformance", "web-files"]),
    ("Run the parts separately", &["serve", "crowd", "plan", "merge"]),
    ("Kernel and schedulers", &["trace", "sched", "lab", "simulate", "probe"]),
    ("Other", &["browse", "schema", "completions", "man", "help"]),
];

/// clap adds this command when it parses, so it has no definition in this crate.
const HELP: (&str, &str) = ("help", "Print help for a command");

/// Pages of the reference that messages name, which `klatch help TOPIC` prints.
const TOPICS: [(&str, &str); 3] = [
    ("runtimes", include_str!("../../../docs/reference/runtimes.md")),
    ("simulator", include_str!("../../../docs/reference/simulator.md")),
    ("glossary", include_str!("../../../docs/reference/glossary.md")),
];

/// The page that these arguments, which begin with the name of the program, ask for.
pub(crate) fn topic(arguments: impl Iterator<Item = String>) -> Option<&'static str> {
    let mut arguments = arguments.skip(1).peekable();
    if arguments.next_if(|first| first == "--no-pager").is_some() {
        pager::disable();
    }
    let [command, name] = [arguments.next()?, arguments.next()?];
    let topic = TOPICS.iter().find(|(topic, _)| *topic == name)?;
    (command == HELP.0 && arguments.next().is_none()).then_some(topic.1)
}

/// The names of the pages.
pub(crate) fn topics() -> impl Iterator<Item = &'static str> {
    TOPICS.iter().map(|(topic, _)| *topic)
}

/// clap's help template with the grouped commands.
pub(crate) fn template(klatch: &clap::Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "\n{heading}:");
        for &name in names {
            let _ = writeln!(text, "  {name:<13}{}", about(klatch, name));
        }
    }
    text + "\nOptions:\n{options}\n\n`klatch COMMAND --help` explains a command.\n`klatch help runtimes`, `simulator` or `glossary` prints a page.\n"
}

fn about(klatch: &clap::Command, name: &str) -> String {
    let command = klatch.get_subcommands().find(|command| command.get_name() == name);
    let about = command.and_then(clap::Command::get_about).map(ToString::to_string);
    about.unwrap_or_else(|| if name == HELP.0 { HELP.1.to_owned() } else { String::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_stands_under_exactly_one_heading() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let klatch = crate::Klatch::command();
        let mut defined: Vec<&str> = klatch.get_subcommands().map(clap::Command::get_name).collect();
        defined.push(HELP.0);
        grouped.sort_unstable();
        defined.sort_unstable();
        assert_eq!(grouped, defined);
    }

    #[test]
    fn each_command_fits_on_one_line_of_a_terminal() {
        let template = template(&crate::Klatch::command());
        let long: Vec<_> = template.lines().filter(|line| line.chars().count() > 80).collect();
        // The first line and the usage are clap's placeholders.
        assert!(long.is_empty(), "{long:#?}");
        let bare =
            template.lines().filter(|line| line.starts_with("  ") && line.split_whitespace().count() < 3);
        assert_eq!(bare.count(), 0, "a command has no description: {template}");
    }

    /// The options of `klatch run` that its help shows under their headings, both in the order of use.
    #[test]
    fn options_of_run_stand_under_their_own_heading() {
        let klatch = crate::Klatch::command();
        let run = klatch.find_subcommand("run").unwrap();
        let mut headings: Vec<(&str, Vec<&str>)> = Vec::new();
        for option in run.get_arguments().filter(|option| !option.is_hide_set()) {
            let heading = option.get_help_heading().unwrap_or("Options");
            let name = option.get_long().unwrap();
            match headings.last_mut().filter(|(last, _)| *last == heading) {
                Some((_, names)) => names.push(name),
                None => headings.push((heading, vec![name])),
            }
        }
        let expected: [(&str, &[&str]); 8] = [
            (
                "Server",
                &[
                    "platform",
                    "volanomark",
                    "knob",
                    "transport",
                    "target",
                    "password-file",
                    "ca",
                    "subprotocol",
                    "addresses",
                    "source-address",
                    "tls-version",
                    "ciphers",
                    "client-certificate",
                    "client-key",
                    "java",
                    "catalog",
                ],
            ),
            ("Crowd", &["crowd", "crowd-knob", "crowd-loops"]),
            (
                "Workload",
                &[
                    "workload",
                    "rooms",
                    "users",
                    "count",
                    "duration",
                    "size",
                    "pacing",
                    "window",
                    "rate",
                    "stages",
                    "arrivals",
                    "pause",
                    "churn",
                    "qos",
                    "client-id",
                    "start",
                ],
            ),
            (
                "Measurement",
                &[
                    "seed",
                    "instrument",
                    "warmups",
                    "warmup",
                    "trials",
                    "starts",
                    "label",
                    "require",
                    "junit",
                    "out",
                    "percentiles",
                    "hdr",
                    "json",
                    "web",
                ],
            ),
            ("Machine", &["scheduler", "sysctl", "allow-sysctl"]),
            (
                "Several processes and machines",
                &["shards", "servers", "hosts", "host-address", "host-program", "reach"],
            ),
            ("Time limits", &["ready-timeout", "timeout", "connect-timeout"]),
            ("Options", &["help"]),
        ];
        let expected = expected.map(|(heading, names)| (heading, names.to_vec()));
        let options = headings.iter().filter(|(heading, _)| *heading != "Options");
        assert!(options.eq(expected.iter().filter(|(heading, _)| *heading != "Options")), "{headings:#?}");
    }
}
