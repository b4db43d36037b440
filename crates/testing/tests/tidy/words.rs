//! Counts word families that stand for a missing term: "the instrument tells", "what was found", "who comes next".

use std::collections::BTreeMap;

pub(crate) const MOST_PER_10_000: f64 = 5.0;

/// Each family by its name, with all its forms. IRC's `WHO` and `NotFound` errors are the reason that some are allowed at all.
const FAMILIES: [(&str, &[&str]); 10] = [
    ("tell", &["tell", "tells", "told", "telling"]),
    ("say", &["say", "says", "said", "saying"]),
    ("hear", &["hear", "hears", "heard", "hearing"]),
    ("come", &["come", "comes", "came", "coming"]),
    ("who", &["who", "whom", "whoever"]),
    ("look", &["look", "looks", "looked", "looking"]),
    ("found", &["found"]),
    ("watch", &["watch", "watches", "watched", "watching", "watcher"]),
    ("wish", &["wish", "wishes", "wished"]),
    ("kept", &["noted", "kept"]),
];

/// How often each family occurs among all words.
#[derive(Default)]
pub(crate) struct Count {
    words: usize,
    families: BTreeMap<&'static str, usize>,
}

impl Count {
    /// Adds the words of running text.
    pub(crate) fn add(&mut self, text: &str) {
        text.split(|letter: char| !letter.is_ascii_alphabetic())
            .filter(|word| !word.is_empty())
            .for_each(|word| self.add_word(word));
    }

    /// Adds the parts of each identifier in program text: `not_found`, `NotFound` and `notFound` have two.
    pub(crate) fn add_identifiers(&mut self, text: &str) {
        for word in text.split(|letter: char| !letter.is_ascii_alphabetic()) {
            let mut start = 0;
            for (end, pair) in word.as_bytes().windows(2).enumerate().map(|(at, pair)| (at + 1, pair)) {
                if pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() {
                    self.add_word(&word[start..end]);
                    start = end;
                }
            }
            if start < word.len() {
                self.add_word(&word[start..]);
            }
        }
    }

    fn add_word(&mut self, word: &str) {
        self.words += 1;
        let word = word.to_ascii_lowercase();
        if let Some((family, _)) = FAMILIES.iter().find(|(_, forms)| forms.contains(&word.as_str())) {
            *self.families.entry(family).or_default() += 1;
        }
    }

    /// The families that occur too often, each with its rate per 10,000 words.
    pub(crate) fn excess(&self) -> Vec<String> {
        let rate = |count: usize| 1e4 * count as f64 / self.words.max(1) as f64;
        let rates = self.families.iter().map(|(family, &count)| (family, rate(count)));
        rates
            .filter(|(_, rate)| *rate >= MOST_PER_10_000)
            .map(|(family, rate)| format!("{family} {rate:.1}"))
            .collect()
    }
}

#[test]
fn families_are_counted_in_text_and_in_parts_of_identifiers() {
    let mut count = Count::default();
    count.add("The server told the crowd, who heard it.");
    assert_eq!(count.words, 8);
    assert_eq!(count.families, BTreeMap::from([("hear", 1), ("tell", 1), ("who", 1)]));
    let mut count = Count::default();
    count.add_identifiers("fn tell_all(heardBy: NotFound)");
    assert_eq!(count.words, 7);
    assert_eq!(count.families, BTreeMap::from([("found", 1), ("hear", 1), ("tell", 1)]));
    assert_eq!(count.excess().len(), 3);
}
