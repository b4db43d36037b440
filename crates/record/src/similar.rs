//! What to say after a name that nothing has.

/// The least likeness, by Jaro and Winkler, at which a name is taken for a typing error.
const ALIKE: f64 = 0.85;

/// Most names that a message lists.
const LISTED_MAX: usize = 16;

/// "did you mean NAME?" if one of `names` is like `got`. Else `known`, which introduces a list, and all of them; of many, the number.
pub fn instead_of<S: AsRef<str>>(got: &str, names: &[S], known: &str) -> String {
    match similar_to(got, names) {
        Some(name) => format!("did you mean {name}?"),
        None if names.len() > LISTED_MAX => format!("{known} {}", names.len()),
        None => {
            let all: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            format!("{known} {}", all.join(", "))
        }
    }
}

/// The name most like `got`, if it is so alike that a typing error is likely.
pub fn similar_to<'a, S: AsRef<str>>(got: &str, names: &'a [S]) -> Option<&'a str> {
    let got = got.to_lowercase();
    let likeness = |name: &&str| strsim::jaro_winkler(&got, &name.to_lowercase());
    let nearest = names.iter().map(AsRef::as_ref).max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    nearest.filter(|name| likeness(name) >= ALIKE)
}

/// A message of serde about a name that a file or list does not know, with what was meant in place of all that there are.
pub fn with_suggestion(message: &str) -> String {
    let parts: Vec<&str> = message.split('`').collect();
    let [what @ ("unknown field " | "unknown variant "), got, expected, names @ ..] = parts.as_slice() else {
        return message.to_owned();
    };
    let names: Vec<&str> = names.iter().copied().step_by(2).collect();
    let is_list = expected.starts_with(", expected") && !names.is_empty();
    // A longer list stays as serde has it: there is no other place for it.
    let is_short = names.len() <= LISTED_MAX || similar_to(got, &names).is_some();
    match is_list && is_short {
        true => format!("{what}{got}; {}", instead_of(got, &names, "there are")),
        false => message.to_owned(),
    }
}

#[test]
fn an_unknown_name_in_a_file_is_answered_too() {
    let expected = "unknown field `plattforms`, expected one of `question`, `platforms`, `rules`";
    assert_eq!(with_suggestion(expected), "unknown field plattforms; did you mean platforms?");
    let expected = "unknown variant `x`, expected `usage` or `profile`";
    assert_eq!(with_suggestion(expected), "unknown variant x; there are usage, profile");
    assert_eq!(with_suggestion("missing field `question`"), "missing field `question`");
}

#[test]
fn a_typing_error_has_one_answer_and_another_name_has_all() {
    let names = ["java-threads", "java-virtual", "native-epoll"];
    for typed in ["java-thread", "jva-threads", "java-treads", "javathreads"] {
        assert_eq!(instead_of(typed, &names, "there are"), "did you mean java-threads?", "{typed}");
    }
    assert_eq!(instead_of("native-epol", &names, "there are"), "did you mean native-epoll?");
    assert_eq!(
        instead_of("redis", &names, "there are"),
        "there are java-threads, java-virtual, native-epoll"
    );
    assert_eq!(instead_of("x", &[""; 40], "there are"), "there are 40");
}
