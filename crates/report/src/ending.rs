//! The end of what a command prints about its results.

use std::fmt;
use std::path::PathBuf;

use crate::build::shell_line;

/// The last lines of a command: the sentence of the report, where the results are, and the command that most people type next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ending {
    /// The sentence; empty if there is none.
    pub answer: String,
    /// Where the results are, each with its name, such as `results` or `report`.
    pub places: Vec<(&'static str, PathBuf)>,
    /// The next command in words; empty if there is none.
    pub next: Vec<String>,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.answer.is_empty() {
            writeln!(f, "\n{}\n", self.answer)?;
        }
        for (name, place) in &self.places {
            writeln!(f, "{name}: {}", place.display())?;
        }
        if !self.next.is_empty() {
            writeln!(f, "next: {}", shell_line(&self.next))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_comes_before_the_places_and_the_next_command() {
        let words = ["klatch", "browse", "my results"].map(str::to_owned);
        let ending = Ending {
            answer: "x carries 1 message/s.".to_owned(),
            places: vec![("results", "my results/x".into()), ("report", "my results/x/report.html".into())],
            next: words.to_vec(),
        };
        let expected = "\nx carries 1 message/s.\n\nresults: my results/x\nreport: my results/x/report.html\n\
            next: klatch browse 'my results'\n";
        assert_eq!(ending.to_string(), expected);
        assert_eq!(Ending::default().to_string(), "");
    }
}
