//! Golden bytes, round trips, and bytes that are cut off.

use expect_test::expect;
use lamina_types::stdx::hex;

use super::*;

fn counts() -> ImportCounts {
    ImportCounts {
        position: 300,
        fraction: 10_000,
        total: Some(0),
        written: 1,
        known: 2,
        replaced: 3,
        erased: 4,
        skipped: 5,
        failed: 6,
    }
}

#[test]
fn import_entries_encode_to_golden_bytes_and_back() {
    let id = ImportId::from_bytes([7; 16]);
    let begun = ImportBegun {
        id,
        format: "mem0".to_owned(),
        target: "user:{user_id}".to_owned(),
        options: "{}".to_owned(),
        file: [1; 16],
        bytes: 300,
        sha256: [2; 32],
        policy_version: 9,
        key: Some(ImportIdentity { name: [3; 16], body: [4; 16] }),
        token: None,
    };
    let step = ImportStep {
        id,
        counts: counts(),
        failures: vec![
            ImportFailure { line: Some(12), code: "INVALID_ENVELOPE".to_owned() },
            ImportFailure { line: None, code: "RESOURCE_DELETED".to_owned() },
        ],
        identities: vec![ImportIdentity { name: [5; 16], body: [6; 16] }],
        replaced: vec![0],
    };
    let ended = ImportEnded {
        id,
        outcome: ImportOutcome::Cancelled,
        counts: ImportCounts { total: None, ..counts() },
        report: "{\"read\":1}".to_owned(),
    };
    expect!["01011007070707070707070707070707070707020bac02904e0101020304050603110d494e56414c49445f454e56454c4f50450311005245534f555243455f44454c4554454404200505050505050505050505050505050506060606060606060606060606060606050100"].assert_eq(&hex::encode(&step.encode()));
    assert_eq!(ImportBegun::decode(&begun.encode()), Ok(begun.clone()));
    let keyless = ImportBegun { key: None, ..begun.clone() };
    assert_eq!(ImportBegun::decode(&keyless.encode()), Ok(keyless));
    for caps in [None, Some(Vec::new()), Some(vec!["import.from.mem0".to_owned()])] {
        let (jti, iss) = ("jti-1".to_owned(), "issuer".to_owned());
        let scopes = vec!["scope.write:org:acme/*".to_owned(), "scope.write:org:b/*".to_owned()];
        let token = Some(ImportToken { jti, iss, exp: -1, caps, scopes });
        let limited = ImportBegun { token, ..begun.clone() };
        assert_eq!(ImportBegun::decode(&limited.encode()), Ok(limited));
    }
    assert_eq!(ImportStep::decode(&step.encode()), Ok(step.clone()));
    assert_eq!(ImportEnded::decode(&ended.encode()), Ok(ended.clone()));
    for (whole, reads) in [
        (begun.encode(), (|bytes: &[u8]| ImportBegun::decode(bytes).is_ok()) as fn(&[u8]) -> bool),
        (step.encode(), |bytes| ImportStep::decode(bytes).is_ok()),
        (ended.encode(), |bytes| ImportEnded::decode(bytes).is_ok()),
    ] {
        for end in 0..whole.len() - 1 {
            let cut = whole.get(..end).unwrap();
            // The last fields are optional: a cut before one of them is a shorter record.
            assert!(!reads(cut) || end >= whole.len() - 36, "{end}");
        }
    }
}
