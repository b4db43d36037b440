//! What to say after a name that nothing has.

/// The least likeness, by Jaro and Winkler, at which a name is taken for a typing error.
const ALIKE: f64 = 0.85;

/// Most names that a message lists.
const LISTED_MAX: usize = 16;

/// "did you mean NAME?" if one of `names` is like `got`. Else `known`, which introduces a list, and all of them; of many, the number.
pub fn instead_of<S: AsRef<str>>(got: &str, names: &[S], known: &str) -> String {
    let likeness = |name: &S| strsim::jaro_winkler(got, name.as_ref());
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest.filter(|name| likeness(name) >= ALIKE) {
        Some(name) => format!("did you mean {}?", name.as_ref()),
        None if names.len() > LISTED_MAX => format!("{known} {}", names.len()),
        None => {
            let all: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
            format!("{known} {}", all.join(", "))
        }
    }
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
