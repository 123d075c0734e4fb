//! Whose id a request carries.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use lamina_env::Env;
use lamina_types::RequestId;

use super::Id;

fn id(pairs: &[(&'static str, &[u8])]) -> String {
    let headers: HeaderMap = pairs
        .iter()
        .map(|(name, value)| {
            let value = HeaderValue::from_bytes(value).unwrap();
            (HeaderName::from_static(name), value)
        })
        .collect();
    Id::of(&headers, &Env::real()).as_str().to_owned()
}

fn is_ours(id: &str) -> bool {
    id.parse::<RequestId>().is_ok()
}

#[test]
fn a_sane_id_of_the_client_is_kept() {
    assert_eq!(id(&[("x-cortex-request-id", b"job-17/step:3")]), "job-17/step:3");
    assert_eq!(id(&[("x-request-id", b"older")]), "older");
    assert_eq!(id(&[("x-request-id", b"older"), ("x-cortex-request-id", b"ours")]), "ours");
    let longest = [b'a'; 128];
    assert_eq!(id(&[("x-cortex-request-id", &longest)]).len(), 128);
}

#[test]
fn anything_else_is_replaced() {
    let too_long = [b'a'; 129];
    for value in [&b""[..], b"two words", b"caf\xc3\xa9", b"tab\there", &too_long] {
        let id = id(&[("x-cortex-request-id", value)]);
        assert!(is_ours(&id), "{value:?} became {id}");
    }
    assert!(is_ours(&id(&[])));
    assert_ne!(id(&[]), id(&[]), "minted ids differ");
    assert_eq!(id(&[("x-cortex-request-id", b"not sane"), ("x-request-id", b"sane")]), "sane");
}
