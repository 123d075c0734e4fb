//! Every way to get in that must not work, and the ones that must.

use std::sync::LazyLock;

use expect_test::{Expect, expect};
use lamina_types::ErrorCode;
use lamina_types::limits::TOKEN_BYTES_MAX;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::verify;
use crate::KeySet;
use crate::error::TokenError;
use crate::testing::{
    IDP, MINT, NOW, NOW_S, RSA, Signer, der, es256, jwt, keys, minter, paseto, payload, rs256, with,
};

/// One line: the code, the reason and the message, or who got in.
fn outcome(token: &str) -> String {
    match verify(token, &keys(), NOW) {
        Ok(claims) => format!("{} in {} by {}", claims.sub, claims.tenant, claims.iss),
        Err(error) => format!("{} {}: {error}", error.code().as_str(), error.reason()),
    }
}

fn check(token: &str, expected: Expect) {
    expected.assert_eq(&outcome(token));
}

fn refused(token: &str) -> TokenError {
    verify(token, &keys(), NOW).expect_err("must be refused")
}

/// The same payload in all three forms, which are treated alike (R150).
fn check_forms(change: impl Fn(&str) -> Value, expected: Expect) {
    let shown = outcome(&paseto(&change(MINT).to_string()));
    expected.assert_eq(&shown);
    assert_eq!(outcome(&rs256(&change(IDP))), shown);
    assert_eq!(outcome(&es256(&change(IDP))), shown);
}

#[test]
fn r124_r125_r150_the_three_forms_get_in() {
    check(
        &paseto(&payload(MINT).to_string()),
        expect!["user:alice in acme by https://mint.example"],
    );
    check(&rs256(&payload(IDP)), expect!["user:alice in acme by https://idp.example"]);
    check(&es256(&payload(IDP)), expect!["user:alice in acme by https://idp.example"]);
}

#[test]
fn no_token_and_no_token_at_all() {
    check(
        "",
        expect![
            "MISSING_TOKEN missing: this deployment needs a token: send `Authorization: Bearer TOKEN`"
        ],
    );
    let expected = "INVALID_TOKEN_SIGNATURE format: the token is neither PASETO `v4.public` nor a \
                    JWT: copy it whole, without quotes or line breaks";
    for token in [
        "x",
        "a.b",
        "a.b.c",
        "a.b.c.d",
        "...",
        "v4.public",
        "v4.public.",
        "v4.public.AAAA",
        "v4.local.AAAA",
        "v3.public.AAAA.AAAA",
        "v2.public.AAAA",
        "Bearer x",
        "\u{fffd}.\u{0}.é",
    ] {
        assert_eq!(outcome(token), expected, "{token}");
    }
}

#[test]
fn r126_symmetric_algorithms_and_none_are_refused() {
    let text = payload(IDP).to_string();
    for alg in [
        "HS256", "HS384", "HS512", "none", "None", "NONE", "RS384", "RS512", "PS256", "ES384",
        "EdDSA", "rs256", "", "ES256K",
    ] {
        let header = json!({ "alg": alg, "typ": "JWT", "kid": "rsa-1" });
        for signer in [Signer::Rsa, Signer::Nobody, Signer::Hmac(b"secret".to_vec())] {
            assert_eq!(refused(&jwt(&header, &text, &signer)), TokenError::Algorithm, "{alg}");
        }
    }
    for header in
        [json!({ "kid": "rsa-1" }), json!({ "alg": 1, "kid": "rsa-1" }), json!({ "alg": null })]
    {
        assert_eq!(refused(&jwt(&header, &text, &Signer::Rsa)), TokenError::Algorithm);
    }
}

#[test]
fn r126_a_public_key_is_never_a_secret() {
    // The classic: the attacker knows the public key, and signs with it as if it were a secret.
    let text = payload(IDP).to_string();
    let jwk = crate::testing::rsa_jwk(RSA, "rsa-1");
    let modulus = jwk["n"].as_str().unwrap().as_bytes().to_vec();
    for secret in [modulus, der(RSA), jwk.to_string().into_bytes()] {
        let signer = Signer::Hmac(secret);
        let honest = json!({ "alg": "HS256", "typ": "JWT", "kid": "rsa-1" });
        assert_eq!(refused(&jwt(&honest, &text, &signer)), TokenError::Algorithm);
        let lying = json!({ "alg": "RS256", "typ": "JWT", "kid": "rsa-1" });
        assert_eq!(refused(&jwt(&lying, &text, &signer)), TokenError::Signature);
    }
}

#[test]
fn a_key_is_used_with_its_own_algorithm_only() {
    let text = payload(IDP).to_string();
    let header = json!({ "alg": "ES256", "kid": "rsa-1" });
    assert_eq!(refused(&jwt(&header, &text, &Signer::Ec)), TokenError::KeyMismatch);
    let header = json!({ "alg": "RS256", "kid": "ec-1" });
    assert_eq!(refused(&jwt(&header, &text, &Signer::Rsa)), TokenError::KeyMismatch);
    // A JWT that names a PASETO key, and a PASETO that names a JWT key.
    let header = json!({ "alg": "RS256", "kid": minter().public().kid });
    let token = jwt(&header, &payload(MINT).to_string(), &Signer::Rsa);
    assert_eq!(refused(&token), TokenError::KeyMismatch);
    let footer = json!({ "kid": "rsa-1" }).to_string();
    let token = minter().sign_anything(text.as_bytes(), Some(footer.as_bytes()));
    assert_eq!(refused(&token), TokenError::KeyMismatch);
}

#[test]
fn a_key_signs_for_its_own_issuer_only() {
    // Right signature, right id of the key, but the payload says another issuer.
    let header = json!({ "alg": "RS256", "kid": "rsa-1" });
    let token = jwt(&header, &payload(MINT).to_string(), &Signer::Rsa);
    let kid = "rsa-1".to_owned();
    assert_eq!(refused(&token), TokenError::UnknownKid { iss: MINT.to_owned(), kid });
    assert_eq!(
        refused(&paseto(&payload(IDP).to_string())).code(),
        ErrorCode::InvalidTokenSignature
    );
    check(
        &rs256(&payload("https://elsewhere.example")),
        expect![
            "INVALID_TOKEN_SIGNATURE unknown_issuer: the issuer of the token is not trusted here: have the operator add its keys"
        ],
    );
}

#[test]
fn an_unknown_key_can_be_told_from_the_rest() {
    let header = json!({ "alg": "RS256", "kid": "rsa-2" });
    let error = refused(&jwt(&header, &payload(IDP).to_string(), &Signer::Rsa));
    let (iss, kid) = (IDP.to_owned(), "rsa-2".to_owned());
    assert_eq!(error, TokenError::UnknownKid { iss, kid });
    assert_eq!(error.code(), ErrorCode::InvalidTokenSignature);
    assert!(!error.to_string().contains("rsa-2"), "the token's words are not repeated");
    let footer = json!({ "kid": "k4.pid.other" }).to_string();
    let token =
        minter().sign_anything(payload(MINT).to_string().as_bytes(), Some(footer.as_bytes()));
    assert!(matches!(refused(&token), TokenError::UnknownKid { .. }));
}

#[test]
fn a_token_must_name_its_key() {
    let text = payload(MINT).to_string();
    let minter = minter();
    let footers: [Option<&[u8]>; 8] = [
        None,
        Some(b"{}"),
        Some(b"kid"),
        Some(b"[]"),
        Some(br#"{"kid":7}"#),
        Some(br#"{"kid":""}"#),
        Some(br#"{"kid":"a","kid":"b"}"#),
        Some(b"\xff"),
    ];
    for footer in footers {
        let token = minter.sign_anything(text.as_bytes(), footer);
        assert_eq!(refused(&token), TokenError::NoKeyId, "{footer:?}");
    }
    let long = "k".repeat(257);
    for kid in [json!(null), json!(""), json!(1), json!("a b"), json!(long)] {
        let header = json!({ "alg": "RS256", "kid": kid });
        let token = jwt(&header, &payload(IDP).to_string(), &Signer::Rsa);
        assert_eq!(refused(&token), TokenError::NoKeyId, "{kid}");
    }
}

#[test]
fn a_jwt_of_another_type_is_refused() {
    let text = payload(IDP).to_string();
    let token = |header: Value| jwt(&header, &text, &Signer::Rsa);
    for typ in ["JWT", "jwt", "at+jwt", "application/at+jwt"] {
        let token = token(json!({ "alg": "RS256", "kid": "rsa-1", "typ": typ }));
        assert!(verify(&token, &keys(), NOW).is_ok(), "{typ}");
    }
    assert!(verify(&token(json!({ "alg": "RS256", "kid": "rsa-1" })), &keys(), NOW).is_ok());
    for typ in
        [json!("JWE"), json!("logout+jwt"), json!("dpop+jwt"), json!(""), json!(7), json!(["JWT"])]
    {
        let token = token(json!({ "alg": "RS256", "kid": "rsa-1", "typ": typ }));
        assert_eq!(refused(&token), TokenError::Type, "{typ}");
    }
    for crit in [json!([]), json!(["b64"]), json!(null)] {
        let token = token(json!({ "alg": "RS256", "kid": "rsa-1", "crit": crit, "b64": false }));
        assert_eq!(refused(&token), TokenError::Type);
    }
}

#[test]
fn a_token_that_is_too_long_is_not_even_looked_at() {
    let mut token = paseto(&payload(MINT).to_string());
    assert!(token.len() < TOKEN_BYTES_MAX);
    let padding = "x".repeat(20_000);
    assert_eq!(refused(&rs256(&with(IDP, "note", json!(padding)))), TokenError::TooLong);
    token.push_str(&"A".repeat(TOKEN_BYTES_MAX - token.len()));
    assert_ne!(refused(&token), TokenError::TooLong);
    token.push('A');
    assert_eq!(refused(&token), TokenError::TooLong);
}

#[test]
fn a_truncated_token_is_refused_at_every_length() {
    for token in [paseto(&payload(MINT).to_string()), rs256(&payload(IDP)), es256(&payload(IDP))] {
        for len in 0..token.len() {
            let part = token.get(..len).unwrap();
            assert!(verify(part, &keys(), NOW).is_err(), "{len} of {}", token.len());
        }
    }
}

#[test]
fn every_claim_that_is_required_is_missed() {
    for claim in ["iss", "sub", "exp", "iat", "jti"] {
        for token in [
            paseto(&with(MINT, claim, Value::Null).to_string()),
            rs256(&with(IDP, claim, Value::Null)),
        ] {
            let error = refused(&token);
            assert_eq!(error, TokenError::MissingClaim { claim });
            assert_eq!(error.code(), ErrorCode::InvalidTokenSignature);
        }
    }
    check_forms(
        |iss| with(iss, "aud", Value::Null),
        expect![
            "WRONG_TENANT tenant: the token must name exactly one tenant: `aud` is `cortexdb:tenant:NAME`"
        ],
    );
}

#[test]
fn r131_the_audience_names_exactly_one_tenant() {
    for aud in [
        json!("acme"),
        json!("cortexdb:tenant:"),
        json!("cortexdb:tenant:a/b"),
        json!("cortexdb:tenant:*"),
        json!("CORTEXDB:TENANT:acme"),
        json!(""),
        json!(7),
        json!([]),
        json!(["api://x"]),
        json!([7]),
        json!(["cortexdb:tenant:acme", "cortexdb:tenant:other"]),
        json!(["cortexdb:tenant:acme", "cortexdb:tenant:acme"]),
        json!({ "a": 1 }),
        json!(vec!["cortexdb:tenant:acme"; 17]),
    ] {
        let token = paseto(&with(MINT, "aud", aud.clone()).to_string());
        assert_eq!(refused(&token), TokenError::Tenant, "{aud}");
        assert_eq!(refused(&token).code(), ErrorCode::WrongTenant);
    }
    let aud = json!(["https://idp.example/userinfo", "cortexdb:tenant:globex"]);
    check(&rs256(&with(IDP, "aud", aud)), expect!["user:alice in globex by https://idp.example"]);
}

#[test]
fn r140_times_at_their_edges() {
    let at = |claim: &'static str, seconds: i64| {
        outcome(&paseto(&with(MINT, claim, json!(seconds)).to_string()))
    };
    let fine = "user:alice in acme by https://mint.example";
    assert_eq!(at("exp", NOW_S + 1), fine);
    check_forms(
        |iss| with(iss, "iat", json!(NOW_S + 61)),
        expect![
            "EXPIRED_TOKEN not_yet: `iat` of the token is more than 60 s in the future: compare the clocks of issuer and server"
        ],
    );
    assert_eq!(at("iat", NOW_S + 60), fine);
    assert_eq!(at("nbf", NOW_S + 60), fine);
    assert!(at("nbf", NOW_S + 61).starts_with("EXPIRED_TOKEN not_yet: `nbf`"));
    // Expired at the very second, and a second before it was made.
    for exp in [NOW_S, NOW_S - 1] {
        let mut payload = with(MINT, "iat", json!(NOW_S - 3_600));
        payload["exp"] = json!(exp);
        check(
            &paseto(&payload.to_string()),
            expect!["EXPIRED_TOKEN expired: the token has expired: mint a new one"],
        );
    }
    let mut payload = with(MINT, "iat", json!(NOW_S + 30));
    payload["exp"] = json!(NOW_S + 20);
    assert_eq!(refused(&paseto(&payload.to_string())).reason(), "bad_claim");
    for bad in [
        json!("1800003600"),
        json!(1.8e9),
        json!(-1),
        json!(i64::MAX),
        json!(u64::MAX),
        json!([1]),
        json!(true),
    ] {
        let error = refused(&paseto(&with(MINT, "exp", bad.clone()).to_string()));
        assert_eq!(error.reason(), "bad_claim", "{bad}");
    }
}

#[test]
fn r132_r146_life_is_bounded_and_longer_for_services() {
    let living = |sub: &str, seconds: i64| {
        let mut payload = with(MINT, "sub", json!(sub));
        payload["exp"] = json!(NOW_S + seconds);
        verify(&paseto(&payload.to_string()), &keys(), NOW).map(|_| ())
    };
    let (day, month) = (24 * 3_600, 30 * 24 * 3_600);
    for sub in ["user:alice", "agent:planner", "services:x", "user:service"] {
        assert_eq!(living(sub, day), Ok(()));
        assert_eq!(living(sub, day + 1), Err(TokenError::LifeTooLong), "{sub}");
    }
    assert_eq!(living("service:importer", month), Ok(()));
    assert_eq!(living("service:importer", month + 1), Err(TokenError::LifeTooLong));
    assert_eq!(TokenError::LifeTooLong.code(), ErrorCode::InvalidTokenSignature);
}

/// C42: the issuer that a server is itself makes longer ones if its operator says so, and no other.
#[test]
fn c42_one_issuer_may_make_tokens_that_live_longer() {
    let week = 7 * 24 * 3_600;
    let living = |keys: &KeySet, seconds: i64| {
        let mut payload = with(MINT, "sub", json!("user:alice"));
        payload["exp"] = json!(NOW_S + seconds);
        verify(&paseto(&payload.to_string()), keys, NOW).map(|_| ())
    };
    let mut longer = keys();
    let iss = with(MINT, "x", json!(0))["iss"].as_str().unwrap().to_owned();
    longer.let_live(&iss, week * 1_000_000);
    assert_eq!(living(&longer, week), Ok(()));
    assert_eq!(living(&longer, week + 1), Err(TokenError::LifeTooLong));
    let mut others = keys();
    others.let_live("https://nobody.test", week * 1_000_000);
    assert_eq!(living(&others, week), Err(TokenError::LifeTooLong));
}

#[test]
fn r130_r133_the_subject_and_the_id_are_well_formed() {
    for sub in ["alice", "user:", ":alice", "User:alice", "user:a b", "user:a/b", "user:*"] {
        let error = refused(&rs256(&with(IDP, "sub", json!(sub))));
        assert!(matches!(error, TokenError::BadClaim { claim: "sub", .. }), "{sub}");
    }
    let long = "j".repeat(129);
    for jti in [json!(""), json!("a b"), json!("a\nb"), json!(7), json!(long), json!("é")] {
        let error = refused(&rs256(&with(IDP, "jti", jti)));
        assert!(matches!(error, TokenError::BadClaim { claim: "jti", .. }));
    }
}

#[test]
fn a_name_twice_in_payload_or_header_is_refused() {
    let text = payload(MINT).to_string();
    let twice = text.replacen('{', r#"{"sub":"user:root","#, 1);
    assert_eq!(refused(&paseto(&twice)), TokenError::Payload);
    let escaped = text.replacen('{', r#"{"s\u0075b":"user:root","#, 1);
    assert_eq!(refused(&paseto(&escaped)), TokenError::Payload);
    for payload in ["[]", "null", "x", "\"\"", "{}{}"] {
        assert_eq!(refused(&paseto(payload)), TokenError::Payload);
    }
    assert_eq!(refused(&paseto("{}")), TokenError::MissingClaim { claim: "iss" });
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let token = rs256(&payload(IDP));
    let (_, rest) = token.split_once('.').unwrap();
    let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","alg":"RS256","kid":"rsa-1"}"#);
    assert_eq!(refused(&format!("{header}.{rest}")), TokenError::Format);
}

#[test]
fn a_signature_of_another_token_does_not_help() {
    let (mine, theirs) = (rs256(&payload(IDP)), rs256(&with(IDP, "sub", json!("user:root"))));
    let (_, signature) = mine.rsplit_once('.').unwrap();
    let (message, _) = theirs.rsplit_once('.').unwrap();
    check(
        &format!("{message}.{signature}"),
        expect![
            "INVALID_TOKEN_SIGNATURE signature: the signature of the token does not match the key it names: mint a new token"
        ],
    );
    check(
        &format!("{message}."),
        expect![
            "INVALID_TOKEN_SIGNATURE signature: the signature of the token does not match the key it names: mint a new token"
        ],
    );
}

#[test]
fn an_implicit_assertion_of_another_system_is_refused() {
    // A PASETO that was signed for someone else to check.
    let minter = minter();
    let footer = json!({ "kid": minter.public().kid }).to_string();
    let text = payload(MINT).to_string();
    let plain = minter.sign_anything(text.as_bytes(), Some(footer.as_bytes()));
    assert!(verify(&plain, &keys(), NOW).is_ok());
    let bound = minter.sign_asserting(text.as_bytes(), footer.as_bytes(), b"other system");
    assert_eq!(refused(&bound), TokenError::Signature);
}

#[test]
fn every_refusal_has_a_code_of_its_status() {
    for code in [
        ErrorCode::MissingToken,
        ErrorCode::InvalidTokenSignature,
        ErrorCode::ExpiredToken,
        ErrorCode::WrongTenant,
    ] {
        assert_eq!(code.status(), 401);
        assert!(!code.retriable());
    }
}

proptest! {
    #[test]
    fn nothing_arbitrary_gets_in(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        prop_assert!(verify(&text, &keys(), NOW).is_err());
        let prefixed = format!("v4.public.{text}");
        prop_assert!(verify(&prefixed, &keys(), NOW).is_err());
    }

    #[test]
    fn nothing_of_the_right_shape_gets_in(
        header in "[A-Za-z0-9_-]{0,60}", payload in "[A-Za-z0-9_-]{0,120}", rest in "[A-Za-z0-9_-]{0,90}",
    ) {
        let token = format!("{header}.{payload}.{rest}");
        prop_assert!(verify(&token, &keys(), NOW).is_err());
        let token = format!("v4.public.{payload}.{rest}");
        prop_assert!(verify(&token, &keys(), NOW).is_err());
    }

    #[test]
    fn a_changed_token_does_not_get_in(form in 0..3usize, at in any::<prop::sample::Index>(), to in "[A-Za-z0-9_.=-]") {
        static TOKENS: LazyLock<[String; 3]> = LazyLock::new(|| {
            [paseto(&payload(MINT).to_string()), rs256(&payload(IDP)), es256(&payload(IDP))]
        });
        let token = TOKENS.get(form).unwrap();
        let at = at.index(token.len());
        let mut changed = token.clone();
        changed.replace_range(at..=at, &to);
        prop_assume!(changed != *token);
        prop_assert!(verify(&changed, &keys(), NOW).is_err());
    }
}
