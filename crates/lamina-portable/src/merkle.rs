//! The Merkle tree of signed bundles: leaves and inner nodes are hashed with different first bytes, and
//! an unpaired last node of a level moves up as it is.

use sha2::{Digest as _, Sha256};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

const LEAF: u8 = 0;
const NODE: u8 = 1;

/// The hash of a leaf's bytes.
pub fn leaf_hash(bytes: &[u8]) -> Hash {
    Sha256::new().chain_update([LEAF]).chain_update(bytes).finalize().into()
}

fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([NODE]).chain_update(left).chain_update(right).finalize().into()
}

/// On which side of the path a sibling stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Before it.
    Left,
    /// After it.
    Right,
}

/// One step of an inclusion proof, from the leaf upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofStep {
    /// The hash to join with.
    pub sibling: Hash,
    /// Its side.
    pub side: Side,
}

/// A tree over one leaf or more. It is built once and gives every proof from its levels.
#[derive(Debug, Clone)]
pub struct MerkleTree {
    /// From the leaves to the root.
    levels: Vec<Vec<Hash>>,
    root: Hash,
}

impl MerkleTree {
    /// The tree over these leaf hashes; `None` if there are none.
    pub fn new(leaves: Vec<Hash>) -> Option<MerkleTree> {
        let mut root = *leaves.first()?;
        let mut levels = vec![leaves];
        while let Some(level) = levels.last().filter(|level| level.len() > 1) {
            let above: Vec<Hash> = level
                .chunks(2)
                .filter_map(|pair| match pair {
                    [left, right] => Some(node_hash(left, right)),
                    [single] => Some(*single),
                    _ => None,
                })
                .collect();
            root = above.first().copied().unwrap_or(root);
            levels.push(above);
        }
        Some(MerkleTree { levels, root })
    }

    /// The root.
    pub fn root(&self) -> Hash {
        self.root
    }

    /// The proof that a leaf is in the tree; `None` if there is no such leaf.
    pub fn proof(&self, index: usize) -> Option<Vec<ProofStep>> {
        self.levels.first()?.get(index)?;
        let mut steps = Vec::new();
        let mut at = index;
        for level in &self.levels {
            let side = if at.is_multiple_of(2) { Side::Right } else { Side::Left };
            if let Some(sibling) = level.get(at ^ 1) {
                steps.push(ProofStep { sibling: *sibling, side });
            }
            at /= 2;
        }
        Some(steps)
    }
}

/// Whether the proof leads from the leaf to the root.
pub fn proves(leaf: Hash, proof: &[ProofStep], root: Hash) -> bool {
    let reached = proof.iter().fold(leaf, |hash, step| match step.side {
        Side::Left => node_hash(&step.sibling, &hash),
        Side::Right => node_hash(&hash, &step.sibling),
    });
    reached == root
}

#[cfg(test)]
mod tests;
