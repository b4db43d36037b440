//! The options of the workload, the same for every command, made of the settings that the workloads declare.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use klatch_record::settings::{Form, Scope, Setting};
use klatch_record::{HEADER, HeaderField, HeaderValue, HeaderValues, Workload, WorkloadKind};
use klatch_runner::Target;

/// Help heading of these options.
const HEADING: &str = "Workload";
/// Where help shows the settings: after all other options, of which there are fewer.
const ORDER: usize = 1000;
/// The option that selects the kind.
const KIND: &str = "workload";
/// The group of all these options.
pub(crate) const GROUP: &str = "settings";

/// The key of the kind in study files.
const KIND_KEY: &str = "kind";

/// The settings that name URLs, first that of one.
const URLS: [&str; 2] = ["url", "urls"];

/// Which settings a command offers.
pub(crate) trait Offer {
    fn offers(scope: Scope) -> bool;
}

/// What `klatch run` offers: a run ends by itself.
pub(crate) enum OfRun {}

/// What `klatch duet` offers: its parent ends it.
pub(crate) enum OfDuet {}

/// What `klatch crowd` offers.
pub(crate) enum OfCrowd {}

impl Offer for OfRun {
    fn offers(scope: Scope) -> bool {
        scope != Scope::Crowd
    }
}

impl Offer for OfDuet {
    fn offers(scope: Scope) -> bool {
        !matches!(scope, Scope::Crowd | Scope::End)
    }
}

impl Offer for OfCrowd {
    fn offers(_: Scope) -> bool {
        true
    }
}

/// The workload as it was given.
pub(crate) struct WorkloadArgs<O> {
    kind: WorkloadKind,
    /// Name and value of each setting that was given.
    given: Vec<(&'static str, String)>,
    offer: PhantomData<O>,
}

impl<O: Offer> WorkloadArgs<O> {
    /// The kind and the settings that were given, as a study file has them.
    ///
    /// # Errors
    /// As of [`WorkloadArgs::workload`].
    pub(crate) fn table(&self) -> anyhow::Result<Vec<(String, String)>> {
        let workload = self.workload()?;
        // A header field without a value that may be secret.
        let public = |name: &str| {
            let mut settings = self.kind.settings().iter().filter(|setting| setting.form() == Form::Lines);
            settings.find(|setting| setting.name == name).and_then(|setting| setting.value_of(&workload))
        };
        let given = self
            .given
            .iter()
            .map(|(name, value)| ((*name).to_owned(), public(name).unwrap_or_else(|| value.clone())));
        Ok(std::iter::once((KIND_KEY.to_owned(), self.kind.name().to_owned())).chain(given).collect())
    }

    /// The kind of the workload.
    pub(crate) fn kind(&self) -> WorkloadKind {
        self.kind
    }

    /// The workload.
    ///
    /// # Errors
    /// A number is out of range, or an option does not fit the workload or another option.
    pub(crate) fn workload(&self) -> anyhow::Result<Workload> {
        self.workload_with(&[])
    }

    fn workload_with(&self, more: &[(&str, &str)]) -> anyhow::Result<Workload> {
        let given = self.given.iter().map(|(name, value)| (*name, value.as_str()));
        let given: Vec<(&str, &str)> = given.chain(more.iter().copied()).collect();
        Ok(self.kind.workload(&given)?)
    }

    /// The workload at a target, whose path is the URL of requests.
    ///
    /// # Errors
    /// As of [`WorkloadArgs::workload`], or an option names URLs too.
    pub(crate) fn workload_at(&self, target: Option<&Target>) -> anyhow::Result<Workload> {
        let path = target.and_then(|target| target.path.as_deref());
        let Some(path) = path.filter(|_| self.kind == WorkloadKind::Rr) else { return self.workload() };
        match self.given.iter().find(|(name, _)| URLS.contains(name)) {
            None => self.workload_with(&[(URLS[0], path)]),
            Some(_) if path == "/" => self.workload(),
            Some((name, _)) => {
                anyhow::bail!("the target has a path, and so has --{name}: leave out one of both")
            }
        }
    }

    /// The values of header fields that the workload does not have, as they may be secrets.
    pub(crate) fn header_values(&self) -> HeaderValues {
        let lines =
            self.given.iter().filter(|(name, _)| *name == HEADER).flat_map(|(_, text)| text.split('\n'));
        let hidden = |line| match HeaderField::parse(line) {
            Ok((HeaderField { name, value: HeaderValue::Hidden }, Some(value))) => Some((name, value)),
            _ => None,
        };
        HeaderValues(lines.filter_map(hidden).collect())
    }
}

/// A name, and all kinds that have a setting of it.
type Owners = (&'static str, Vec<(WorkloadKind, &'static Setting)>);

/// The settings that a command offers, each name once, in the order of declaration.
fn offered<O: Offer>() -> Vec<Owners> {
    let mut all: Vec<Owners> = Vec::new();
    for kind in WorkloadKind::ALL {
        for setting in kind.settings().iter().filter(|setting| O::offers(setting.scope)) {
            match all.iter_mut().find(|(name, _)| *name == setting.name) {
                Some((_, owners)) => owners.push((kind, setting)),
                None => all.push((setting.name, vec![(kind, setting)])),
            }
        }
    }
    all
}

/// The names of the settings that a command offers.
#[cfg(test)]
pub(crate) fn names<O: Offer>() -> Vec<&'static str> {
    offered::<O>().into_iter().map(|(name, _)| name).collect()
}

impl<O: Offer> Args for WorkloadArgs<O> {
    fn augment_args(command: Command) -> Command {
        let kinds = WorkloadKind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.summary()));
        let kind = Arg::new(KIND)
            .long(KIND)
            .value_name("WORKLOAD")
            .help("What the crowd does; with --help, its options are shown")
            .value_parser(PossibleValuesParser::new(kinds))
            .default_value(WorkloadKind::default().name())
            .help_heading(HEADING);
        let settings = offered::<O>();
        let arguments: Vec<Arg> = std::iter::once(kind).chain(settings.iter().map(argument)).collect();
        let group = ArgGroup::new(GROUP).args(arguments.iter().map(Arg::get_id)).multiple(true);
        command.args(arguments).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: Offer> FromArgMatches for WorkloadArgs<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let kind = matches.get_one::<String>(KIND).and_then(|name| name.parse().ok()).unwrap_or_default();
        let value = |(name, owners): Owners| {
            let is_given = matches.value_source(name) == Some(ValueSource::CommandLine);
            let lines =
                || matches.get_many::<String>(name).into_iter().flatten().cloned().collect::<Vec<_>>();
            let text = || match owners[0].1.form() {
                Form::Switch => "on".to_owned(),
                Form::Lines => lines().join("\n"),
                _ => matches.get_one::<String>(name).cloned().unwrap_or_default(),
            };
            is_given.then(|| (name, text()))
        };
        Ok(WorkloadArgs {
            kind,
            given: offered::<O>().into_iter().filter_map(value).collect(),
            offer: PhantomData,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The option of a setting.
fn argument((name, owners): &Owners) -> Arg {
    let (kind, setting) = owners[0];
    let argument = Arg::new(*name).long(name.replace('_', "-")).help(help(owners)).help_heading(HEADING);
    let argument = match setting.form() {
        Form::Switch => return argument.action(ArgAction::SetTrue),
        // A wrong line may have a secret in it, which an answer of the parser would show.
        Form::Lines => argument.action(ArgAction::Append),
        Form::Words(words) => argument.value_parser(PossibleValuesParser::new(words.iter().map(possible))),
        // The other settings decide what else it must be.
        Form::Whole | Form::Number | Form::Time | Form::Text => argument.value_parser(move |text: &str| {
            use klatch_record::WorkloadError::Unused;
            match setting.set(&mut kind.usual(), text) {
                Ok(()) | Err(Unused { .. }) => Ok(text.to_owned()),
                Err(error) => Err(error),
            }
        }),
    };
    argument.value_name(setting.unit).allow_negative_numbers(true)
}

fn possible((word, meaning): &(&'static str, &'static str)) -> PossibleValue {
    PossibleValue::new(*word).help(*meaning)
}

/// The help of an option: of each workload what it is, and the defaults.
fn help(owners: &[(WorkloadKind, &'static Setting)]) -> String {
    let mut texts: Vec<(&str, Vec<&str>)> = Vec::new();
    for (kind, setting) in owners {
        match texts.iter_mut().find(|(text, _)| *text == setting.help) {
            Some((_, kinds)) => kinds.push(kind.name()),
            None => texts.push((setting.help, vec![kind.name()])),
        }
    }
    let texts = texts.iter().map(|(text, kinds)| format!("{}: {text}", kinds.join(", ")));
    let text = texts.collect::<Vec<_>>().join(". ");
    let default = |(kind, setting): &(WorkloadKind, &Setting)| Some((*kind, default_of(*kind, setting)?));
    let defaults: Vec<(WorkloadKind, String)> = owners.iter().filter_map(default).collect();
    let is_one = defaults.len() == owners.len() && defaults.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match defaults.first() {
        None => text,
        Some((_, default)) if is_one => format!("{text} [default: {default}]"),
        Some(_) => {
            let of = defaults.iter().map(|(kind, default)| format!("{kind} {default}"));
            format!("{text} [default: {}]", of.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The default of a setting, in words; `None` where it has none, or is off.
fn default_of(kind: WorkloadKind, setting: &Setting) -> Option<String> {
    if setting.form() == Form::Switch { None } else { setting.default_in_words(kind) }
}

/// Hides the options of all workloads but one, which `--help` then does not show. `is_chosen`: the command is of that workload alone.
pub(crate) fn show_only(kind: WorkloadKind, is_chosen: bool, command: Command) -> Command {
    // A duet has a duration of its own.
    let is_setting = |argument: &Arg| argument.get_help_heading() == Some(HEADING);
    let setting = |kind: WorkloadKind, argument: &Arg| {
        let mut settings = kind.settings().iter().enumerate().filter(|_| is_setting(argument));
        settings.find(|(_, setting)| argument.get_id() == setting.name)
    };
    command.mut_args(|argument| match setting(kind, &argument) {
        _ if argument.get_id() == KIND && is_chosen => argument.default_value(kind.name()).hide(true),
        // Without the names of workloads, after --workload.
        Some((place, own)) => argument.help(own_help(kind, own)).display_order(ORDER + place).hide(false),
        None => {
            let is_foreign = WorkloadKind::ALL.into_iter().any(|kind| setting(kind, &argument).is_some());
            let is_hidden = is_foreign || argument.is_hide_set();
            argument.hide(is_hidden)
        }
    })
}

/// Commands that have the options of all workloads.
const COMMANDS: [&str; 5] = ["run", "duet", "calibrate", "crowd", "plan"];

/// The program, if `line` asks for help, without the options of other workloads than that of the line. Otherwise they are all there, as a
/// line of another workload is to be answered with the reason.
pub(crate) fn with_own_help(klatch: Command, line: &[String]) -> Command {
    let asks = |word: &String| matches!(word.as_str(), "-h" | "--help" | "help");
    if !line.iter().skip(1).any(asks) {
        return klatch;
    }
    let after = |words: &[String]| {
        let [option, value] = words else { return None };
        (option == "--workload").then(|| value.clone())
    };
    let joined = |word: &String| word.strip_prefix("--workload=").map(str::to_owned);
    let name = line.windows(2).find_map(after).or_else(|| line.iter().find_map(joined));
    let kind = name.and_then(|name| name.parse().ok()).unwrap_or_default();
    COMMANDS.iter().fold(klatch, |klatch, command| {
        klatch.mut_subcommand(command, |command| show_only(kind, false, command))
    })
}

fn own_help(kind: WorkloadKind, setting: &Setting) -> String {
    let default = default_of(kind, setting).map(|default| format!(" [default: {default}]"));
    let (first, rest) = setting.help.split_at(1);
    format!("{}{rest}{}", first.to_uppercase(), default.unwrap_or_default())
}
