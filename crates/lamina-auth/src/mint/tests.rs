//! What is minted verifies, and the key stays where it belongs.

use std::path::Path;

use expect_test::expect;
use lamina_env::Disk;
use lamina_env::sim::{SimDisk, SimRng};

use super::*;
use crate::testing::{MINT, NOW, claims, keys, minter};
use crate::{KeySet, parse_scope_entry, verify};

const FILE: &str = "/issuer/key";

fn saved() -> (SimDisk, Minter) {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/issuer")).unwrap();
    let minter = minter();
    minter.save(&disk, Path::new(FILE)).unwrap();
    (disk, minter)
}

#[test]
fn what_is_minted_says_the_same_when_it_is_read() {
    let full = Claims {
        deployment: Some("cloud_private".to_owned()),
        caps: Some(["scope.write", "forget.gdpr"].map(str::to_owned).into()),
        scopes: vec![
            parse_scope_entry("scope.write:org:acme/*").unwrap(),
            parse_scope_entry("scope.read.local:org:acme/user:al-1").unwrap(),
        ],
        ..claims()
    };
    let nothing = Claims { caps: Some([].into()), ..claims() };
    for claims in [claims(), full, nothing] {
        let token = minter().mint(&claims).unwrap();
        assert_eq!(verify(&token, &keys(), NOW), Ok(claims));
    }
}

#[test]
fn the_payload_has_the_names_that_clients_know() {
    let claims = Claims {
        scopes: vec![parse_scope_entry("scope.write:org:acme").unwrap()],
        caps: Some(["scope.write".to_owned()].into()),
        ..claims()
    };
    expect![[r#"{"iss":"https://mint.example","sub":"user:alice","aud":"cortexdb:tenant:acme","exp":1800003600,"iat":1800000000,"jti":"tok_1","caps":["scope.write"],"scopes":["scope.write:org:acme/*"]}"#]]
    .assert_eq(&claims.to_json());
}

#[test]
fn what_no_server_would_take_is_not_minted() {
    let minter = minter();
    let refused = |claims: Claims| match minter.mint(&claims) {
        Err(MintError::Refused(error)) => error.reason(),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Claims { exp: NOW, ..claims() }), "expired");
    assert_eq!(refused(Claims { exp: NOW.plus(86_401_000_000), ..claims() }), "life_too_long");
    assert_eq!(refused(Claims { jti: String::new(), ..claims() }), "bad_claim");
    for cap in ["*", "scope.*", "scope.read.*", "", "Scope.write", "scope..write", "a b"] {
        assert_eq!(
            refused(Claims { caps: Some([cap.to_owned()].into()), ..claims() }),
            "bad_claim"
        );
    }
    let long = format!("org:{}", "a".repeat(3_000)).parse::<lamina_types::ScopePrefix>().unwrap();
    let scopes = vec![("scope.write".to_owned(), long); 8];
    assert_eq!(refused(Claims { scopes, ..claims() }), "too_long");
    let other = Claims { iss: "https://other.example".to_owned(), ..claims() };
    assert!(matches!(minter.mint(&other), Err(MintError::OtherIssuer)));
}

#[test]
fn a_key_file_is_read_back_after_a_crash() {
    let (disk, minter) = saved();
    disk.crash_losing_all();
    let again = Minter::load(&disk, Path::new(FILE)).unwrap();
    assert_eq!((again.iss(), again.public()), (MINT, minter.public()));
    assert_eq!(again.mint(&claims()).unwrap(), minter.mint(&claims()).unwrap());
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let (disk, _) = saved();
    assert_eq!(disk.mode(Path::new(FILE)).unwrap() & 0o777, 0o600);
    for mode in [0o640, 0o604, 0o644, 0o660, 0o610] {
        disk.set_mode(Path::new(FILE), mode).unwrap();
        let error = Minter::load(&disk, Path::new(FILE)).unwrap_err();
        assert!(matches!(error, MintError::Exposed { mode: found } if found == mode));
    }
    disk.set_mode(Path::new(FILE), 0o400).unwrap();
    assert!(Minter::load(&disk, Path::new(FILE)).is_ok());
}

#[test]
fn a_damaged_key_file_is_refused_at_every_byte() {
    let (disk, minter) = saved();
    let bytes = disk.contents(Path::new(FILE)).unwrap();
    for (at, byte) in bytes.iter().enumerate() {
        disk.poke(Path::new(FILE), at as u64, &[byte ^ 0x01]).unwrap();
        // Some other issuer may be a well-formed one; another key never is.
        if let Ok(other) = Minter::load(&disk, Path::new(FILE)) {
            assert_eq!(other.public(), minter.public(), "byte {at}");
        }
        disk.poke(Path::new(FILE), at as u64, &[*byte]).unwrap();
    }
    assert!(Minter::load(&disk, Path::new(FILE)).is_ok());
    let zeros = URL_SAFE_NO_PAD.encode([0; 64]);
    for text in ["", "\n", "lamina-token-key v1 x", &format!("{MAGIC}{MINT} {SECRET}{zeros}\n")] {
        disk.remove(Path::new(FILE)).unwrap();
        disk.create_new(Path::new(FILE)).unwrap().write_at(text.as_bytes(), 0).unwrap();
        assert!(matches!(Minter::load(&disk, Path::new(FILE)), Err(MintError::Malformed)));
    }
}

#[test]
fn the_secret_is_not_shown() {
    let (disk, minter) = saved();
    let text = String::from_utf8(disk.contents(Path::new(FILE)).unwrap()).unwrap();
    let (_, secret) = text.trim_end().rsplit_once('.').unwrap();
    let shown = format!(
        "{minter:?} {:?} {}",
        minter.public(),
        trust_file(MINT, &[minter.public().clone()])
    );
    assert!(secret.len() > 80);
    assert!(!shown.contains(secret.get(..43).unwrap()), "{shown}");
    assert!(shown.contains("k4.pid."));
}

#[test]
fn an_issuer_is_one_word() {
    for iss in ["", "a b", "a\nb", "é", &"i".repeat(513)] {
        assert!(matches!(Minter::generate(iss, &SimRng::new(1)), Err(MintError::Issuer)));
    }
    assert!(Minter::generate(&"i".repeat(512), &SimRng::new(1)).is_ok());
}

#[test]
fn after_a_rotation_both_keys_are_believed() {
    let (old, new) = (minter(), Minter::generate(MINT, &SimRng::new(8)).unwrap());
    let mut keys = KeySet::new();
    let file = trust_file(MINT, &[new.public().clone(), old.public().clone()]);
    assert_eq!(keys.add_trust_file(&file).unwrap().keys, 2);
    for minter in [&old, &new] {
        assert!(verify(&minter.mint(&claims()).unwrap(), &keys, NOW).is_ok());
    }
    let mut keys = KeySet::new();
    keys.add_trust_file(&trust_file(MINT, &[new.public().clone()])).unwrap();
    assert!(verify(&old.mint(&claims()).unwrap(), &keys, NOW).is_err());
}
