//! Laws of signed files: no change of what a signature or a hash covers is accepted, every subset has its
//! proofs, and the canonical form is a fixed point.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::contract::{entries, signed};
use crate::canon::python_utf8;
use crate::json::{JsonText, Member, ReadPolicy, Value, parse};
use crate::merkle::{MerkleTree, leaf_hash, proves};
use crate::sign::SignatureAlgorithm;
use crate::zaxy::{
    EntrySelector, EventLog, Verdict, VerifyOptions, disclose, to_file, verify_bundle,
    verify_subset,
};

/// Changes of each of the two files of an algorithm, ten thousand in all. A test build verifies ML-DSA slowly.
fn mutations(algorithm: SignatureAlgorithm) -> usize {
    match algorithm {
        SignatureAlgorithm::Ed25519 => 4_700,
        SignatureAlgorithm::MlDsa65 => 300,
    }
}

/// Numbers that look random and are the same in every run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap() % bound.max(1)
    }
}

/// The parts of a file that a signature or a hash covers, by their path.
fn covered(value: &Value, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    // The format leaves these open; `docs/EXPORT.md` lists them.
    let is_open = match path.as_slice() {
        [top] => matches!(top.as_str(), "anchor" | "signature"),
        [list, _, member] => list == "disclosed" && matches!(member.as_str(), "index" | "proof"),
        _ => false,
    };
    if is_open {
        return;
    }
    match value {
        Value::Object(members) => {
            for Member { key, value } in members {
                path.push(key.to_lossy().into_owned());
                covered(value, path, found);
                path.pop();
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                path.push(index.to_string());
                covered(element, path, found);
                path.pop();
            }
        }
        _ => found.push(path.clone()),
    }
}

/// The value at a path.
fn place<'a>(value: &'a mut Value, path: &[String]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match value {
        Value::Object(members) => {
            let found = members.iter_mut().find(|member| member.key.as_str() == Some(step));
            &mut found.expect("has the member").value
        }
        Value::Array(elements) => {
            let index: usize = step.parse().expect("is an index");
            elements.get_mut(index).expect("has the element")
        }
        _ => panic!("the path goes on"),
    })
}

/// Another value than the one that stands there.
fn change(value: &Value, chance: &mut Chance) -> Value {
    let other = match (value, chance.below(4)) {
        (Value::String(text), kind) => {
            let mut chars: Vec<char> = text.to_lossy().chars().collect();
            let at = chance.below(chars.len());
            match (kind, chars.is_empty()) {
                (_, true) | (0, _) => chars.push('x'),
                (1, _) => drop(chars.remove(at)),
                (2, _) => chars.insert(at, '0'),
                _ => chars[at] = if chars[at] == 'a' { 'b' } else { 'a' },
            }
            Value::String(JsonText::from(chars.into_iter().collect::<String>().as_str()))
        }
        (Value::Number(token), _) => {
            Value::count(u64::try_from(token.as_str().len()).unwrap() + 77)
        }
        (Value::Bool(yes), _) => Value::Bool(!yes),
        (_, 0) => Value::from(""),
        (_, 1) => Value::Bool(false),
        _ => Value::count(1),
    };
    if other == *value { Value::Null } else { other }
}

#[test]
fn ten_thousand_changes_of_covered_parts_are_never_accepted() {
    for algorithm in SignatureAlgorithm::ALL {
        let (bundle, key) = signed(algorithm);
        let options = VerifyOptions { expect_public_key: Some(&key) };
        let subset = disclose(&bundle, &EntrySelector::all()).expect("is signed").subset;
        for (file, check) in [
            (&bundle, verify_bundle as fn(&Value, VerifyOptions<'_>) -> Verdict),
            (&subset, verify_subset),
        ] {
            assert!(matches!(check(file, options), Verdict::Valid { .. }));
            let mut paths = Vec::new();
            covered(file, &mut Vec::new(), &mut paths);
            assert!(paths.len() > 40, "{}", paths.len());
            let mut chance = Chance(u64::try_from(paths.len()).unwrap());
            // Every path once, then at random.
            for turn in 0..mutations(algorithm) {
                let path = match turn < paths.len() {
                    true => &paths[turn],
                    false => &paths[chance.below(paths.len())],
                };
                let mut changed = file.clone();
                let at = place(&mut changed, path);
                *at = change(at, &mut chance);
                let verdict = check(&changed, options);
                assert!(!matches!(verdict, Verdict::Valid { .. }), "{path:?}: {verdict:?}");
            }
        }
    }
}

#[test]
fn entries_that_are_dropped_added_or_moved_are_not_accepted_in_a_bundle() {
    let (bundle, key) = signed(SignatureAlgorithm::Ed25519);
    let options = VerifyOptions { expect_public_key: Some(&key) };
    let count = entries().len();
    for index in 0..count {
        for action in 0..3 {
            let mut changed = bundle.clone();
            let Some(Value::Array(mut list)) = changed.take("entries") else { panic!("has none") };
            match action {
                0 => drop(list.remove(index)),
                1 => list.insert(index, list[index].clone()),
                _ => list.swap(index, (index + 1) % count),
            }
            changed.push("entries", list);
            assert!(!matches!(verify_bundle(&changed, options), Verdict::Valid { .. }), "{index}");
        }
    }
}

#[test]
fn changed_signature_is_not_accepted_at_any_digit() {
    let (bundle, key) = signed(SignatureAlgorithm::Ed25519);
    let options = VerifyOptions { expect_public_key: Some(&key) };
    let signature = bundle.get("signature").and_then(Value::as_str).expect("is signed").to_owned();
    for at in 0..signature.len() {
        let digit = if signature.as_bytes()[at] == b'0' { "1" } else { "0" };
        let mut text = signature.clone();
        text.replace_range(at..=at, digit);
        let mut changed = bundle.clone();
        changed.take("signature");
        changed.push("signature", text);
        assert!(!matches!(verify_bundle(&changed, options), Verdict::Valid { .. }), "{at}");
    }
}

/// Any JSON that a log can hold.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::integer),
        any::<f64>().prop_map(Value::double),
        "\\PC*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::btree_map("[a-z\u{e9}\u{1f600}\u{e000}]{0,3}", inner, 0..5)
                .prop_map(|members| {
                    let members = members.into_iter();
                    Value::Object(members.map(|(key, value)| Member::new(&key, value)).collect())
                }),
        ]
    })
}

proptest! {
    #[test]
    fn readers_survive_any_bytes_and_any_change_of_a_good_file(
        bytes in proptest::collection::vec(any::<u8>(), 0..256),
        at in 0_usize..20_000,
        to in any::<u8>(),
    ) {
        crate::targets::zaxy(&bytes);
        let (bundle, _) = signed(SignatureAlgorithm::Ed25519);
        let subset = disclose(&bundle, &EntrySelector::all()).unwrap().subset;
        for text in [to_file(&bundle).unwrap(), to_file(&subset).unwrap(), super::contract::log_text()] {
            let mut bytes = text.into_bytes();
            let at = at % bytes.len();
            bytes[at] = to;
            crate::targets::zaxy(&bytes);
        }
    }

    #[test]
    fn every_subset_of_a_tree_has_its_proofs(
        count in 1_usize..70,
        picks in proptest::collection::btree_set(0_usize..70, 1..20),
    ) {
        let leaves: Vec<_> = (0..count).map(|n| leaf_hash(&n.to_le_bytes())).collect();
        let tree = MerkleTree::new(leaves.clone()).unwrap();
        let picks: BTreeSet<usize> = picks.into_iter().map(|pick| pick % count).collect();
        for pick in picks {
            let proof = tree.proof(pick).unwrap();
            prop_assert!(proves(leaves[pick], &proof, tree.root()));
            prop_assert!(!proves(leaf_hash(b"another"), &proof, tree.root()));
            let other = (pick + 1) % count;
            if other != pick {
                prop_assert!(!proves(leaves[other], &proof, tree.root()));
            }
        }
        prop_assert!(tree.proof(count).is_none());
    }

    #[test]
    fn canonical_form_is_a_fixed_point(value in value()) {
        let Ok(bytes) = python_utf8(&value) else { return Ok(()) };
        let again = parse(&bytes, &ReadPolicy::PYTHON).unwrap();
        prop_assert_eq!(python_utf8(&again).unwrap(), bytes.clone());
        // The file's layout says the same.
        let file = to_file(&again).unwrap();
        let read = parse(file.as_bytes(), &ReadPolicy::PYTHON).unwrap();
        prop_assert_eq!(python_utf8(&read).unwrap(), bytes);
    }

    #[test]
    fn changed_byte_of_a_log_is_never_a_log_of_the_same_events(at in 0_usize..4_000, to in any::<u8>()) {
        let text = super::contract::log_text();
        let mut bytes = text.clone().into_bytes();
        let at = at % bytes.len();
        bytes[at] = to;
        if let Ok(log) = EventLog::read(&bytes)
            && log.verify().is_ok()
        {
            let own = EventLog::read(text.as_bytes()).unwrap();
            let hashes = |log: &EventLog| -> Vec<String> {
                log.events.iter().map(|event| event.hash.clone()).collect()
            };
            let (kept, own) = (hashes(&log), hashes(&own));
            // White space and spelling are free; the last event can become a blank line.
            prop_assert!(own.starts_with(&kept), "byte {at} to {to}");
        }
    }
}
