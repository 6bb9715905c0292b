//! Spans in the order of their tree: parents before children, siblings by start, equal starts in the order of the
//! file. Exporters write children first and clocks are coarse, so time alone does not do.

use super::{Kind, Mark};
use std::collections::{HashMap, HashSet};

/// The spans that matter, in order. A model span around another one (a framework's around a provider's) tells the
/// same inference once more and counts as a frame.
pub(super) fn ordered(marks: &[Mark]) -> Vec<&Mark> {
    let places: HashMap<&str, usize> = marks
        .iter()
        .enumerate()
        .map(|(i, m)| (m.id.as_str(), i))
        .collect();
    let parent = |i: usize| {
        let parent = marks.get(i)?.parent.as_deref()?;
        places.get(parent).copied()
    };
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); marks.len()];
    let mut roots = Vec::new();
    for i in 0..marks.len() {
        match parent(i).and_then(|p| children.get_mut(p)) {
            Some(list) => list.push(i),
            None => roots.push(i),
        }
    }
    let sort = |list: &mut Vec<usize>| list.sort_by_key(|&i| (marks.get(i).map(|m| m.start), i));
    children.iter_mut().for_each(sort);
    roots.sort_by_key(|&i| (marks.get(i).map(|m| m.start), i));
    let frames = frames(marks, &parent);
    let mut out = Vec::with_capacity(marks.len());
    let mut seen = HashSet::new();
    let mut stack: Vec<usize> = roots.into_iter().rev().collect();
    // Spans whose parents form a ring have no root; they come last.
    let mut rest = 0..marks.len();
    loop {
        while let Some(i) = stack.pop() {
            if !seen.insert(i) {
                continue;
            }
            out.extend(marks.get(i).filter(|_| !frames.contains(&i)));
            stack.extend(children.get(i).into_iter().flatten().rev());
        }
        match rest.find(|i| !seen.contains(i)) {
            Some(i) => stack.push(i),
            None => return out,
        }
    }
}

/// Model spans that hold another model span.
fn frames(marks: &[Mark], parent: &impl Fn(usize) -> Option<usize>) -> HashSet<usize> {
    const DEEP: usize = 64;
    let mut frames = HashSet::new();
    let is_model = |i: usize| marks.get(i).is_some_and(|m| m.kind == Kind::Model);
    for i in (0..marks.len()).filter(|&i| is_model(i)) {
        let mut at = i;
        for _ in 0..DEEP {
            let Some(up) = parent(at) else { break };
            if is_model(up) {
                frames.insert(up);
            }
            at = up;
        }
    }
    frames
}
