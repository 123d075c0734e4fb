//! Why a token, a set of keys or a minting was refused.
//!
//! Messages say what to do and never repeat the token: they reach logs and strangers. The public
//! codes are the six that clients know; they follow the order of the checks (R137 to R142).

use std::io;

use lamina_types::ErrorCode;
use lamina_types::limits::{
    ISSUER_CHARS_MAX, KEY_ID_CHARS_MAX, SERVICE_TOKEN_LIFE_US_MAX, TOKEN_BYTES_MAX,
    TOKEN_CLOCK_SKEW_US_MAX, TOKEN_LIFE_US_MAX,
};

const HOUR_US: i64 = 3_600 * 1_000_000;

/// Why a token does not say who is calling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// There is none.
    #[error("this deployment needs a token: send `Authorization: Bearer TOKEN`")]
    Missing,
    /// It is longer than any real one.
    #[error(
        "the token is longer than {TOKEN_BYTES_MAX} bytes: narrow it to fewer capabilities and scopes"
    )]
    TooLong,
    /// It is neither of the two formats.
    #[error(
        "the token is neither PASETO `v4.public` nor a JWT: copy it whole, without quotes or line breaks"
    )]
    Format,
    /// A JWT with an algorithm that is not taken.
    #[error("a JWT must be signed with RS256 or ES256: configure the issuer to use one of them")]
    Algorithm,
    /// A JWT of another kind, or one that asks for extensions.
    #[error(
        "the JWT has a `typ` other than `JWT` or `at+jwt`, or a `crit` header: send an access token"
    )]
    Type,
    /// Nothing says which key made it.
    #[error(
        "the token does not name its key: a PASETO needs `kid` in its footer, a JWT in its header"
    )]
    NoKeyId,
    /// The payload is not one JSON object with every name once.
    #[error("the payload of the token is not a JSON object in which every name stands once")]
    Payload,
    /// Nobody trusts its issuer here.
    #[error("the issuer of the token is not trusted here: have the operator add its keys")]
    UnknownIssuer,
    /// The issuer is trusted; this key of it is not known. Fetching its keys again may help.
    #[error(
        "the token names a key that its issuer has not published here: if keys were rotated, have the operator load them again"
    )]
    UnknownKid {
        /// The issuer, which is one of the trusted ones.
        iss: String,
        /// The key that the token names.
        kid: String,
    },
    /// The issuer is trusted, and its keys could not be fetched yet.
    #[error(
        "the keys of the token's issuer could not be fetched yet: try again in a minute, or have the operator look at the log"
    )]
    KeysUnavailable,
    /// The key it names is for another kind of token.
    #[error("the key that the token names is for another algorithm than the token's")]
    KeyMismatch,
    /// The signature does not match.
    #[error("the signature of the token does not match the key it names: mint a new token")]
    Signature,
    /// The audience is not exactly one tenant.
    #[error("the token must name exactly one tenant: `aud` is `cortexdb:tenant:NAME`")]
    Tenant,
    /// The issuer makes tokens for other tenants.
    #[error(
        "the issuer of the token is not trusted for its tenant: have the operator bind it to the tenant"
    )]
    IssuerTenant,
    /// Its time has passed.
    #[error("the token has expired: mint a new one")]
    Expired,
    /// Its time has not come.
    #[error(
        "`{claim}` of the token is more than {} s in the future: compare the clocks of issuer and server",
        TOKEN_CLOCK_SKEW_US_MAX / 1_000_000
    )]
    NotYet {
        /// `iat` or `nbf`.
        claim: &'static str,
    },
    /// It would live longer than tokens may.
    #[error(
        "the token lives too long: at most {} h between `iat` and `exp`, {} h for a `service:`",
        TOKEN_LIFE_US_MAX / HOUR_US,
        SERVICE_TOKEN_LIFE_US_MAX / HOUR_US
    )]
    LifeTooLong,
    /// A claim that every token needs is absent.
    #[error("the token lacks the claim `{claim}`")]
    MissingClaim {
        /// Which.
        claim: &'static str,
    },
    /// A claim is not what it should be.
    #[error("the claim `{claim}` of the token {must}")]
    BadClaim {
        /// Which.
        claim: &'static str,
        /// What it should be.
        must: &'static str,
    },
}

impl TokenError {
    /// The public code.
    pub fn code(&self) -> ErrorCode {
        match self {
            TokenError::Missing => ErrorCode::MissingToken,
            TokenError::TooLong
            | TokenError::Format
            | TokenError::Algorithm
            | TokenError::Type
            | TokenError::NoKeyId
            | TokenError::Payload
            | TokenError::UnknownIssuer
            | TokenError::UnknownKid { .. }
            | TokenError::KeysUnavailable
            | TokenError::KeyMismatch
            | TokenError::Signature
            | TokenError::LifeTooLong
            | TokenError::MissingClaim { .. }
            | TokenError::BadClaim { .. } => ErrorCode::InvalidTokenSignature,
            TokenError::Tenant | TokenError::IssuerTenant => ErrorCode::WrongTenant,
            TokenError::Expired | TokenError::NotYet { .. } => ErrorCode::ExpiredToken,
        }
    }

    /// One word for `details.reason`: several refusals share a code.
    pub fn reason(&self) -> &'static str {
        match self {
            TokenError::Missing => "missing",
            TokenError::TooLong => "too_long",
            TokenError::Format => "format",
            TokenError::Algorithm => "algorithm",
            TokenError::Type => "type",
            TokenError::NoKeyId => "no_key_id",
            TokenError::Payload => "payload",
            TokenError::UnknownIssuer => "unknown_issuer",
            TokenError::UnknownKid { .. } => "unknown_key",
            TokenError::KeysUnavailable => "keys_unavailable",
            TokenError::KeyMismatch => "key_mismatch",
            TokenError::Signature => "signature",
            TokenError::Tenant => "tenant",
            TokenError::IssuerTenant => "issuer_tenant",
            TokenError::Expired => "expired",
            TokenError::NotYet { .. } => "not_yet",
            TokenError::LifeTooLong => "life_too_long",
            TokenError::MissingClaim { .. } => "missing_claim",
            TokenError::BadClaim { .. } => "bad_claim",
        }
    }
}

/// Why keys cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// Larger than any real one.
    #[error("the keys are larger than {max} bytes")]
    TooLarge {
        /// The limit.
        max: usize,
    },
    /// Neither of the two shapes.
    #[error("the keys are not JSON of the form `{form}`, every name once")]
    Malformed {
        /// What was expected.
        form: &'static str,
    },
    /// The issuer is not a name that a token could carry.
    #[error("an issuer is 1 to {ISSUER_CHARS_MAX} printable characters without spaces")]
    Issuer,
    /// The issuer's keys were given before.
    #[error("the issuer {iss} is given twice")]
    IssuerTwice {
        /// Which.
        iss: String,
    },
    /// More issuers than any deployment has.
    #[error("more than {max} issuers")]
    TooManyIssuers {
        /// The limit.
        max: usize,
    },
    /// More keys than any issuer has.
    #[error("the issuer {iss} has more than {max} keys")]
    TooManyKeys {
        /// Which issuer.
        iss: String,
        /// The limit.
        max: usize,
    },
    /// Two keys of one name.
    #[error("the issuer {iss} has two keys with the id {kid}")]
    KeyTwice {
        /// Which issuer.
        iss: String,
        /// Which key.
        kid: String,
    },
    /// A key that cannot be used.
    #[error("key {index} of {iss} {why}")]
    Key {
        /// Which issuer.
        iss: String,
        /// Which key, counted from 0.
        index: usize,
        /// What is wrong with it.
        why: KeyProblem,
    },
}

/// What is wrong with one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyProblem {
    /// It is not an object with the expected members.
    #[error("lacks `kid`, `alg` or `key`, or one of them is of the wrong type")]
    Shape,
    /// The id is empty, too long or unprintable.
    #[error("has a `kid` that is not 1 to {KEY_ID_CHARS_MAX} printable characters")]
    Id,
    /// The id belongs to another key.
    #[error("has the PASERK id of another key")]
    OtherId,
    /// The algorithm is not taken.
    #[error("has an algorithm other than `v4.public`, `RS256` and `ES256`")]
    Algorithm,
    /// The key is not a public key of its algorithm.
    #[error("is not a public key of its algorithm")]
    Material,
    /// The key is secret.
    #[error(
        "holds a secret key; publish only the public half, and replace a key that was published"
    )]
    Secret,
    /// The RSA key is too small to trust or too large to check.
    #[error("is an RSA key outside of 2048 to 4096 bits")]
    RsaSize,
}

/// Why no token was minted, or no key made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MintError {
    /// The issuer is not a name that a token could carry.
    #[error("an issuer is 1 to {ISSUER_CHARS_MAX} printable characters without spaces")]
    Issuer,
    /// The claims are of another issuer.
    #[error("the claims name another issuer than the key")]
    OtherIssuer,
    /// No server would take the token.
    #[error("no server would accept this token")]
    Refused(#[source] TokenError),
    /// Someone other than the owner may read the key.
    #[error(
        "the key file has mode {mode:o}; it must not be readable by group or others: `chmod 600` it, and replace the key if others were there"
    )]
    Exposed {
        /// The permission bits.
        mode: u32,
    },
    /// The file does not hold a key.
    #[error("the file is not `lamina-token-key v1 ISSUER k4.secret.…`")]
    Malformed,
    /// The disk answered with an error.
    #[error("the disk failed while {doing} the key file")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
}
