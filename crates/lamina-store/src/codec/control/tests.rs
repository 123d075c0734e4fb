//! Control sections: golden bytes, round trips, and bytes from someone who means harm.

use expect_test::{Expect, expect};
use lamina_types::stdx::hex;
use proptest::prelude::*;

use super::*;

fn tenant() -> Tenant {
    Tenant { name: "default".to_owned(), key_check: None }
}

fn scope() -> Scope {
    Scope {
        path: "org:acme/user:x".parse().unwrap(),
        ordinal: 300,
        owner: "user:x".parse().unwrap(),
        auto: true,
    }
}

fn cancel() -> Cancel {
    Cancel {
        event_id: EventId::from_bytes([1; 16]),
        audit_id: AuditId::from_bytes([2; 16]),
        note: "typo".to_owned(),
    }
}

fn blob() -> Blob {
    Blob {
        id: BlobId::from_bytes([3; 16]),
        size: 70_000,
        content_type: "image/png".to_owned(),
        sha256: [4; 32],
        perceptual_hash: Some(0x0102_0304_0506_0708),
        file: [5; 16],
        uploader: "user:x".parse().unwrap(),
        key: None,
    }
}

fn check(bytes: &[u8], golden: Expect) {
    golden.assert_eq(&hex::encode(bytes));
}

#[test]
fn golden_bytes() {
    check(&tenant().encode(), expect!["01010764656661756c74"]);
    check(
        &scope().encode(),
        expect!["01010f6f72673a61636d652f757365723a780202ac020306757365723a78040101"],
    );
    check(
        &cancel().encode(),
        expect![
            "0101100101010101010101010101010101010102100202020202020202020202020202020203047479706f"
        ],
    );
    check(
        &blob().encode(),
        expect![
            "010110030303030303030303030303030303030203f0a2040309696d6167652f706e6704200404040404040404040404040404040404040404040404040404040404040404050808070605040302010610050505050505050505050505050505050706757365723a78"
        ],
    );
    check(
        &Blob { key: Some(BlobKey { idem_mac: [6; 32], body_mac: [7; 32] }), ..blob() }.encode(),
        expect![
            "010110030303030303030303030303030303030203f0a2040309696d6167652f706e6704200404040404040404040404040404040404040404040404040404040404040404050808070605040302010610050505050505050505050505050505050706757365723a780820060606060606060606060606060606060606060606060606060606060606060609200707070707070707070707070707070707070707070707070707070707070707"
        ],
    );
    check(
        &BlobRemoved { id: BlobId::from_bytes([6; 16]) }.encode(),
        expect!["01011006060606060606060606060606060606"],
    );
}

#[test]
fn every_record_survives() {
    assert_eq!(Tenant::decode(&tenant().encode()), Ok(tenant()));
    assert_eq!(Scope::decode(&scope().encode()), Ok(scope()));
    assert_eq!(Cancel::decode(&cancel().encode()), Ok(cancel()));
    assert_eq!(Blob::decode(&blob().encode()), Ok(blob()));
    let key = Some(BlobKey { idem_mac: [6; 32], body_mac: [7; 32] });
    let uploaded = Blob { key, ..blob() };
    assert_eq!(Blob::decode(&uploaded.encode()), Ok(uploaded));
    let plain = Blob { perceptual_hash: None, ..blob() };
    assert_eq!(Blob::decode(&plain.encode()), Ok(plain));
    let quiet = Cancel { note: String::new(), ..cancel() };
    assert_eq!(Cancel::decode(&quiet.encode()), Ok(quiet));
}

#[test]
fn a_cut_record_is_refused_at_every_byte() {
    let bytes = blob().encode();
    for at in 0..bytes.len() {
        assert!(Blob::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
    let bytes = scope().encode();
    for at in 0..bytes.len() {
        assert!(Scope::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn an_unknown_field_is_skipped_and_a_newer_version_refused() {
    let mut bytes = tenant().encode();
    bytes.extend_from_slice(&[200, 2, 1, 1]);
    assert_eq!(Tenant::decode(&bytes), Ok(tenant()));
    bytes[0] = 2;
    assert_eq!(Tenant::decode(&bytes), Err(CodecError::Version { found: 2, supported: 1 }));
}

#[test]
fn a_field_that_is_there_twice_is_refused() {
    let mut bytes = tenant().encode();
    bytes.extend_from_slice(&[1, 1, b'x']);
    assert_eq!(Tenant::decode(&bytes), Err(CodecError::Twice { field: "name" }));
}

proptest! {
    #[test]
    fn hostile_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), flip: bool) {
        if flip && let Some(first) = bytes.first_mut() {
            *first = VERSION;
        }
        let _ = Tenant::decode(&bytes);
        let _ = Scope::decode(&bytes);
        let _ = Cancel::decode(&bytes);
        let _ = Blob::decode(&bytes);
        let _ = BlobRemoved::decode(&bytes);
    }

    #[test]
    fn a_flipped_byte_never_panics(at in 0usize..150, xor in 1u8..) {
        let mut bytes = blob().encode();
        let at = at % bytes.len();
        bytes[at] ^= xor;
        let _ = Blob::decode(&bytes);
    }
}
