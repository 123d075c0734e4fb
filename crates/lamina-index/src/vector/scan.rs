//! Comparing a question with every vector of a scope.
//!
//! The inner loop is a sum of products of bytes over rows that lie next to each other; the compiler
//! makes wide instructions of it. Only the best are kept, so a million rows need no more memory than ten.

use std::collections::BinaryHeap;
use std::sync::Arc;

use lamina_types::{RecordedAt, ValidAt};

use super::cache::Block;
use super::{Space, Vector, Wide};
use crate::document::RecordKey;
use crate::filter::{Candidate, Filter};

/// A question by meaning.
#[derive(Debug)]
pub struct VectorQuery<'a> {
    /// The space that the vector is of; must be the one that is served.
    pub space: &'a Space,
    /// What is looked for.
    pub vector: &'a Vector,
    /// What may be seen.
    pub filter: Filter<'a>,
    /// Hits at most.
    pub limit: usize,
}

/// A document that is near in meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// Which one.
    pub key: RecordKey,
    /// The cosine: 1 for the same direction, 0 for nothing in common.
    pub similarity: f32,
    /// Of the entry that made it.
    pub offset: u64,
    /// When this database learned of it.
    pub recorded: RecordedAt,
    /// From when on it is so, or when it happened.
    pub valid_from: ValidAt,
}

/// The nearest documents that pass the filter, nearest first; equal ones in the order of their keys.
pub(crate) fn nearest(
    blocks: &[Arc<Block>],
    question: &Vector,
    limit: usize,
    passes: &dyn Fn(&Candidate) -> bool,
) -> Vec<VectorHit> {
    // The least of the kept ones on top.
    let mut best: BinaryHeap<Kept> = BinaryHeap::with_capacity(limit.min(1_024) + 1);
    if limit == 0 {
        return Vec::new();
    }
    let (wide, mut similar) = (Wide::of(question), Vec::new());
    for block in blocks {
        compare(block, &wide, question.dims(), &mut similar);
        let rows = similar.iter().zip(&block.scales).zip(&block.candidates);
        for ((similarity, scale), candidate) in rows {
            let is_full = best.len() >= limit;
            let least = best.peek().filter(|_| is_full);
            if least.is_some_and(|least| *similarity < least.similarity) {
                continue;
            }
            let kept = Kept { similarity: *similarity, candidate: *candidate };
            if least.is_some_and(|least| kept >= *least) {
                continue;
            }
            // A removed row has no scale; asking the filter comes last, it may cost most.
            if *scale == 0.0 || !passes(candidate) {
                continue;
            }
            if is_full {
                best.pop();
            }
            best.push(kept);
        }
    }
    best.into_sorted_vec().into_iter().map(Kept::hit).collect()
}

/// How near every row of a block is.
fn compare(block: &Block, question: &Wide, dims: usize, similar: &mut Vec<f32>) {
    let rows = block.values.chunks_exact(dims).zip(block.scales.iter().copied());
    question.cosines(rows, similar);
}

/// A row that may be among the best; the better one is the lesser, so that the worst is on top.
#[derive(Debug, Clone, Copy)]
struct Kept {
    similarity: f32,
    candidate: Candidate,
}

impl Kept {
    fn hit(self) -> VectorHit {
        let Candidate { key, offset, recorded, valid_from, valid_until: _ } = self.candidate;
        VectorHit { key, similarity: self.similarity, offset, recorded, valid_from }
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Kept) -> std::cmp::Ordering {
        let by_key = || self.candidate.key.cmp(&other.candidate.key);
        other.similarity.total_cmp(&self.similarity).then_with(by_key)
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Kept) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Kept) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Kept {}
