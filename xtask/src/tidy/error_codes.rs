//! Every public error code has a page, every page has a code, and no document names a code that does
//! not exist. Callers branch on codes; a code that is documented and never sent, or sent and never
//! documented, breaks them silently.

use std::collections::BTreeSet;

use super::Finding;
use super::documents::quoted;
use super::tree::Tree;

const TABLE: &str = "crates/lamina-types/src/error_code.rs";
const PAGES: &str = "docs/errors/";

/// Names in capitals that are not error codes: environment variables of ours and of tools.
const VARIABLE_PREFIXES: &[&str] = &["LAMINA_", "CORTEX_", "CARGO_", "RUST_", "XDG_"];
const VARIABLES: &[&str] = &["UPDATE_EXPECT", "RUN_SLOW_TESTS"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(table) = tree.text(TABLE) else {
        return vec![Finding::of_file(TABLE, "the table of error codes is missing")];
    };
    let codes = codes_in(table);
    let mut found = Vec::new();
    if codes.is_empty() {
        found.push(Finding::of_file(
            TABLE,
            "no line reads `Variant = \"CODE\", status, retriable: …;`",
        ));
    }
    pages(tree, &codes, &mut found);
    mentions(tree, &codes, &mut found);
    found
}

fn pages(tree: &Tree, codes: &BTreeSet<&str>, found: &mut Vec<Finding>) {
    for code in codes {
        let page = format!("{PAGES}{code}.md");
        if !tree.exists(&page) {
            let message =
                format!("`{code}` is in the table but has no page: `cargo xtask goldens`");
            found.push(Finding::of_file(&page, message));
        }
    }
    for path in tree.paths() {
        let code = path.strip_prefix(PAGES).and_then(|name| name.strip_suffix(".md"));
        if let Some(code) = code.filter(|code| *code != "README" && !codes.contains(code)) {
            let message = format!("`{code}` is not in the table ({TABLE}): delete the page");
            found.push(Finding::of_file(path, message));
        }
    }
}

fn mentions(tree: &Tree, codes: &BTreeSet<&str>, found: &mut Vec<Finding>) {
    let constants = constants_of(tree);
    for (path, text) in tree.texts() {
        let is_prose = path.starts_with("docs/") || !path.contains('/');
        if !(path.ends_with(".md") && is_prose || path.ends_with("/DESIGN.md")) {
            continue;
        }
        for (line, word) in quoted(text) {
            let is_variable = VARIABLES.contains(&word)
                || VARIABLE_PREFIXES.iter().any(|prefix| word.starts_with(prefix));
            if is_code(word) && !codes.contains(word) && !is_variable && !constants.contains(word) {
                let message = format!("`{word}` is neither an error code nor a constant");
                found.push(Finding::at(path, line, message));
            }
        }
    }
}

/// The codes of lines like `PolicyDenied = "POLICY_DENIED", 403, retriable: false;`.
fn codes_in(table: &str) -> BTreeSet<&str> {
    table
        .lines()
        .filter(|line| line.contains("retriable:") && !line.trim_start().starts_with("//"))
        .filter_map(|line| line.split('"').nth(1))
        .filter(|code| !code.is_empty())
        .collect()
}

fn constants_of(tree: &Tree) -> BTreeSet<&str> {
    let mut constants = BTreeSet::new();
    for (_, text) in tree.rust_files() {
        for line in text.lines() {
            let Some((_, after)) = line.split_once("const ").or_else(|| line.split_once("static "))
            else {
                continue;
            };
            constants.extend(after.split(':').next().map(str::trim));
        }
    }
    constants
}

/// Two or more words in capitals, joined by underscores.
fn is_code(word: &str) -> bool {
    word.contains('_')
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
