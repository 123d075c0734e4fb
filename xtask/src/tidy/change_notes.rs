//! A note per user-visible change, written in the commit that makes it. The form is fixed so that a
//! release can join the notes without an editor: a title, what changed, why, what to do.

use super::Finding;
use super::tree::Tree;

const NOTES: &str = "changes/unreleased/";
const SECTIONS: &[&str] = &["## What changed", "## Why", "## What to do"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.starts_with(NOTES)) {
        if !path.ends_with(".md") {
            found.push(Finding::of_file(path, "a change note is a `.md` file"));
            continue;
        }
        if !text.starts_with("# ") {
            found.push(Finding::at(path, 1, "open with `# title`, the line of the release notes"));
        }
        let mut headings = text.lines().filter(|line| line.starts_with("## "));
        let in_order = SECTIONS.iter().all(|section| headings.next() == Some(*section));
        if !in_order || headings.next().is_some() {
            let message = format!("the sections are {}", SECTIONS.join(", "));
            found.push(Finding::of_file(path, message));
        }
    }
    found
}
