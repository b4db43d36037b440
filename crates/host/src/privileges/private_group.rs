//! Private groups: that of one user, as most distributions make them, where files have mode 664 and folders 775 (umask 002).

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::sync::{Mutex, PoisonError};

/// Whether a group is the one of this user alone. False if the files of users and groups do not say so, such as for those of a
/// directory service. Root's group is none: root's files are for root.
pub(crate) fn is_private_group(gid: u32, uid: u32) -> bool {
    /// A folder may have thousands of files of one group.
    static KNOWN: Mutex<BTreeMap<(u32, u32), bool>> = Mutex::new(BTreeMap::new());
    let read = |path| read_to_string(path).unwrap_or_default();
    let look = || is_private(gid, uid, &read("/etc/passwd"), &read("/etc/group"));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    uid != 0 && *known.entry((gid, uid)).or_insert_with(look)
}

/// The same by the text of `/etc/passwd` and `/etc/group`.
fn is_private(gid: u32, uid: u32, users: &str, groups: &str) -> bool {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let is = |field: Option<&String>, id: u32| field.is_some_and(|field| *field == id.to_string());
    let of_group: Vec<Vec<String>> = users.lines().map(fields).filter(|user| is(user.get(3), gid)).collect();
    let [user] = &of_group[..] else { return false };
    let mut entries = groups.lines().map(fields).filter(|group| is(group.get(2), gid));
    let (Some(group), None) = (entries.next(), entries.next()) else { return false };
    let members = group.get(3).map_or("", String::as_str);
    is(user.get(2), uid)
        && members
            .split(',')
            .all(|member| member.is_empty() || Some(member) == user.first().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_private_if_it_has_one_user() {
        let users = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:100::/home/bob:/bin/sh\n";
        let groups = "root:x:0:\nusers:x:100:\nann:x:1000:ann\n";
        assert!(is_private(1000, 1000, users, groups));
        assert!(is_private(1000, 1000, users, &groups.replace("1000:ann", "1000:")));
        assert!(!is_private(1000, 1001, users, groups), "it is the group of another user");
        assert!(!is_private(100, 1001, users, &groups.replace("100:", "100:ann")), "others are in it");
        assert!(
            !is_private(1000, 1000, &users.replace("1001:100:", "1001:1000:"), groups),
            "others begin in it"
        );
        assert!(!is_private(1000, 1000, "", groups) && !is_private(1000, 1000, users, ""));
        assert!(!is_private_group(0, 0));
    }
}
