//! Whoever can put a `Stack` together decides everything, and whoever can write down a `JobGrant` can
//! have a permit made from it. The compiler lets every crate do both, because their fields are
//! public; so the places that do are listed here, and a new one is reviewed as what it is.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// The crate of the policy may; of the others these files, each for one reason.
const OWNER: &str = "crates/lamina-core/src/";
const MAKERS: &[&str] = &[
    // Reads the grant of an import back from the entry that recorded it.
    "crates/lamina-engine/src/import/run.rs",
    // Puts a stack together from the policies in force and the members of scopes.
    "crates/lamina-engine/src/admin/policies.rs",
    // Takes back a policy that keeps everybody out, so it cannot ask the policies in force. It runs on a
    // directory that no server uses, for whoever has that directory.
    "crates/lamina-server/src/cli/policy.rs",
];

/// What makes a decision or the record of one.
const MADE: &[&str] = &["Stack {", "Stack::of_preset", "JobGrant {"];
/// Where these words declare something and make nothing.
const DECLARED: &[&str] = &["impl ", "struct ", "-> "];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in tree.rust_files() {
        let is_ours = path.starts_with("crates/") && path.contains("/src/");
        if !is_ours || path.starts_with(OWNER) || MAKERS.contains(&path) || is_test(path) {
            continue;
        }
        for (index, line) in Source::of(text).code.lines().enumerate() {
            if let Some(made) = MADE.iter().find(|made| makes(line, made)) {
                let what = made.trim_end_matches(" {");
                let message = format!(
                    "`{what}` is made outside the policy: ask `Engine::stack`, or list the file in \
                     xtask/src/tidy/decisions.rs and say why"
                );
                found.push(Finding::at(path, index + 1, message));
            }
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    ["/tests.rs", "/tests/", "/testing.rs", "/fixture.rs"].iter().any(|part| path.contains(part))
        || path.starts_with("crates/lamina-sim/")
        || path.starts_with("crates/lamina-bench/")
}

/// Whether the line has the words as a whole, and not as part of a longer name or a declaration.
fn makes(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let whole = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        whole && !DECLARED.iter().any(|declared| before.ends_with(declared))
    })
}
