//! What to type in place of a command line that is wrong.

use std::io::{IsTerminal, Write, stderr};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use klatch_platforms::{is_knob, names};
use klatch_record::{WorkloadKind, range_in_words, similar_to, without_logins};
use klatch_study::shipped;

/// Options that other programs have, and the names of theirs here.
const SYNONYMS: [(&str, &str); 16] = [
    ("workload", "work"),
    ("knob", "knobs"),
    ("output", "out"),
    ("for", "duration"),
    ("seconds", "duration"),
    ("time", "duration"),
    ("length", "duration"),
    ("repeat", "starts"),
    ("port", "listen"),
    ("address", "listen"),
    ("results", "out"),
    ("classic", "volanomark"),
    ("instruments", "instrument"),
    ("runs", "trials"),
    ("url", "target"),
    ("server", "platform"),
];

/// A command line of each command that needs arguments.
const EXAMPLES: [(&str, &str); 15] = [
    ("duet", "klatch duet native-epoll native-threads"),
    ("compare", "klatch compare results/BEFORE results/AFTER"),
    ("conformance", "klatch conformance native-epoll"),
    ("plan", "klatch plan --target irc://HOST:6667 --shards 2"),
    ("merge", "klatch merge shard-1.json shard-2.json"),
    ("probe", "klatch probe yield"),
    ("lab exec", "klatch lab exec run"),
    ("lab compare", "klatch lab compare BEFORE AFTER"),
    ("sched run", "klatch sched run goodness -- klatch run"),
    ("completions", "klatch completions bash"),
    ("web-files", "klatch web-files /var/www/site"),
    ("trace record", "klatch trace record --duration 2s t.trace"),
    ("trace show", "klatch trace show t.trace"),
    ("trace summary", "klatch trace summary t.trace"),
    ("trace export", "klatch trace export t.trace --perfetto t.json"),
];

/// Options that other programs have, and what does it here.
const ELSEWHERE: [(&str, &str); 8] = [
    ("--jdk", "a version of Java follows the platform: --platform java-threads@21"),
    ("--java-version", "a version of Java follows the platform: --platform java-threads@21"),
    ("--quiet", "progress is on standard error: 2>/dev/null; --json prints results alone"),
    ("-q", "progress is on standard error: 2>/dev/null; --json prints results alone"),
    ("--verbose", "the record has everything: klatch report results/latest"),
    ("-v", "the record has everything: klatch report results/latest"),
    ("--name", "the name stands by itself: klatch study threads-2000"),
    ("--set", "settings of a study are in its file; klatch run takes them as options, as in --rooms 5"),
];

/// Words that people try as a command, and the command.
const COMMANDS: [(&[&str], &str); 3] = [
    (&["bench", "benchmark", "start", "measure", "test", "load"], "klatch run"),
    (&["diff", "ab"], "klatch duet A B, or klatch compare A B for results"),
    (&["list", "ls", "servers"], "klatch platforms, klatch study, klatch instruments"),
];

/// What the parser says of a text that is no number, in words.
const NO_NUMBER: [(&str, &str); 5] = [
    ("invalid digit found in string", "must be a whole number, 0 or more"),
    ("invalid float literal", "must be a number"),
    ("number too large to fit in target type", "is too large"),
    ("cannot parse integer from empty string", "must be a whole number, 0 or more"),
    ("cannot parse float from empty string", "must be a number"),
];

/// Prints the error, or the help that was asked for, and ends the program.
pub(crate) fn answer(error: clap::Error, line: &[String]) -> ! {
    let is_negative =
        |text: String| text.starts_with('-') && text[1..].starts_with(|first: char| first.is_ascii_digit());
    let argument = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    // A negative number looks like an option, whose error would be about something else.
    let error = match argument.is_some_and(is_negative) {
        true => {
            with_negative_numbers(crate::command_line()).try_get_matches_from(line).err().unwrap_or(error)
        }
        false => error,
    };
    let error = with_tip(error, &crate::command_line(), line);
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render();
    let text = if stderr().is_terminal() { text.ansi().to_string() } else { text.to_string() };
    // There is no other place to report a failure of it.
    let _ = write!(stderr(), "{}", without_logins(&in_words(&text)));
    std::process::exit(error.exit_code())
}

/// The text without what only programmers of it know.
fn in_words(text: &str) -> String {
    let text = range(text).unwrap_or_else(|| text.to_owned());
    NO_NUMBER.iter().fold(text, |text, (theirs, ours)| text.replace(theirs, ours))
}

/// The text with a range in words: the parser's `-1 is not in 0..=1000` becomes `must be 0 to 1,000`.
fn range(text: &str) -> Option<String> {
    let (before, after) = text.split_once(" is not in ")?;
    let (before, _) = before.rsplit_once(' ')?;
    let (least, after) = after.split_once("..=")?;
    let end = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
    let (least, most) = (least.parse::<u64>().ok()?, after[..end].parse::<u64>().ok()?);
    Some(format!("{before} must be {}{}", range_in_words(least, most), &after[end..]))
}

/// The same command line, in which every option with a value takes a negative number: the check of the value then answers.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let option =
        |argument: clap::Arg| match argument.get_long().is_some() && argument.get_action().takes_values() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        };
    command.mut_args(option).mut_subcommands(with_negative_numbers)
}

/// An error of the command line with a tip of what to type, if there is a better one than that of the parser. `arguments` begin with the
/// name of the program.
pub(crate) fn with_tip(mut error: clap::Error, klatch: &clap::Command, arguments: &[String]) -> clap::Error {
    let line = Line::new(klatch, arguments);
    let tip =
        match (error.kind(), error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidSubcommand)) {
            (ErrorKind::UnknownArgument, Some(ContextValue::String(argument)), _) => {
                line.instead_of_argument(argument)
            }
            (ErrorKind::InvalidSubcommand, _, Some(ContextValue::String(word))) => {
                line.instead_of_command(word)
            }
            (ErrorKind::ArgumentConflict, Some(ContextValue::String(one)), _) => {
                let other = error.get(ContextKind::PriorArg).map(ToString::to_string);
                other.map(|other| format!("leave out {}, or {}", option_name(one), option_name(&other)))
            }
            (ErrorKind::MissingRequiredArgument, ..) => line.example(),
            _ => return error,
        };
    // The parser suggests names that have little in common with what was typed.
    let is_alike = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(name)) => {
            let typed = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
            similar_to(plain(&typed), &[plain(name.split(' ').next().unwrap_or_default())]).is_some()
        }
        _ => false,
    };
    if is_alike && tip.is_none() {
        return error;
    }
    error.remove(ContextKind::SuggestedArg);
    match tip {
        Some(tip) => {
            error.remove(ContextKind::SuggestedSubcommand);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        }
        None if error.kind() == ErrorKind::UnknownArgument => {
            error.remove(ContextKind::Suggested);
        }
        None => {}
    }
    error
}

/// The name of an option without its value: `--servers` of `--servers <N>`.
fn option_name(argument: &str) -> &str {
    argument.split([' ', '=']).next().unwrap_or_default()
}

/// A command line, as far as it names commands.
struct Line<'a> {
    klatch: &'a clap::Command,
    arguments: &'a [String],
    /// The command that it names, from the first word to the last.
    path: Vec<&'a clap::Command>,
}

impl<'a> Line<'a> {
    fn new(klatch: &'a clap::Command, arguments: &'a [String]) -> Line<'a> {
        let mut path = vec![klatch];
        for word in arguments.iter().skip(1) {
            match path.last().and_then(|command| command.find_subcommand(word)) {
                Some(command) => path.push(command),
                None => break,
            }
        }
        Line { klatch, arguments, path }
    }

    /// The names of the commands, without that of the program: `lab exec`.
    fn name(&self) -> String {
        self.path[1..].iter().map(|command| command.get_name()).collect::<Vec<_>>().join(" ")
    }

    fn has(&self, option: &str) -> bool {
        self.path.last().is_some_and(|command| has(command, option))
    }

    /// The value that follows an option that does not exist.
    fn value_of(&self, argument: &str) -> String {
        let at =
            self.arguments.iter().position(|one| one == argument || one.starts_with(&format!("{argument}=")));
        let given = at.and_then(|at| match self.arguments[at].split_once('=') {
            Some((_, value)) => Some(value),
            None => self.arguments.get(at + 1).map(String::as_str).filter(|next| !next.starts_with('-')),
        });
        given.unwrap_or("VALUE").to_owned()
    }

    fn example(&self) -> Option<String> {
        let name = self.name();
        EXAMPLES.iter().find(|(command, _)| *command == name).map(|(_, example)| format!("as in {example}"))
    }

    fn instead_of_argument(&self, argument: &str) -> Option<String> {
        let own = argument.split('=').next().unwrap_or_default();
        // Some commands have an option of that name.
        let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == own);
        if let Some((_, tip)) = elsewhere.filter(|(other, _)| !self.has(plain(other))) {
            return Some((*tip).to_owned());
        }
        let Some(option) = own.strip_prefix("--") else { return self.instead_of_word(argument) };
        let name = self.name();
        let (knob, value) = (knob_name(argument), self.value_of(argument));
        match name.as_str() {
            "simulate run" if option == "cpus" => return Some(format!("--machine '{value} cpus'")),
            "duet" if is_knob(&knob) => {
                return Some(format!("{knob} is a knob of platforms: klatch duet PLATFORM:{knob}={value} …"));
            }
            "simulate run" | "sched run" => {}
            _ if is_knob(&knob) && self.has("knob") => {
                return Some(format!("{knob} is a knob of platforms: --knob {knob}={value}"));
            }
            _ => {}
        }
        if let Some((_, ours)) = SYNONYMS.iter().find(|(other, ours)| *other == option && self.has(ours)) {
            return Some(format!("here it is --{ours}"));
        }
        self.owner_of(option)
    }

    /// For a word in a place where none belongs.
    fn instead_of_word(&self, word: &str) -> Option<String> {
        if self.has("platform") && is_platform(word) {
            return Some(format!("a platform is named by --platform {word}"));
        }
        let words = self.arguments.iter().filter(|one| !one.starts_with('-'));
        match self.name().as_str() {
            "duet" if is_platform(word) => {
                let sides: Vec<&str> = words.map(String::as_str).filter(|one| is_platform(one)).collect();
                return Some(format!(
                    "a duet has two sides; klatch run --platform {} compares several",
                    sides.join(",")
                ));
            }
            "sched run" => {
                let before = self.arguments.iter().take_while(|one| *one != word);
                let after = self.arguments.iter().skip_while(|one| *one != word);
                let line = before.map(String::as_str).chain(["--"]).chain(after.map(String::as_str)).skip(1);
                return Some(format!("klatch {}", line.collect::<Vec<_>>().join(" ")));
            }
            _ => {}
        }
        if word.starts_with('-') {
            return None;
        }
        let command = self.path.last()?;
        let takes_words = command.get_positionals().next().is_some();
        (!takes_words).then(|| format!("klatch {} takes options only: klatch {0} --help", self.name()))
    }

    /// The commands with an option of this name.
    fn owner_of(&self, option: &str) -> Option<String> {
        let owners: Vec<String> =
            self.klatch.get_subcommands().flat_map(|command| with_option(command, option)).collect();
        let (last, others) = owners.split_last()?;
        Some(match others {
            [] => format!("--{option} is an option of klatch {last}"),
            [second] => format!("--{option} is an option of klatch {second} and {last}"),
            _ => format!("--{option} is an option of klatch {}", owners.join(", ")),
        })
    }

    fn instead_of_command(&self, word: &str) -> Option<String> {
        let name = self.name();
        let is_kind = WorkloadKind::ALL.iter().any(|kind| kind.name() == word);
        match name.as_str() {
            "run" if is_platform(word) => Some(format!("a platform is named by --platform {word}")),
            "run" => Some("a platform is named by --platform; klatch platforms lists all".to_owned()),
            "" if self.arguments.get(1).is_some_and(|first| first == "help") => {
                let topics = crate::help::topics();
                let names = self.klatch.get_subcommands().filter(|command| !command.is_hide_set());
                let names: Vec<String> = names
                    .map(|command| command.get_name().to_owned())
                    .chain(topics.map(str::to_owned))
                    .collect();
                Some(match similar_to(word, &names) {
                    Some(meant) => format!("klatch help {meant}"),
                    None => "klatch help lists all commands and pages".to_owned(),
                })
            }
            "" if is_kind => Some(format!("klatch run {word}")),
            "" if is_platform(word) => Some(format!("klatch run --platform {word}")),
            "" if shipped().iter().any(|study| study.name == word) => Some(format!("klatch study {word}")),
            "" => {
                let known = COMMANDS.iter().find(|(words, _)| words.contains(&word));
                known.map(|(_, command)| (*command).to_owned()).or_else(|| self.owner_of(word))
            }
            "lab" if self.klatch.find_subcommand(word).is_some() => Some(format!("klatch lab exec {word}")),
            "sched" if klatch_schedulers::find(word).is_ok() => {
                Some(format!("klatch sched run {word} -- COMMAND"))
            }
            _ => None,
        }
    }
}

/// The name of an option without its dashes.
fn plain(option: &str) -> &str {
    option.trim_start_matches('-')
}

/// The name that a knob would have as an option.
fn knob_name(argument: &str) -> String {
    argument.trim_start_matches('-').split('=').next().unwrap_or_default().replace('-', "_")
}

/// Whether it is, but for its version, the name of a platform.
pub(crate) fn is_platform(word: &str) -> bool {
    let word = word.split(['@', ':']).next().unwrap_or_default();
    names().iter().any(|name| name == word)
}

fn has(command: &clap::Command, option: &str) -> bool {
    command.get_opts().chain(command.get_arguments()).any(|one| one.get_long() == Some(option))
}

/// The names of the commands in and below this one that have the option.
fn with_option(command: &clap::Command, option: &str) -> Vec<String> {
    let name = command.get_name();
    if has(command, option) {
        return vec![name.to_owned()];
    }
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    below.flat_map(|below| with_option(below, option)).map(|below| format!("{name} {below}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The whole text of the answer to a wrong command line.
    fn tip(line: &str) -> String {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let klatch = crate::command_line();
        let error = klatch.clone().try_get_matches_from(&arguments).unwrap_err();
        with_tip(error, &klatch, &arguments).to_string()
    }

    #[test]
    fn a_wrong_line_is_answered_with_a_right_one() {
        for (line, expected) in [
            ("klatch run --gc zgc", "gc is a knob of platforms: --knob gc=zgc"),
            ("klatch run --heap=1g", "--knob heap=1g"),
            ("klatch duet a b --gc zgc", "klatch duet PLATFORM:gc=zgc"),
            ("klatch duet a b --instrument usage", "--instrument is an option of klatch run"),
            ("klatch duet a b --trials 4", "--trials is an option of klatch run"),
            ("klatch floor --platform nginx", "--platform is an option of klatch run and calibrate"),
            ("klatch simulate run --cpus 8", "--machine '8 cpus'"),
            ("klatch run native-epoll", "--platform native-epoll"),
            ("klatch run --thread 5", ""),
            ("klatch run --instruments usage", "here it is --instrument"),
            ("klatch platforms --knob", "here it is --knobs"),
            ("klatch simulate run --workload chat", "here it is --work"),
            ("klatch duet native-epoll", "as in klatch duet native-epoll native-threads"),
            ("klatch lab exec", "as in klatch lab exec run"),
            ("klatch run native-epol", "klatch platforms lists all"),
            ("klatch calibrate redis", "--platform redis"),
            ("klatch platforms redis", "klatch platforms takes options only"),
            ("klatch chat", "klatch run chat"),
            ("klatch redis", "klatch run --platform redis"),
            ("klatch threads-2000", "klatch study threads-2000"),
            ("klatch lab run", "klatch lab exec run"),
            ("klatch sched goodness", "klatch sched run goodness -- COMMAND"),
            ("klatch run --plattform redis", "'--platform'"),
            ("klatch runn", "'run'"),
            ("klatch run --jdk 21", "--platform java-threads@21"),
            ("klatch run --time 30s", "here it is --duration"),
            ("klatch run -v", "klatch report results/latest"),
            ("klatch run --quiet", "2>/dev/null"),
            ("klatch study --name knee", "klatch study threads-2000"),
            ("klatch duet redis nats mosquitto", "klatch run --platform redis,nats,mosquitto"),
            ("klatch sched run goodness make -j4", "klatch sched run goodness -- make -j4"),
            ("klatch serve --port 80", "here it is --listen"),
            ("klatch help runtime", "klatch help runtimes"),
            ("klatch help nosuch", "klatch help lists all"),
            ("klatch bench", "klatch run"),
            ("klatch hosts", "--hosts is an option of klatch run"),
            ("klatch web-files", "as in klatch web-files /var/www/site"),
            ("klatch trace record", "as in klatch trace record --duration 2s t.trace"),
        ] {
            let text = tip(line);
            assert!(text.contains(expected), "{line}: {text}");
            assert_eq!(text.contains("tip:"), !expected.is_empty(), "{line}: {text}");
        }
    }
}
