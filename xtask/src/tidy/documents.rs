//! The documents that people navigate by may only name files, folders and crates that exist. A
//! document that is not tested is wrong within a month.

use super::Finding;
use super::tree::Tree;
use crate::check::{PARTS, Parts};

const DOCUMENTS: &[&str] =
    &["README.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md", "docs/STYLE.md", "docs/GLOSSARY.md"];
const DECISIONS: &str = "docs/adr/";
/// Beside the code of a crate that cannot explain itself file by file.
const DESIGN: &str = "/DESIGN.md";

/// A word that begins with one of these is a path of the checkout.
const FOLDERS: &[&str] = &[
    "crates/",
    "xtask/",
    "docs/",
    "changes/",
    "fixtures/",
    "sdks/",
    "fuzz/",
    "console/",
    ".ci/",
    ".cargo/",
];
const EXTENSIONS: &[&str] = &[".rs", ".md", ".toml", ".json", ".lock", ".txt", ".sh"];

/// Files that a user has and the checkout has not.
const ELSEWHERE: &[&str] = &["lamina.toml"];

/// Parts of the tree that documents speak of before they are written.
pub(super) const AWAITED: &[&str] = &["README.md", "crates/lamina-sim/tests/it"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.texts() {
        if !is_navigation(path) {
            continue;
        }
        for (line, word) in quoted(text) {
            if let Some(missing) = missing(tree, word) {
                found.push(Finding::at(path, line, format!("`{word}`: {missing}")));
            }
        }
    }
    found
}

fn is_navigation(path: &str) -> bool {
    DOCUMENTS.contains(&path) || path.starts_with(DECISIONS) || path.ends_with(DESIGN)
}

/// What is wrong with a quoted word, if it names something of the checkout.
fn missing(tree: &Tree, word: &str) -> Option<String> {
    if word.contains(char::is_whitespace) || ELSEWHERE.contains(&word) {
        return None;
    }
    let word = certain(word);
    if PARTS == Parts::Skippable && AWAITED.contains(&word.trim_end_matches('/')) {
        return None;
    }
    if FOLDERS.iter().any(|folder| word.starts_with(folder)) {
        return (!tree.exists(word)).then(|| "no such file or folder".to_owned());
    }
    if word.starts_with("lamina-") {
        return missing_in_crate(tree, word);
    }
    // `writer.rs` and `log/writer.rs` are found in any folder.
    let is_file = EXTENSIONS.iter().any(|end| word.ends_with(end)) && !word.starts_with('.');
    let is_relative = !word.contains('/') || word.ends_with(".rs");
    if is_file && is_relative && !tree.paths().any(|path| ends_with_path(path, word)) {
        return Some("no file of this name".to_owned());
    }
    None
}

/// `lamina-store` is a crate or a program, `lamina-store/log/writer` a module of a crate, and
/// `lamina-store/log/tests::name` an item of that module.
fn missing_in_crate(tree: &Tree, word: &str) -> Option<String> {
    let is_ours = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.' | ':');
    if !word.chars().all(is_ours) {
        return None;
    }
    let (path, item) = match word.split_once("::") {
        Some((path, item)) => (path, Some(item)),
        None => (word, None),
    };
    let (package, module) = match path.split_once('/') {
        Some((package, module)) => (package, module.trim_end_matches('/')),
        None => (path, ""),
    };
    if !tree.exists(&format!("crates/{package}/Cargo.toml")) {
        let program = format!("/src/bin/{package}.rs");
        let is_program = module.is_empty() && tree.paths().any(|path| path.ends_with(&program));
        return (!is_program).then(|| "no such crate".to_owned());
    }
    let Some(place) = module_of(tree, package, module) else {
        return Some(format!("no such module in crates/{package}/src"));
    };
    let found = item.is_none_or(|item| has_item(tree, &place, item));
    (!found).then(|| format!("no such item in {place}"))
}

/// The file or folder of a module; integration tests are outside `src`.
fn module_of(tree: &Tree, package: &str, module: &str) -> Option<String> {
    let inside = |folder: &str| format!("crates/{package}/{folder}{module}");
    let places = [format!("{}.rs", inside("src/")), inside("src/"), inside("")];
    let files = places.into_iter().chain([format!("{}.rs", inside(""))]);
    files.map(|place| place.trim_end_matches('/').to_owned()).find(|place| tree.exists(place))
}

/// Whether a file, or one directly in the folder, declares something of this name.
fn has_item(tree: &Tree, place: &str, item: &str) -> bool {
    const KINDS: &[&str] = &["fn", "struct", "enum", "trait", "const", "type", "mod"];
    let candidates = [place.to_owned(), format!("{place}/mod.rs"), format!("{place}/lib.rs")];
    let texts = candidates.iter().filter_map(|path| tree.text(path));
    texts.flat_map(str::lines).any(|line| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| KINDS.contains(&word)) && words.next() == Some(item)
    })
}

/// The part of a path before a placeholder: `docs/errors/<CODE>.md` promises `docs/errors`.
fn certain(word: &str) -> &str {
    match word.find(['<', '*', '{', '…']) {
        Some(at) => {
            let known = word.get(..at).unwrap_or(word);
            known.rsplit_once('/').map_or("", |(folder, _)| folder)
        }
        None => word,
    }
}

fn ends_with_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Everything between single backticks, with its line; fenced blocks are examples and left out.
pub(super) fn quoted(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            words.extend(line.split('`').skip(1).step_by(2).map(|word| (index + 1, word)));
        }
    }
    words
}
