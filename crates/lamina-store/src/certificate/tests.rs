//! A certificate is canonical, signed over everything, and says nothing that names somebody.

use std::path::Path;
use std::sync::Arc;

use lamina_env::sim::{SimDisk, SimRng};
use lamina_types::Micros;

use super::*;

fn keys() -> Keys {
    let disk = Arc::new(SimDisk::new());
    Keys::open(disk, Path::new("/keys"), Arc::new(SimRng::new(7)), true).unwrap()
}

fn sample() -> Certificate {
    let checkpoint = Checkpoint {
        log_id: [1; 16],
        epoch: 0,
        batch: 5,
        next_offset: 9,
        tip: [2; 32],
        recorded_at: RecordedAt(Micros(1_000)),
        public_key: [0; 32],
        signature: [0; 64],
    };
    Certificate {
        number: 2,
        previous: Some([3; 32]),
        erasure: ErasureId::from_bytes([4; 16]),
        audit: AuditId::from_bytes([5; 16]),
        began_at: RecordedAt(Micros(1_000)),
        issued_at: RecordedAt(Micros(2_000)),
        scope: commitment(&[6; 32], "org:acme/user:alice"),
        manifest: manifest([("delete", "evt_1".to_owned())].into_iter()),
        counts: ErasureCounts::of([1, 2, 3, 4, 5, 6, 7]),
        holds: 1,
        blobs_held: 0,
        references: 2,
        before: checkpoint,
        begun: [7; 32],
        after: Checkpoint { batch: 6, ..checkpoint },
        erased: vec![[8; 32], [9; 32]],
        sections: 4,
        purge: Purge { log: true, index: true, bytes_held: 10, bytes_rewritten: 11 },
    }
}

/// The text without its signature, and the signature.
fn parts(signed: &str) -> (String, [u8; 64]) {
    let at = signed.find(",\"signature\":\"").unwrap();
    let rest = &signed[at + 14..];
    let (signature, after) = rest.split_once('"').unwrap();
    (format!("{}{after}", &signed[..at]), hex::decode_array(signature).unwrap())
}

#[test]
fn every_byte_is_signed() {
    let keys = keys();
    let signed = sample().issue(&keys);
    let (message, signature) = parts(&signed);
    assert!(is_signed(message.as_bytes(), &keys.public(), &signature));
    for at in 0..message.len() {
        let mut other = message.clone().into_bytes();
        other[at] ^= 1;
        assert!(!is_signed(&other, &keys.public(), &signature), "{at}");
    }
    assert!(!is_signed(message.as_bytes(), &[9; 32], &signature));
}

#[test]
fn names_are_sorted_there_is_no_space_and_nobody_is_named() {
    let signed = sample().issue(&keys());
    assert!(!signed.contains([' ', '\n', '.']), "{signed}");
    assert!(!signed.contains("acme") && !signed.contains("alice"));
    let top: Vec<&str> = ["after", "audit_id", "before", "counts", "version"].to_vec();
    let places: Vec<usize> =
        top.iter().map(|name| signed.find(&format!("\"{name}\":")).unwrap()).collect();
    assert!(places.is_sorted(), "{signed}");
    // Another salt, another commitment: guesses cannot be tested without it.
    assert_ne!(commitment(&[6; 32], "user:a"), commitment(&[7; 32], "user:a"));
    let lines = [("held", "b".to_owned()), ("delete", "a".to_owned())];
    let mut other = lines.clone();
    other.reverse();
    assert_eq!(manifest(lines.into_iter()), manifest(other.into_iter()));
}

#[test]
fn what_it_tells_can_be_read_from_it_again() {
    let certificate = sample();
    let signed = certificate.issue(&keys());
    let Certificate { audit, began_at, issued_at, scope, counts, .. } = certificate;
    assert_eq!(Told::read(&signed), Some(Told { audit, began_at, issued_at, scope, counts }));
    for cut in 0..signed.len() {
        // Half of one may say all of this; it never says something else.
        let read = Told::read(signed.get(..cut).unwrap_or_default());
        assert!(read.is_none_or(|told| told.counts == counts), "{cut}");
    }
    assert_eq!(Told::read("{}"), None);
}
