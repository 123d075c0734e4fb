//! Roots against a definition that is slow and obvious, and every proof of trees of many sizes.

use lamina_types::stdx::hex;

use super::*;

fn leaves(count: usize) -> Vec<Hash> {
    (0..count).map(|n| leaf_hash(format!("leaf-{n}").as_bytes())).collect()
}

/// The root by its definition, level by level.
fn obvious_root(mut level: Vec<Hash>) -> Hash {
    while level.len() > 1 {
        let mut above = Vec::new();
        let mut rest = level.into_iter();
        while let Some(left) = rest.next() {
            above.push(rest.next().map_or(left, |right| node_hash(&left, &right)));
        }
        level = above;
    }
    level[0]
}

#[test]
fn every_leaf_of_every_size_has_a_proof() {
    assert!(MerkleTree::new(Vec::new()).is_none());
    for count in 1..=40 {
        let leaves = leaves(count);
        let tree = MerkleTree::new(leaves.clone()).expect("there are leaves");
        assert_eq!(tree.root(), obvious_root(leaves.clone()));
        for (index, leaf) in leaves.iter().enumerate() {
            let proof = tree.proof(index).expect("the leaf is in the tree");
            assert!(proves(*leaf, &proof, tree.root()), "{index} of {count}");
            let other = leaf_hash(b"another");
            assert!(!proves(other, &proof, tree.root()));
            if !proof.is_empty() {
                assert!(!proves(*leaf, &proof[1..], tree.root()));
            }
        }
        assert_eq!(tree.proof(count), None);
    }
}

#[test]
fn known_roots_stay() {
    let root =
        |count| hex::encode(&MerkleTree::new(leaves(count)).expect("there are leaves").root());
    expect_test::expect![[r#"
        305df59f9590c3c9ac63d2b2743c388e3792449078cebf7fb3dbe6471643b2b7
        60a53eed0de87a90c8e59427c59c46253c33a76a09502a51801300927b7e6bdc
        cf763a041c81ceef1578a6083f75c61bef2e0014f2a3e683a97fcfca5be7f19a
    "#]]
    .assert_eq(&format!("{}\n{}\n{}\n", root(1), root(2), root(3)));
}
