//! A process and everything that it has started: servers such as nginx, Apache and PostgreSQL are several processes.

use std::collections::HashMap;

use crate::machine::proc_files::read_text;

/// Process `pid` and its descendants at this moment, itself first. A process that ends meanwhile may be among them.
pub fn process_tree(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(child) = number
            && let Some(parent) = parent_of(child)
        {
            children.entry(parent).or_default().push(child);
        }
    }
    let mut tree = vec![pid];
    let mut next = 0;
    while let Some(parent) = tree.get(next) {
        tree.extend(children.remove(parent).unwrap_or_default());
        next += 1;
    }
    tree
}

/// The parent of a process; `None` if the process has ended.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = read_text(&format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; the state and the parent follow it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn children_and_grandchildren_are_in_the_tree_and_others_are_not() {
        let mut other = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let child = r#"sh -c "echo \$\$; read end"; true"#;
        let mut parent = Command::new("sh")
            .args(["-c", r#"sh -c "$1"; true"#, "parent", child])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
        let grandchild: u32 = lines.next().unwrap().unwrap().trim().parse().unwrap();
        let tree = process_tree(parent.id());
        assert_eq!((tree[0], tree.len()), (parent.id(), 3));
        assert!(tree.contains(&grandchild), "{grandchild} is not in {tree:?}");
        assert!(!tree.contains(&other.id()) && !tree.contains(&std::process::id()));
        assert!(process_tree(std::process::id()).contains(&grandchild));
        for process in [&mut other, &mut parent] {
            // The end of their input ends them.
            drop(process.stdin.take());
            process.wait().unwrap();
        }
    }
}
