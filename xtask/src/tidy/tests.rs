//! Each rule is shown files that break it, and the real tree is shown to all rules.

use super::complete::excuse;
use super::tree::Tree;
use super::{RULES, findings};
use crate::check::Parts;
use crate::process;

/// Whether the tree is tidy is part of whether the tests pass.
#[test]
fn this_tree_is_tidy() {
    let found = findings(&Tree::read(&process::root()).unwrap());
    let lines: Vec<String> =
        found.iter().map(|(rule, finding)| format!("{finding}  [{rule}]")).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

/// Runs one rule; gives its findings as printed.
fn check(rule: &str, files: &[(&str, &str)]) -> Vec<String> {
    let (_, run) = RULES.iter().find(|(name, _)| *name == rule).expect("the rule exists");
    let mut found = run(&Tree::of(files));
    found.sort();
    found.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn fires(rule: &str, files: &[(&str, &str)], expected: &[&str]) {
    let found = check(rule, files);
    assert_eq!(found.len(), expected.len(), "{rule}: {found:#?}");
    for (line, part) in found.iter().zip(expected) {
        assert!(line.contains(part), "{rule}: {line:?} does not contain {part:?}");
    }
}

fn manifest(name: &str, dependencies: &str) -> String {
    let package = ["version", "edition", "rust-version", "license", "publish"]
        .map(|field| format!("{field}.workspace = true\n"))
        .concat();
    format!("[package]\nname = \"{name}\"\n{package}[lints]\nworkspace = true\n{dependencies}")
}

#[test]
fn a_forbidden_edge() {
    let path = "crates/lamina-core/Cargo.toml";
    let bad = manifest("lamina-core", "[dependencies]\nlamina-store.workspace = true\n");
    fires("crate edges", &[(path, &bad)], &["`lamina-core` may not depend on `lamina-store`"]);
    let renamed = manifest(
        "lamina-core",
        "[target.'cfg(unix)'.dependencies]\nx = { workspace = true, package = \"lamina-env\" }\n",
    );
    fires("crate edges", &[(path, &renamed)], &["may not depend on `lamina-env`"]);
    let good = manifest("lamina-core", "[dependencies]\nlamina-types.workspace = true\n");
    fires("crate edges", &[(path, &good)], &[]);
    let tests_may = manifest("lamina-core", "[dev-dependencies]\nlamina-env.workspace = true\n");
    fires("crate edges", &[(path, &tests_may)], &[]);
}

#[test]
fn a_crate_that_is_in_no_table() {
    let text = manifest("lamina-extra", "");
    fires("crate edges", &[("crates/lamina-extra/Cargo.toml", &text)], &["not in the table"]);
    fires(
        "crate edges",
        &[("crates/a/Cargo.toml", &text)],
        &["not in the table", "the folder `a`"],
    );
    fires("crate edges", &[("crates/a/Cargo.toml", "[package")], &["is not TOML"]);
    fires("crate edges", &[("fuzz/Cargo.toml", &text), ("crates/a/b/Cargo.toml", &text)], &[]);
}

#[test]
fn nothing_of_the_product_names_the_simulator() {
    let text = manifest("lamina-engine", "[dependencies]\nlamina-sim.workspace = true\n");
    fires("crate edges", &[("crates/lamina-engine/Cargo.toml", &text)], &["`lamina-sim`"]);
}

#[test]
fn a_heavy_dependency_outside_its_crate() {
    for (crate_name, dependency) in [
        ("lamina-engine", "axum"),
        ("lamina-engine", "fjall"),
        ("lamina-store", "rustix"),
        ("lamina-types", "serde"),
        ("lamina-store", "tokio"),
        ("lamina-engine", "schemars"),
        ("lamina-core", "anyhow"),
    ] {
        let path = format!("crates/{crate_name}/Cargo.toml");
        let text =
            manifest(crate_name, &format!("[dependencies]\n{dependency}.workspace = true\n"));
        let expected = format!("`{crate_name}` may not name `{dependency}`; only lamina-");
        fires("quarantine", &[(&path, &text)], &[&expected]);
    }
    let text = manifest("lamina-store", "[dependencies]\nfjall.workspace = true\n");
    fires("quarantine", &[("crates/lamina-store/Cargo.toml", &text)], &[]);
    let text = manifest("lamina-bench", "[dependencies]\naxum.workspace = true\n");
    fires("quarantine", &[("crates/lamina-bench/Cargo.toml", &text)], &[]);
}

#[test]
fn a_member_that_decides_for_itself() {
    let rule = "members inherit from the workspace";
    let text = manifest("a", "[dev-dependencies]\nlibc = \"1\"\n");
    fires(rule, &[("crates/a/Cargo.toml", &text)], &["`libc` does not say `workspace = true`"]);
    let text = manifest("a", "").replace("[lints]\nworkspace = true\n", "");
    fires(rule, &[("crates/a/Cargo.toml", &text)], &["[lints] workspace = true"]);
    let text = manifest("a", "").replace("edition.workspace = true", "edition = \"2021\"");
    fires(rule, &[("crates/a/Cargo.toml", &text)], &["`package.edition`"]);
}

#[test]
fn a_file_without_a_reason() {
    let rule = "files open with a reason";
    fires(rule, &[("a.rs", "use std::fs;\n")], &["a.rs:1: open the file with `//!`"]);
    fires(rule, &[("a.rs", "")], &["open the file"]);
    fires(rule, &[("a.rs", "//! Placeholder: replaced as it is written.\n")], &["does not say"]);
    fires(rule, &[("a.rs", "//! Module a.\n")], &["does not say what the file is for"]);
    fires(rule, &[("a.rs", "//! Why this file exists, in a sentence.\n")], &[]);
}

#[test]
fn a_file_that_is_too_long() {
    let long = "//! a\n".repeat(601);
    fires("size ratchet", &[("crates/a/src/x.rs", &long)], &["601 lines"]);
}

#[test]
fn unfinished_code() {
    let rule = "unfinished code";
    fires(rule, &[("a.rs", "fn a() {\n    todo!()\n}")], &["a.rs:2: `todo!`"]);
    fires(
        rule,
        &[("a.rs", "fn a() { dbg!(1); unimplemented!() }")],
        &["`dbg!`", "`unimplemented!`"],
    );
    fires(rule, &[("a.rs", "// FIXME: later")], &["a.rs:1: `FIXME`"]);
    fires(
        rule,
        &[("a.rs", "const A: &str = \"todo! FIXME\"; // a todo! in prose\nmy_todo!()")],
        &[],
    );
}

#[test]
fn traces_of_a_machine() {
    let rule = "machine paths and hosts";
    fires(rule, &[("a.rs", concat!("\"/ro", "ot/x\""))], &["a.rs:1"]);
    fires(rule, &[("a.md", concat!("`/wo", "rk/x`"))], &["a.md:1"]);
    fires(rule, &[("a.sh", concat!("cd /tmp/", "wt/a"))], &["a.sh:1"]);
    fires(rule, &[("a.md", "https://example.org/work/x and org:a/work/b")], &[]);
    let mirror = "[source.crates-io]\nreplace-with = \"x\"";
    fires(rule, &[(".cargo/config.toml", mirror)], &[".cargo/config.toml:1: mirrors"]);
    let lock = "[[package]]\nsource = \"registry+https://mirror.example/index\"\n";
    fires(rule, &[("Cargo.lock", lock)], &["Cargo.lock:2"]);
    let lock = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    fires(rule, &[("Cargo.lock", lock)], &[]);
    fires(rule, &[("a.md", concat!("https://static.", "crates.io/x"))], &["matter of the machine"]);
}

const TABLE: &str = "crates/lamina-types/src/error_code.rs";

#[test]
fn error_codes() {
    let rule = "error codes and their pages";
    let table = "error_codes! {\n    PolicyDenied = \"POLICY_DENIED\", 403, retriable: false;\n}\n";
    let page = ("docs/errors/POLICY_DENIED.md", "# x");
    fires(rule, &[(TABLE, table), page], &[]);
    fires(
        rule,
        &[(TABLE, table), ("docs/errors/README.md", "")],
        &["docs/errors/POLICY_DENIED.md: `POLICY_DENIED` is in the table"],
    );
    let stale = ("docs/errors/OLD_CODE.md", "# x");
    fires(rule, &[(TABLE, table), page, stale], &["OLD_CODE.md: `OLD_CODE` is not in the table"]);
    let names = ("docs/ARCHITECTURE.md", "answers `POLICY_DENIED`,\nthen `POLICY_REFUSED`");
    fires(rule, &[(TABLE, table), page, names], &["docs/ARCHITECTURE.md:2: `POLICY_REFUSED`"]);
    let others = ("README.md", "`LAMINA_DATA`, `CARGO_TARGET_DIR`, `TEXT_BYTES_MAX`, `FORMAT`");
    let constant = ("crates/a/src/limits.rs", "pub const TEXT_BYTES_MAX: usize = 1;");
    fires(rule, &[(TABLE, table), page, others, constant], &[]);
    fires(rule, &[(TABLE, "// nothing")], &["no line reads"]);
}

#[test]
fn documents_that_name_what_is_gone() {
    let rule = "documents name what exists";
    let tree = |document: &'static str| {
        [
            ("docs/ARCHITECTURE.md", document),
            ("crates/lamina-store/Cargo.toml", ""),
            ("crates/lamina-store/src/log/writer.rs", "pub(crate) fn append(\n"),
            ("crates/lamina-api/src/bin/lamina-contract.rs", ""),
        ]
    };
    let good = "`lamina-store`, `lamina-store/log`, `lamina-store/log/writer`, `lamina-contract`, \
                `crates/lamina-store/src/log/`, `docs/<NAME>.md`, `ARCHITECTURE.md`, `lamina.toml`, \
                `lamina serve`, `log/*.seg`, `lamina-sim --seed N`";
    fires(rule, &tree(good), &[]);
    fires(
        rule,
        &tree("x\n`crates/lamina-gone`"),
        &["docs/ARCHITECTURE.md:2: `crates/lamina-gone`"],
    );
    fires(rule, &tree("`lamina-gone`"), &["no such crate"]);
    fires(rule, &tree("`lamina-store/log/reader`"), &["no such module"]);
    fires(rule, &tree("`GONE.md`"), &["no file of this name"]);
    fires(rule, &tree("`lamina-store/log/writer::append`"), &[]);
    fires(rule, &tree("`lamina-store/log/writer::appen`"), &["no such item"]);
    fires(rule, &tree("`log/writer.rs`, `writer.rs`"), &[]);
    fires(rule, &tree("`og/writer.rs`"), &["no file of this name"]);
    fires(rule, &[("crates/a/DESIGN.md", "`gone.rs`")], &["crates/a/DESIGN.md:1"]);
    fires(rule, &tree("`docs/gone/<NAME>.md`"), &["no such file or folder"]);
    fires(rule, &tree("```\n`lamina-gone`\n```"), &[]);
}

#[test]
fn dependencies_without_a_reason() {
    let rule = "dependencies have reasons";
    let text = "[workspace.dependencies]\nlamina-a = { path = \"crates/lamina-a\" }\n\n\
                # Why.\na = \"1\"\nb = \"1\"\n\nc = \"1\" # why\nd = \"1\"\n\n[profile.dev]\ndebug = 1\n";
    fires(rule, &[("Cargo.toml", text)], &["Cargo.toml:9: `d` has no comment"]);
    fires(rule, &[], &["missing"]);
}

#[test]
fn too_many_locked_packages() {
    let lock = |count: usize| "[[package]]\n".repeat(count);
    fires("locked packages", &[("Cargo.lock", &lock(450))], &[]);
    fires("locked packages", &[("Cargo.lock", &lock(451))], &["451 locked packages"]);
    fires("locked packages", &[], &["not committed"]);
}

#[test]
fn a_second_test_program() {
    let rule = "one integration-test binary";
    let one = ("crates/lamina-sim/tests/it/main.rs", "");
    fires(rule, &[one, ("crates/lamina-sim/tests/it/write.rs", "")], &[]);
    fires(rule, &[one, ("crates/lamina-env/src/disk/tests/main.rs", "")], &[]);
    for path in ["crates/a/tests/b.rs", "crates/a/tests/b/main.rs", "xtask/tests/c.rs"] {
        fires(rule, &[one, (path, "")], &[path]);
    }
    fires(rule, &[one, ("crates/a/Cargo.toml", "[[test]]\nname = \"x\"")], &["a test program"]);
}

#[test]
fn change_notes_have_a_form() {
    let rule = "change notes";
    let good = "# The log is sealed\n\n## What changed\na\n## Why\nb\n## What to do\nc\n";
    fires(rule, &[("changes/unreleased/a.md", good)], &[]);
    fires(rule, &[("changes/unreleased/a.md", &good[2..])], &["open with `# title`"]);
    let swapped = "# T\n## Why\n## What changed\n## What to do\n";
    fires(rule, &[("changes/unreleased/a.md", swapped)], &["the sections are"]);
    let more = format!("{good}## Thanks\n");
    fires(rule, &[("changes/unreleased/a.md", &more)], &["the sections are"]);
    fires(rule, &[("changes/unreleased/a.txt", good)], &["`.md` file"]);
}

#[test]
fn an_excuse_ends_with_its_reason() {
    let simulator = ("crates/lamina-sim/src/main.rs", "usage: --seeds A..B");
    let tests = ("crates/lamina-sim/tests/it/main.rs", "");
    let complete = Tree::of(&[("README.md", ""), simulator, tests]);
    assert!(excuse(&complete, Parts::Skippable).is_some());
    assert!(excuse(&complete, Parts::Required).is_none());
    let without_seeds = Tree::of(&[("README.md", ""), (simulator.0, "usage: crash"), tests]);
    assert!(excuse(&without_seeds, Parts::Skippable).is_none());
    assert!(excuse(&Tree::of(&[simulator, tests]), Parts::Skippable).is_none());
}

#[test]
fn a_decision_made_outside_the_policy() {
    let rule = "decisions are made by the policy";
    let bad = "fn f() -> Stack {\n    let grant = JobGrant { actor };\n    Stack { preset }\n}\n";
    let server = "crates/lamina-server/src/http/call.rs";
    fires(rule, &[(server, bad)], &["call.rs:2: `JobGrant` is made", "call.rs:3: `Stack` is made"]);
    fires(rule, &[(server, "let stack = Stack::of_preset(preset);\n")], &["`Stack::of_preset`"]);
    let harmless = "// Stack { }\nstruct CallStack { a: u8 }\nlet a = CallStack { a };\n\
                    fn f(stack: &Stack) -> Stack {\n    \"Stack {\"\n}\n";
    fires(rule, &[(server, harmless)], &[]);
    for place in [
        "crates/lamina-core/src/policy/stack.rs",
        "crates/lamina-engine/src/admin/policies.rs",
        "crates/lamina-engine/src/admin/policies/tests.rs",
        "crates/lamina-sim/src/simulate/world.rs",
    ] {
        fires(rule, &[(place, bad)], &[]);
    }
}
