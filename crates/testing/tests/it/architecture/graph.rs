//! Circles in a directed graph.

use std::collections::{BTreeMap, BTreeSet};

/// Nodes and what each points to.
pub(crate) type Graph = BTreeMap<String, BTreeSet<String>>;

/// The sets of two or more nodes that all reach each other, each sorted.
pub(crate) fn circles(graph: &Graph) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|node| (node.as_str(), reachable(graph, node))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|nodes| nodes.contains(to));
    graph
        .keys()
        .map(|node| {
            graph
                .keys()
                .filter(|other| reaches(node, other) && reaches(other, node))
                .cloned()
                .collect::<Vec<_>>()
        })
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// All nodes that a path of one or more steps from `start` reaches.
fn reachable<'a>(graph: &'a Graph, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = graph.get(start).into_iter().flatten().map(String::as_str).collect();
    while let Some(node) = open.pop() {
        if reached.insert(node) {
            open.extend(graph.get(node).into_iter().flatten().map(String::as_str));
        }
    }
    reached
}

#[test]
fn a_circle_over_three_nodes_is_found_once() {
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "d")];
    let mut graph = Graph::new();
    for (from, to) in edges {
        graph.entry(from.to_owned()).or_default().insert(to.to_owned());
    }
    assert_eq!(circles(&graph), BTreeSet::from([["a", "b", "c"].map(str::to_owned).to_vec()]));
}
