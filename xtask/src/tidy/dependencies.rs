//! Dependencies are few, and each says why it is there. The reason stands on its line or opens its
//! group, a group being the lines up to the next empty one.

use super::Finding;
use super::tree::Tree;

const MANIFEST: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";
/// Was 300 before identity: tokens (PASETO, JWT with RSA and elliptic curves), TLS and the issuer's
/// SQLite brought some sixty packages. Full-text search has to fit into the rest.
const LOCKED_PACKAGES_MAX: usize = 450;

pub(super) fn reasons(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MANIFEST) else {
        return vec![Finding::of_file(MANIFEST, "the root manifest is missing")];
    };
    let mut found = Vec::new();
    let mut in_section = false;
    let mut group_has_reason = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            in_section = line == "[workspace.dependencies]";
            group_has_reason = false;
        } else if line.is_empty() {
            group_has_reason = false;
        } else if line.starts_with('#') {
            group_has_reason = true;
        } else if in_section {
            let is_ours = line.contains("path = \"crates/");
            if !is_ours && !group_has_reason && !line.contains(" #") {
                let name = line.split([' ', '=']).next().unwrap_or(line);
                let message = format!("`{name}` has no comment that says why it is needed");
                found.push(Finding::at(MANIFEST, index + 1, message));
            }
            if !is_ours && line.contains("version = \"*\"") {
                found.push(Finding::at(MANIFEST, index + 1, "a version that is not a version"));
            }
        }
    }
    found
}

pub(super) fn locked(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(LOCK) else {
        return vec![Finding::of_file(LOCK, "the lock file is not committed")];
    };
    let count = text.lines().filter(|line| *line == "[[package]]").count();
    if count <= LOCKED_PACKAGES_MAX {
        return Vec::new();
    }
    let message = format!(
        "{count} locked packages, the limit is {LOCKED_PACKAGES_MAX}: do without the newest \
         dependency or one of its features"
    );
    vec![Finding::of_file(LOCK, message)]
}
