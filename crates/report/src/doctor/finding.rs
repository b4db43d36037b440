//! One line of the doctor's list.

use std::fmt;

use serde::Serialize;

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The heading it stands under.
    pub topic: &'static str,
    /// What was checked, in a few words.
    pub name: String,
    /// Whether something is missing.
    pub is_gap: bool,
    /// What is there, or what is missing.
    pub state: String,
    /// How to close the gap; a command where there is one. A gap of the hardware has none.
    pub remedy: Option<String>,
}

impl Finding {
    /// A finding without a gap.
    pub fn works(topic: &'static str, name: impl Into<String>, state: impl Into<String>) -> Finding {
        Finding { topic, name: name.into(), is_gap: false, state: state.into(), remedy: None }
    }

    /// Something that is missing, and how to get it.
    pub fn gap(
        topic: &'static str,
        name: impl Into<String>,
        state: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        let remedy = Some(remedy.into());
        Finding { is_gap: true, remedy, ..Finding::works(topic, name, state) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_gap { "gap" } else { "ok" };
        write!(f, "  {mark:<4} {:<19} {}", self.name, self.state)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n{:<27}to change it: {remedy}", ""),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_has_its_remedy_on_a_line_of_its_own() {
        let gap = Finding::gap("Size", "20000 users", "files is 1024", "ulimit -n 20100");
        assert_eq!(
            gap.to_string(),
            "  gap  20000 users         files is 1024\n                           to change it: ulimit -n 20100"
        );
        assert_eq!(Finding::works("Size", "200 users", "fit").to_string(), "  ok   200 users           fit");
    }
}
