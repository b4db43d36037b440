//! Crowds on other machines.

use crate::reach::Reach;

/// The machines that run the crowd, if not this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remote {
    /// Host names as the command of `reach` resolves them; empty for this machine.
    pub hosts: Vec<String>,
    /// How a command is run on a host.
    pub reach: Reach,
    /// Name or path of Klatch on the hosts.
    pub program: String,
}

impl Remote {
    /// The host of shard `number`, counted from 0; hosts take turns. `None` for this machine.
    pub(crate) fn host(&self, number: usize) -> Option<&str> {
        self.hosts.get(number % self.hosts.len().max(1)).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_take_turns() {
        let remote = Remote { hosts: vec!["alpha".into(), "beta".into()], ..Remote::default() };
        let hosts: Vec<_> = (0..3).map(|number| remote.host(number)).collect();
        assert_eq!(hosts, [Some("alpha"), Some("beta"), Some("alpha")]);
        assert_eq!(Remote::default().host(5), None);
    }
}
