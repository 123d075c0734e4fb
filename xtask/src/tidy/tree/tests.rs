//! A checkout and an unpacked archive must look the same to the rules.

use super::{Tree, walked};
use crate::process;

#[test]
fn without_git_the_same_sources_are_seen() {
    let tree = Tree::read(&process::root()).unwrap();
    let walked = walked(&process::root()).unwrap();
    for path in tree.paths() {
        assert!(walked.iter().any(|found| found == path), "{path} is not found without git");
    }
    assert!(walked.iter().all(|path| !path.starts_with("target/") && !path.starts_with(".git/")));
}

#[test]
fn a_folder_exists_when_a_file_is_in_it() {
    let tree = Tree::of(&[("a/b/c.rs", ""), ("a/b-d/e.rs", "")]);
    for path in ["a", "a/", "a/b", "a/b/", "a/b/c.rs", "a/b-d"] {
        assert!(tree.exists(path), "{path}");
    }
    for path in ["", "a/b/c", "a/b/c.rs/d", "b", "a/b-"] {
        assert!(!tree.exists(path), "{path}");
    }
}
