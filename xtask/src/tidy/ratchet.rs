//! Files stop at 600 lines and functions at 70. Those that are already longer are listed with their
//! length in `xtask/ratchet.txt`; the list may only shrink. Nothing new crosses the line, and nobody
//! has to split a file in a hurry because of a rule.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::bail;

use super::source::Source;
use super::tree::Tree;
use super::{Finding, Growth};

pub(super) const LIST: &str = "xtask/ratchet.txt";

const FILE_LINES_MAX: usize = 600;
/// Tests are read one case at a time, so their files may be longer, and a case is a list of steps,
/// so their functions are not measured.
const TEST_FILE_LINES_MAX: usize = 900;
const FUNCTION_LINES_MAX: usize = 70;

const LIST_HEAD: &str = "\
# Files over 600 lines (tests: 900) and functions over 70, with their length.
# This list may only shrink: `cargo xtask tidy --update-ratchet`.
";

/// `path` for a file, `path fn name` for a function; with the number of lines.
pub(super) type Offenders = BTreeMap<String, usize>;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let listed = parse(tree.text(LIST).unwrap_or_default());
    let current = offenders(tree);
    let mut found = Vec::new();
    for (key, lines) in &current {
        let path = key.split(' ').next().unwrap_or(key);
        let limit = limit_of(key);
        match listed.get(key) {
            None => {
                let message =
                    format!("{} has {lines} lines, the limit is {limit}: split it", name_of(key));
                found.push(Finding::of_file(path, message));
            }
            Some(before) if lines > before => {
                let message = format!(
                    "{} was over the limit of {limit} with {before} lines and grew to {lines}",
                    name_of(key)
                );
                found.push(Finding::of_file(path, message));
            }
            Some(_) => {}
        }
    }
    for key in listed.keys().filter(|key| !current.contains_key(*key)) {
        let message = format!(
            "`{key}` is no longer over the limit: `cargo xtask tidy --update-ratchet` removes it"
        );
        found.push(Finding::of_file(LIST, message));
    }
    found
}

/// The list as it should be now.
pub(super) fn updated(tree: &Tree, growth: Growth) -> anyhow::Result<String> {
    let listed = parse(tree.text(LIST).unwrap_or_default());
    let current = offenders(tree);
    let grown: Vec<&str> = current
        .iter()
        .filter(|(key, lines)| listed.get(*key).is_none_or(|before| *lines > before))
        .map(|(key, _)| key.as_str())
        .collect();
    if growth == Growth::Refuse && !grown.is_empty() {
        bail!(
            "the ratchet may only shrink, but these are new or longer:\n  {}\n\
             split them, or decide in review that they stay: `--allow-growth`",
            grown.join("\n  ")
        );
    }
    let mut text = LIST_HEAD.to_owned();
    for (key, lines) in &current {
        let _ = writeln!(text, "{lines} {key}");
    }
    Ok(text)
}

/// Lines that cannot be read are left out, and what they named then counts as new.
pub(super) fn parse(text: &str) -> Offenders {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(' '))
        .filter_map(|(lines, key)| Some((key.to_owned(), lines.parse().ok()?)))
        .collect()
}

fn offenders(tree: &Tree) -> Offenders {
    let mut offenders = Offenders::new();
    for (path, text) in tree.rust_files() {
        let lines = text.lines().count();
        if lines > limit_of(path) {
            offenders.insert(path.to_owned(), lines);
        }
        if is_test(path) {
            continue;
        }
        for function in Source::of(text).functions() {
            if function.lines > FUNCTION_LINES_MAX {
                // Two functions of one name in one file count as one, the longer.
                let entry = offenders.entry(format!("{path} fn {}", function.name)).or_default();
                *entry = function.lines.max(*entry);
            }
        }
    }
    offenders
}

fn limit_of(key: &str) -> usize {
    if key.contains(" fn ") {
        FUNCTION_LINES_MAX
    } else if is_test(key) {
        TEST_FILE_LINES_MAX
    } else {
        FILE_LINES_MAX
    }
}

fn name_of(key: &str) -> String {
    match key.split_once(" fn ") {
        Some((_, name)) => format!("`fn {name}`"),
        None => "the file".to_owned(),
    }
}

fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}
