//! Fixtures of the reference where they are at hand, and bundles of our own that always run.

mod fixtures;
mod made;
mod mutations;
mod archives;
mod proofs;
