//! How a request names its caller.

use axum::http::HeaderValue;

use super::*;

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
        .collect()
}

#[test]
fn a_bearer_token_is_found() {
    for value in ["Bearer abc", "bearer abc", "BEARER   abc", "Bearer abc "] {
        assert_eq!(bearer(&headers(&[("authorization", value)])).unwrap(), "abc", "{value:?}");
    }
    for (value, code) in [
        ("abc", ErrorCode::MissingToken),
        ("Bearer", ErrorCode::MissingToken),
        ("Bearer ", ErrorCode::MissingToken),
        ("Basic abc", ErrorCode::MissingToken),
    ] {
        assert_eq!(bearer(&headers(&[("authorization", value)])).unwrap_err().code, code);
    }
    assert_eq!(bearer(&HeaderMap::new()).unwrap_err().code, ErrorCode::MissingToken);
    let mut two = headers(&[("authorization", "Bearer a")]);
    two.append(AUTHORIZATION, HeaderValue::from_static("Bearer b"));
    assert_eq!(bearer(&two).unwrap_err().code, ErrorCode::InvalidTokenSignature);
}

#[test]
fn an_actor_is_named_or_not() {
    assert_eq!(named_actor(&HeaderMap::new()).unwrap(), None);
    assert_eq!(named_actor(&headers(&[("x-cortex-actor", " ")])).unwrap(), None);
    let named = named_actor(&headers(&[("x-cortex-actor", "user:a")])).unwrap().unwrap();
    assert_eq!(named.as_str(), "user:a");
    let bad = named_actor(&headers(&[("x-cortex-actor", "nobody")])).unwrap_err();
    assert_eq!(bad.code, ErrorCode::InvalidParameter);
    // Of two the one that we do not look at may be the one that somebody else has checked.
    for second in ["user:a", "user:b"] {
        let mut two = headers(&[("x-cortex-actor", "user:a")]);
        two.append(ACTOR, HeaderValue::from_static(second));
        assert_eq!(named_actor(&two).unwrap_err().code, ErrorCode::InvalidParameter);
    }
}

#[test]
fn a_refusal_explains_itself_and_keeps_the_token_to_itself() {
    let error = refused(&TokenError::Missing);
    assert_eq!(error.status, 401);
    assert!(error.message.starts_with("This deployment needs a token"), "{}", error.message);
    assert!(error.details.iter().any(|(key, value)| *key == "reason" && value == "missing"));
}
