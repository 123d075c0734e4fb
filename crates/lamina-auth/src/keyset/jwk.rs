//! JSON Web Keys: one at a time, or the set that an identity provider publishes.
//!
//! A set is what the provider uses for all its purposes. Keys of other kinds, for encryption, without
//! an id or too weak are left out; a set that is broken as a whole, names a key twice or publishes a
//! secret is refused.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};

use super::{Collected, Key};
use crate::error::{KeyProblem, KeySetError};
use crate::json::Members;

const FORM: &str = r#"{"keys": [JWK, …]}"#;
const RSA_BITS_MIN: usize = 2_048;
/// The library that checks signatures takes no larger ones; no provider is known to use them.
const RSA_BITS_MAX: usize = 4_096;
/// Bytes of a coordinate of the curve P-256.
const P256_BYTES: usize = 32;

/// The usable keys of a set by id, and how many were left out.
pub(super) fn parse_set(
    iss: &str,
    text: &str,
) -> Result<(BTreeMap<String, Key>, usize), KeySetError> {
    let malformed = KeySetError::Malformed { form: FORM };
    let set = Members::parse(text.as_bytes()).ok_or(malformed.clone())?;
    let keys = set.read::<Vec<Members>>("keys").ok().flatten().ok_or(malformed)?;
    let mut collected = Collected::new(iss);
    let mut ignored = 0;
    for (index, jwk) in keys.iter().enumerate() {
        match usable(jwk) {
            Ok(Some((kid, key))) => collected.add(index, kid, key)?,
            Err(why @ KeyProblem::Secret) => {
                return Err(KeySetError::Key { iss: iss.to_owned(), index, why });
            }
            Ok(None) | Err(_) => ignored += 1,
        }
    }
    Ok((collected.keys, ignored))
}

/// A key of a set, `None` if it is for something else.
fn usable(jwk: &Members) -> Result<Option<(String, Key)>, KeyProblem> {
    let text = |name| jwk.read::<String>(name).map_err(|_| KeyProblem::Shape);
    let algorithm = match text("kty")?.as_deref() {
        Some("RSA") => Algorithm::RS256,
        Some("EC") => Algorithm::ES256,
        _ => return Ok(None),
    };
    if text("use")?.is_some_and(|purpose| purpose != "sig") {
        return Ok(None);
    }
    let name = if algorithm == Algorithm::RS256 { "RS256" } else { "ES256" };
    if text("alg")?.is_some_and(|named| named != name) {
        return Ok(None);
    }
    let key = parse_key(jwk, algorithm)?;
    Ok(text("kid")?.map(|kid| (kid, Key::Jwt { algorithm, key })))
}

/// The public key in a JWK, which must be one of this algorithm.
pub(super) fn parse_key(jwk: &Members, algorithm: Algorithm) -> Result<DecodingKey, KeyProblem> {
    if ["d", "p", "q", "k"].iter().any(|secret| jwk.has(secret)) {
        return Err(KeyProblem::Secret);
    }
    let kind = jwk.read::<String>("kty").map_err(|_| KeyProblem::Shape)?;
    match (algorithm, kind.as_deref()) {
        (Algorithm::RS256, Some("RSA")) => rsa(jwk),
        (Algorithm::ES256, Some("EC")) => p256(jwk),
        _ => Err(KeyProblem::Material),
    }
}

fn rsa(jwk: &Members) -> Result<DecodingKey, KeyProblem> {
    let modulus = number(jwk, "n")?;
    let exponent = number(jwk, "e")?;
    let zeros = modulus.first().map_or(0, |first| first.leading_zeros() as usize);
    let bits = modulus.len() * 8 - zeros;
    if !(RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) {
        return Err(KeyProblem::RsaSize);
    }
    let is_odd = |bytes: &[u8]| bytes.last().is_some_and(|last| last % 2 == 1);
    // An exponent of 1 makes every text its own signature.
    if !is_odd(&modulus) || !is_odd(&exponent) || exponent.len() > 4 || exponent == [1] {
        return Err(KeyProblem::Material);
    }
    Ok(DecodingKey::from_rsa_raw_components(&modulus, &exponent))
}

fn p256(jwk: &Members) -> Result<DecodingKey, KeyProblem> {
    let curve = jwk.read::<String>("crv").map_err(|_| KeyProblem::Shape)?;
    if curve.as_deref() != Some("P-256") {
        return Err(KeyProblem::Material);
    }
    let (x, y) = (bytes(jwk, "x")?, bytes(jwk, "y")?);
    if x.len() != P256_BYTES || y.len() != P256_BYTES {
        return Err(KeyProblem::Material);
    }
    let key = DecodingKey::from_ec_der(&[&[4], x.as_slice(), y.as_slice()].concat());
    // Checking anything with it tells whether the point is on the curve.
    match jsonwebtoken::crypto::verify("", &[], &key, Algorithm::ES256) {
        Ok(_) => Ok(key),
        Err(_) => Err(KeyProblem::Material),
    }
}

fn bytes(jwk: &Members, name: &str) -> Result<Vec<u8>, KeyProblem> {
    let text = jwk.read::<String>(name).ok().flatten().ok_or(KeyProblem::Shape)?;
    URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyProblem::Material)
}

/// A number in big-endian bytes, without the zeros that some writers put before it.
fn number(jwk: &Members, name: &str) -> Result<Vec<u8>, KeyProblem> {
    let bytes = bytes(jwk, name)?;
    Ok(bytes.into_iter().skip_while(|byte| *byte == 0).collect())
}
