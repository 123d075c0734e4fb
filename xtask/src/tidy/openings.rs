//! Every source file opens with a `//!` paragraph that says what it is for. A reader who opens a
//! file should not have to guess why it exists.

use super::Finding;
use super::tree::Tree;

/// Shorter than this is a title, not a reason.
const OPENING_CHARS_MIN: usize = 20;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.rust_files() {
        let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
        let opening = lines.collect::<Vec<_>>().join(" ");
        if opening.trim().is_empty() {
            let message = "open the file with `//!`: what is it for, and why is it so?";
            found.push(Finding::at(path, 1, message));
        } else if opening.trim().chars().count() < OPENING_CHARS_MIN || is_placeholder(text) {
            found.push(Finding::at(path, 1, "the opening `//!` does not say what the file is for"));
        }
    }
    found
}

/// What a crate starts with.
fn is_placeholder(text: &str) -> bool {
    text.starts_with("//! Placeholder")
}
