//! Rules about the tree that no compiler checks: which crate may name which, where heavy
//! dependencies may appear, how long a file may grow, whether the documents still speak of things
//! that exist. Each rule is a function from the files to findings, so that its tests can feed it
//! files that were never written. The rules also run as an ordinary test, so that they cannot be
//! forgotten.

mod tree;
mod source;
mod edges;
mod openings;
mod ratchet;
mod words;
mod error_codes;
mod documents;
mod dependencies;
mod test_binaries;
mod change_notes;
mod complete;
mod decisions;
#[cfg(test)]
mod tests;

use std::fmt;

use anyhow::{Context, bail};

use crate::files;
use crate::process;
use tree::Tree;

/// Something that is not as it should be, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    /// 0 when the finding is about the whole file.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Finding {
    fn of_file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: 0, message: message.into() }
    }

    fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.path, self.message)
        } else {
            write!(f, "{}:{}: {}", self.path, self.line, self.message)
        }
    }
}

type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[(&str, Rule)] = &[
    ("crate edges", edges::edges),
    ("quarantine", edges::quarantine),
    ("members inherit from the workspace", edges::inheritance),
    ("files open with a reason", openings::check),
    ("size ratchet", ratchet::check),
    ("unfinished code", words::unfinished),
    ("machine paths and hosts", words::machine),
    ("error codes and their pages", error_codes::check),
    ("documents name what exists", documents::check),
    ("dependencies have reasons", dependencies::reasons),
    ("locked packages", dependencies::locked),
    ("one integration-test binary", test_binaries::check),
    ("change notes", change_notes::check),
    ("nothing is skipped for good", complete::check),
    ("decisions are made by the policy", decisions::check),
];

/// Every finding of every rule, with the name of its rule.
fn findings(tree: &Tree) -> Vec<(&'static str, Finding)> {
    let mut all = Vec::new();
    for (name, rule) in RULES {
        let mut found = rule(tree);
        found.sort();
        all.extend(found.into_iter().map(|finding| (*name, finding)));
    }
    all
}

pub(crate) fn run() -> anyhow::Result<()> {
    let tree = Tree::read(&process::root())?;
    let found = findings(&tree);
    for (rule, finding) in &found {
        println!("{finding}  [{rule}]");
    }
    if !found.is_empty() {
        bail!("tidy: {} findings", found.len());
    }
    println!("tidy: {} rules hold over {} files", RULES.len(), tree.paths().count());
    Ok(())
}

/// Whether the list of offenders may become longer or its numbers larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    Refuse,
    Allow,
}

pub(crate) fn update_ratchet(growth: Growth) -> anyhow::Result<()> {
    let root = process::root();
    let tree = Tree::read(&root)?;
    let text = ratchet::updated(&tree, growth)?;
    let path = root.join(ratchet::LIST);
    files::write(&path, &text).with_context(|| format!("cannot write {}", ratchet::LIST))?;
    println!("{} has {} entries", ratchet::LIST, ratchet::parse(&text).len());
    Ok(())
}
