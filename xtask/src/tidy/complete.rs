//! Steps of `check` may be skipped while their programs are being written. Once the last one is there,
//! an excuse that stays in the code would hide its disappearance.

use super::Finding;
use super::documents::AWAITED;
use super::tree::Tree;
use crate::check::{PARTS, Parts, SEED_RUNS, SIMULATOR};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    excuse(tree, PARTS).into_iter().collect()
}

/// The finding, if skipping is still allowed and there is nothing left to skip.
pub(super) fn excuse(tree: &Tree, parts: Parts) -> Option<Finding> {
    let is_complete = AWAITED.iter().all(|part| tree.exists(part))
        && tree.text(SIMULATOR).is_some_and(|text| text.contains(SEED_RUNS));
    let message = "every part is there: set `PARTS` to `Parts::Required`";
    (parts == Parts::Skippable && is_complete)
        .then(|| Finding::of_file("xtask/src/check.rs", message))
}
