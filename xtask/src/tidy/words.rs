//! Words that may not be committed: marks of unfinished code, and traces of one machine (its
//! folders, the host it fetches packages from), which are wrong on every other machine.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

const UNFINISHED_MACROS: &[&str] = &["todo!", "unimplemented!", "dbg!"];
const UNFINISHED_COMMENTS: &[&str] = &["FIXME", "XXX"];

pub(super) fn unfinished(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.rust_files() {
        let source = Source::of(text);
        for (index, code) in source.code.lines().enumerate() {
            for name in UNFINISHED_MACROS.iter().filter(|name| has_word(code, name)) {
                found.push(Finding::at(path, index + 1, format!("`{name}` is unfinished code")));
            }
        }
        for (index, comment) in source.comments.lines().enumerate() {
            for word in UNFINISHED_COMMENTS.iter().filter(|word| has_word(comment, word)) {
                let message = format!("`{word}` cannot be committed: fix it or open an issue");
                found.push(Finding::at(path, index + 1, message));
            }
        }
    }
    found
}

/// Whether `word` occurs and is not the tail of a longer one (`my_todo!`).
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

/// Written in two parts, so that this file does not contain them.
const MACHINE_FOLDERS: &[&str] =
    &[concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/tmp/", "wt"), concat!("/home", "/")];

/// The only registry that a lock file may name; a mirror is a matter of the machine.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
const REGISTRY_HOSTS: &[&str] =
    &[concat!("index.", "crates.io"), concat!("static.", "crates.io"), concat!("artifact", "ory")];

pub(super) fn machine(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            for folder in MACHINE_FOLDERS.iter().filter(|folder| has_path(line, folder)) {
                let message = format!("`{folder}` exists on one machine only");
                found.push(Finding::at(path, index + 1, message));
            }
            for host in REGISTRY_HOSTS.iter().filter(|host| line.contains(*host)) {
                let message =
                    format!("`{host}`: where packages come from is a matter of the machine");
                found.push(Finding::at(path, index + 1, message));
            }
            if path == "Cargo.lock"
                && line.starts_with("source = ")
                && line != format!("source = \"{REGISTRY}\"")
            {
                let message = "the lock file names a source that others do not have";
                found.push(Finding::at(path, index + 1, message));
            }
            let section = line.trim_start();
            if path.ends_with("config.toml")
                && (section.starts_with("[source") || section.starts_with("[registries"))
            {
                let message = "mirrors belong into the configuration of the machine";
                found.push(Finding::at(path, index + 1, message));
            }
        }
    }
    found
}

/// Whether an absolute path that begins with `folder` occurs. The same letters inside a longer path,
/// a scope or an address are something else.
fn has_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | '}'))
    })
}
