//! Integration tests are modules of one program. Each further program is linked again after every
//! edit of a base crate; twenty of them cost twice the time and twenty times the disk of one.

use super::Finding;
use super::tree::Tree;
use crate::check::{PARTS, Parts};

const THE_ONE: &str = "crates/lamina-sim/tests/it/main.rs";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for path in tree.paths().filter(|path| is_binary(path) && *path != THE_ONE) {
        let message = format!("a second integration-test program: make it a module of {THE_ONE}");
        found.push(Finding::of_file(path, message));
    }
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        let declares = |line: &str| line.trim() == "[[test]]";
        if text.lines().any(declares) && path != "crates/lamina-sim/Cargo.toml" {
            found.push(Finding::of_file(path, "declares a test program of its own"));
        }
    }
    if PARTS == Parts::Required && !tree.exists(THE_ONE) {
        found.push(Finding::of_file(THE_ONE, "the integration-test program is missing"));
    }
    found
}

/// What cargo takes for a test program: `tests/name.rs` and `tests/name/main.rs` of a member.
fn is_binary(path: &str) -> bool {
    let member = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/'));
    let inside = member.map(|(_, inside)| inside).or_else(|| path.strip_prefix("xtask/"));
    let Some(file) = inside.and_then(|inside| inside.strip_prefix("tests/")) else {
        return false;
    };
    match file.split_once('/') {
        None => file.ends_with(".rs"),
        Some((_, rest)) => rest == "main.rs",
    }
}
