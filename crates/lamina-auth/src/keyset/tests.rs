//! What may be trusted, and what a set of keys may not do.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use crate::testing::{
    IDP, MINT, NOW, RSA, RSA_1024, ec_jwk, jwks, keys, minter, payload, rs256, rsa_jwk,
};
use crate::{TokenError, trust_file, verify};

fn paseto_key() -> Value {
    let public = minter().public().clone();
    json!({ "kid": public.kid, "alg": "v4.public", "key": public.key })
}

fn trust(keys: Value) -> Result<Loaded, KeySetError> {
    KeySet::new().add_trust_file(&json!({ "iss": MINT, "keys": keys }).to_string())
}

fn check(keys: Value, expected: Expect) {
    let shown = match trust(keys) {
        Ok(loaded) => format!("{} keys", loaded.keys),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_trust_file_may_hold_all_three_kinds() {
    let rsa = json!({ "kid": "r", "alg": "RS256", "key": rsa_jwk(RSA, "r") });
    let ec = json!({ "kid": "e", "alg": "ES256", "key": ec_jwk("e") });
    check(json!([paseto_key(), rsa, ec]), expect!["3 keys"]);
    check(json!([]), expect!["0 keys"]);
}

#[test]
fn whatever_is_wrong_with_a_trusted_key_is_said() {
    let change = |name: &str, value: Value| {
        let mut key = paseto_key();
        key[name] = value;
        json!([key])
    };
    check(
        change("alg", json!("v4.local")),
        expect![
            "key 0 of https://mint.example has an algorithm other than `v4.public`, `RS256` and `ES256`"
        ],
    );
    check(
        change("alg", json!("HS256")),
        expect![
            "key 0 of https://mint.example has an algorithm other than `v4.public`, `RS256` and `ES256`"
        ],
    );
    check(
        change("kid", json!("k4.pid.AAAA")),
        expect!["key 0 of https://mint.example has the PASERK id of another key"],
    );
    check(
        change("kid", json!("")),
        expect![
            "key 0 of https://mint.example has a `kid` that is not 1 to 256 printable characters"
        ],
    );
    check(
        change("kid", json!(null)),
        expect![
            "key 0 of https://mint.example lacks `kid`, `alg` or `key`, or one of them is of the wrong type"
        ],
    );
    check(
        change("key", json!("k4.public.AAAA")),
        expect!["key 0 of https://mint.example is not a public key of its algorithm"],
    );
    check(
        change("key", json!("k4.secret.AAAA")),
        expect![
            "key 0 of https://mint.example holds a secret key; publish only the public half, and replace a key that was published"
        ],
    );
    check(
        change("key", rsa_jwk(RSA, "x")),
        expect![
            "key 0 of https://mint.example lacks `kid`, `alg` or `key`, or one of them is of the wrong type"
        ],
    );
    let weak = json!([{ "kid": "w", "alg": "RS256", "key": rsa_jwk(RSA_1024, "w") }]);
    check(
        weak,
        expect!["key 0 of https://mint.example is an RSA key outside of 2048 to 4096 bits"],
    );
    let swapped = json!([{ "kid": "w", "alg": "ES256", "key": rsa_jwk(RSA, "w") }]);
    check(swapped, expect!["key 0 of https://mint.example is not a public key of its algorithm"]);
    check(
        json!([paseto_key(), paseto_key()]),
        expect![
            "the issuer https://mint.example has two keys with the id k4.pid.7W5aizvaKeWp_7SB3gmGDzXcY7z8EHvPW0cNbVlYvQfq"
        ],
    );
    check(
        json!([7]),
        expect![[
            r#"the keys are not JSON of the form `{"iss": ISSUER, "keys": [{"kid": ID, "alg": ALGORITHM, "key": KEY}]}`, every name once"#
        ]],
    );
}

#[test]
fn a_key_with_which_anyone_could_sign_is_refused() {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    // Points of order 4 and 1, and 32 bytes that are no point at all.
    let (mut one, mut none) = ([0; 32], [0xFF; 32]);
    one[0] = 1;
    none[0] = 2;
    none[31] = 0x7F;
    for bytes in [[0; 32], one, none] {
        let key = format!("k4.public.{}", URL_SAFE_NO_PAD.encode(bytes));
        let error = trust(json!([{ "kid": "weak", "alg": "v4.public", "key": key }])).unwrap_err();
        assert!(matches!(error, KeySetError::Key { why: KeyProblem::Material, .. }), "{error}");
    }
}

#[test]
fn what_is_not_a_trust_file_is_refused() {
    for text in [
        "",
        "[]",
        "{}",
        "x",
        r#"{"iss":"a"}"#,
        r#"{"iss":1,"keys":[]}"#,
        r#"{"iss":"a","iss":"a","keys":[]}"#,
    ] {
        let error = KeySet::new().add_trust_file(text).unwrap_err();
        assert!(matches!(error, KeySetError::Malformed { .. }), "{text}: {error}");
    }
    for iss in ["", "a b", "é"] {
        let text = json!({ "iss": iss, "keys": [] }).to_string();
        assert_eq!(KeySet::new().add_trust_file(&text), Err(KeySetError::Issuer));
    }
    let large = " ".repeat(TEXT_BYTES_MAX + 1);
    let max = TEXT_BYTES_MAX;
    assert_eq!(KeySet::new().add_trust_file(&large), Err(KeySetError::TooLarge { max }));
    assert_eq!(KeySet::new().set_jwks(IDP, &large), Err(KeySetError::TooLarge { max }));
}

#[test]
fn a_jwks_gives_its_usable_keys_only() {
    let change = |mut key: Value, name: &str, value: Value| {
        key[name] = value;
        key
    };
    let rsa = || rsa_jwk(RSA, "r");
    let mut no_id = rsa();
    no_id.as_object_mut().unwrap().remove("kid");
    let set = json!({ "keys": [
        rsa(),
        ec_jwk("e"),
        change(rsa(), "use", json!("enc")),
        change(rsa(), "alg", json!("RS512")),
        change(rsa(), "alg", json!("PS256")),
        change(rsa(), "kty", json!("oct")),
        change(rsa(), "n", json!("AQAB")),
        change(rsa(), "n", json!("!")),
        change(rsa(), "e", json!("AQ")),
        change(rsa(), "e", json!("Ag")),
        change(ec_jwk("p"), "crv", json!("P-384")),
        change(ec_jwk("p"), "x", json!("AQAB")),
        // A point that is not on the curve.
        change(ec_jwk("p"), "x", ec_jwk("p")["y"].clone()),
        { "kty": "oct", "kid": "h", "k": "c2VjcmV0", "alg": "HS256" },
        { "kty": "OKP", "crv": "Ed25519", "kid": "o", "x": "AAAA" },
        { "kty": "future", "kid": "f" },
        rsa_jwk(RSA_1024, "weak"),
        no_id,
        {},
    ] });
    let loaded = KeySet::new().set_jwks(IDP, &set.to_string()).unwrap();
    assert_eq!(loaded, Loaded { iss: IDP.to_owned(), keys: 2, ignored: 17 });
}

#[test]
fn a_jwks_that_is_broken_as_a_whole_changes_nothing() {
    let mut set = keys();
    let twice = json!({ "keys": [rsa_jwk(RSA, "r"), ec_jwk("r")] }).to_string();
    let mut secret = rsa_jwk(RSA, "r");
    secret["d"] = json!("AQAB");
    let secret = json!({ "keys": [secret] }).to_string();
    for text in ["", "{}", "[]", r#"{"keys":{}}"#, r#"{"keys":[1]}"#, &twice, &secret] {
        assert!(set.set_jwks(IDP, text).is_err(), "{text}");
    }
    assert!(set.set_jwks("a b", r#"{"keys":[]}"#).is_err());
    assert!(verify(&rs256(&payload(IDP)), &set, NOW).is_ok());
    assert_eq!(set.keys_count(), 3);
}

#[test]
fn a_new_jwks_takes_the_place_of_the_old_one() {
    let mut set = keys();
    set.set_jwks(IDP, &json!({ "keys": [ec_jwk("ec-1")] }).to_string()).unwrap();
    let error = verify(&rs256(&payload(IDP)), &set, NOW).unwrap_err();
    assert!(matches!(error, TokenError::UnknownKid { .. }));
    set.set_jwks(IDP, &jwks().to_string()).unwrap();
    assert!(verify(&rs256(&payload(IDP)), &set, NOW).is_ok());
}

#[test]
fn an_issuer_that_was_not_fetched_yet_asks_for_it() {
    let mut set = KeySet::new();
    set.add_jwks_issuer(IDP).unwrap();
    let error = verify(&rs256(&payload(IDP)), &set, NOW).unwrap_err();
    let (iss, kid) = (IDP.to_owned(), "rsa-1".to_owned());
    assert_eq!(error, TokenError::UnknownKid { iss, kid });
    set.set_jwks(IDP, &jwks().to_string()).unwrap();
    assert!(verify(&rs256(&payload(IDP)), &set, NOW).is_ok());
}

#[test]
fn one_issuer_has_one_source() {
    let mut set = keys();
    let iss = MINT.to_owned();
    let file = trust_file(MINT, &[]);
    assert_eq!(set.add_trust_file(&file), Err(KeySetError::IssuerTwice { iss: iss.clone() }));
    assert_eq!(set.add_jwks_issuer(MINT), Err(KeySetError::IssuerTwice { iss: iss.clone() }));
    // What an issuer publishes does not replace what the operator wrote down.
    let published = jwks().to_string();
    assert_eq!(set.set_jwks(MINT, &published), Err(KeySetError::IssuerTwice { iss }));
    let of_idp = trust_file(IDP, &[]);
    assert!(set.add_trust_file(&of_idp).is_err());
    assert_eq!(set.issuers().collect::<Vec<_>>(), [IDP, MINT]);
    assert!(set.trusts(IDP) && !set.trusts("https://elsewhere.example"));
}

#[test]
fn the_numbers_of_keys_and_issuers_are_bounded() {
    let many = |count: usize| {
        let keys: Vec<Value> = (0..count).map(|n| ec_jwk(&format!("e{n}"))).collect();
        json!({ "keys": keys }).to_string()
    };
    assert_eq!(KeySet::new().set_jwks(IDP, &many(KEYS_MAX)).unwrap().keys, KEYS_MAX);
    let error = KeySet::new().set_jwks(IDP, &many(KEYS_MAX + 1)).unwrap_err();
    assert!(matches!(error, KeySetError::TooManyKeys { max: KEYS_MAX, .. }));
    let mut set = KeySet::new();
    for number in 0..ISSUERS_MAX {
        set.add_jwks_issuer(&format!("https://{number}.example")).unwrap();
    }
    let max = ISSUERS_MAX;
    assert_eq!(set.add_jwks_issuer(IDP), Err(KeySetError::TooManyIssuers { max }));
    assert!(set.set_jwks("https://0.example", &jwks().to_string()).is_ok());
}
