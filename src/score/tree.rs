//! Prefixes that were computed before: a radix tree of token runs with their keys and values.
//!
//! A child hangs at any place of its parent, so a prefix is cut without copying. What was used
//! longest ago goes first when memory runs short.

use super::engine::Branch;
use std::ops::Range;

type Id = usize;

/// Where a node hangs: nowhere, or behind so many tokens of its parent.
type Place = Option<(Id, usize)>;

#[derive(Debug)]
struct Node<S> {
    at: Place,
    tokens: Vec<u32>,
    segment: S,
    /// Positions at the segment's start that other nodes already hold.
    skip: usize,
    children: Vec<Id>,
    used: u64,
}

/// A tree of prefixes, bounded in tokens.
#[derive(Debug)]
pub(super) struct Tree<S> {
    nodes: Vec<Option<Node<S>>>,
    roots: Vec<Id>,
    clock: u64,
    tokens: usize,
    limit: usize,
}

/// A way down the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Path {
    steps: Vec<(Id, usize)>,
    /// Tokens on the way.
    pub len: usize,
}

impl<S> Tree<S> {
    /// Keeps at most `limit` tokens, beside what a path in use needs.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            nodes: Vec::new(),
            roots: Vec::new(),
            clock: 0,
            tokens: 0,
            limit,
        }
    }

    /// Goes down as far as these tokens are known.
    pub(super) fn find(&mut self, tokens: &[u32]) -> Path {
        self.clock += 1;
        let mut path = Path::default();
        while let Some((id, common)) = self.next(&path, &tokens[path.len..]) {
            if let Some(node) = &mut self.nodes[id] {
                node.used = self.clock;
            }
            path.steps.push((id, common));
            path.len += common;
        }
        path
    }

    /// The child that goes on with these tokens. There is one at most: two would share their first
    /// token, and the second would have been hung into the first.
    fn next(&self, path: &Path, rest: &[u32]) -> Option<(Id, usize)> {
        let at = path.steps.last().copied();
        let children = match at {
            None => &self.roots,
            Some((id, _)) => &self.nodes[id].as_ref()?.children,
        };
        let first = rest.first()?;
        let fits = |id: &&Id| {
            let node = self.nodes[**id].as_ref();
            node.is_some_and(|n| n.at == at && n.tokens.first() == Some(first))
        };
        let id = *children.iter().find(fits)?;
        let tokens = &self.nodes[id].as_ref()?.tokens;
        let common = tokens.iter().zip(rest).take_while(|(a, b)| a == b).count();
        Some((id, common))
    }

    /// Goes from a path along `tokens`, whose keys and values are `segment`; what the tree does not
    /// know yet is hung in.
    pub(super) fn grow(&mut self, path: &Path, tokens: &[u32], segment: S) -> Path {
        let mut path = path.clone();
        let mut rest = tokens;
        while let Some((id, common)) = self.next(&path, rest) {
            path.steps.push((id, common));
            path.len += common;
            rest = &rest[common..];
        }
        if rest.is_empty() {
            return path;
        }
        let at = path.steps.last().copied();
        let id = self.free_slot();
        self.tokens += tokens.len();
        self.nodes[id] = Some(Node {
            at,
            tokens: rest.to_vec(),
            segment,
            skip: tokens.len() - rest.len(),
            children: Vec::new(),
            used: self.clock,
        });
        match at.and_then(|(parent, _)| self.nodes[parent].as_mut()) {
            Some(parent) => parent.children.push(id),
            None => self.roots.push(id),
        }
        path.steps.push((id, rest.len()));
        path.len += rest.len();
        path
    }

    fn free_slot(&mut self) -> Id {
        match self.nodes.iter().position(Option::is_none) {
            Some(id) => id,
            None => {
                self.nodes.push(None);
                self.nodes.len() - 1
            }
        }
    }

    /// Rows that go on from a path.
    pub(super) fn branch(&self, path: &Path, rows: Range<usize>) -> Branch<'_, S> {
        let segment = |(id, used): &(Id, usize)| {
            let node = self.nodes[*id].as_ref()?;
            Some((&node.segment, node.skip..node.skip + *used))
        };
        Branch {
            rows,
            start: path.len,
            past: path.steps.iter().filter_map(segment).collect(),
        }
    }

    /// Lets go of leaves until `more` tokens fit; never of those that a kept path needs.
    pub(super) fn make_room(&mut self, more: usize, keep: &Path) {
        while self.tokens + more > self.limit {
            let is_free = |(id, node): &(Id, &Node<S>)| {
                node.children.is_empty() && !keep.steps.iter().any(|(kept, _)| kept == id)
            };
            let leaves = self.nodes.iter().enumerate();
            let leaves = leaves.filter_map(|(id, node)| Some((id, node.as_ref()?)));
            let Some((oldest, _)) = leaves.filter(is_free).min_by_key(|(id, n)| (n.used, *id))
            else {
                return;
            };
            self.drop_leaf(oldest);
        }
    }

    fn drop_leaf(&mut self, id: Id) {
        let Some(node) = self.nodes[id].take() else {
            return;
        };
        self.tokens -= node.skip + node.tokens.len();
        let siblings = match node.at.and_then(|(parent, _)| self.nodes[parent].as_mut()) {
            Some(parent) => &mut parent.children,
            None => &mut self.roots,
        };
        siblings.retain(|other| *other != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Names = Vec<(&'static str, Range<usize>)>;

    fn grow(tree: &mut Tree<&'static str>, tokens: &[u32], name: &'static str) -> Path {
        let path = tree.find(tokens);
        tree.grow(&path, &tokens[path.len..], name)
    }

    fn names(tree: &mut Tree<&'static str>, tokens: &[u32]) -> Names {
        let path = tree.find(tokens);
        tree.branch(&path, 0..0)
            .past
            .into_iter()
            .map(|(s, used)| (*s, used))
            .collect()
    }

    #[test]
    fn a_prefix_is_found_cut_and_branched() {
        let mut tree = Tree::new(100);
        grow(&mut tree, &[1, 2, 3, 4], "a");
        grow(&mut tree, &[1, 2, 9, 9], "b");
        grow(&mut tree, &[1, 2, 3, 4, 5], "c");
        grow(&mut tree, &[7], "d");
        assert_eq!(names(&mut tree, &[1, 2, 3]), [("a", 0..3)]);
        assert_eq!(
            names(&mut tree, &[1, 2, 9, 9, 4]),
            [("a", 0..2), ("b", 0..2)]
        );
        assert_eq!(
            names(&mut tree, &[1, 2, 3, 4, 5, 6]),
            [("a", 0..4), ("c", 0..1)]
        );
        assert_eq!(names(&mut tree, &[7, 7]), [("d", 0..1)]);
        assert_eq!(names(&mut tree, &[8]), []);
    }

    #[test]
    fn a_run_that_begins_like_a_known_one_keeps_only_its_own_end() {
        let mut tree = Tree::new(100);
        let start = Path::default();
        tree.grow(&start, &[1, 2, 3], "known");
        let path = tree.grow(&start, &[1, 2, 8, 9], "new");
        assert_eq!(path.len, 4);
        assert_eq!(
            names(&mut tree, &[1, 2, 8, 9]),
            [("known", 0..2), ("new", 2..4)]
        );
    }

    #[test]
    fn the_oldest_leaf_goes_and_a_kept_path_stays() {
        let mut tree = Tree::new(8);
        let kept = grow(&mut tree, &[1, 2, 3], "kept");
        grow(&mut tree, &[1, 2, 3, 4, 5], "leaf");
        grow(&mut tree, &[6, 6, 6], "young");
        tree.make_room(2, &kept);
        assert_eq!(names(&mut tree, &[1, 2, 3, 4, 5]), [("kept", 0..3)]);
        assert_eq!(names(&mut tree, &[6, 6, 6]), [("young", 0..3)]);
        tree.make_room(100, &kept);
        assert_eq!(names(&mut tree, &[1, 2, 3]), [("kept", 0..3)]);
        assert_eq!(names(&mut tree, &[6, 6, 6]), []);
    }
}
