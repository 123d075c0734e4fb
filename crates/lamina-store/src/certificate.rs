//! Certificates of erasures: what was erased, in a form that a third party can check without this server.
//!
//! JSON in the canonical form of RFC 8785, signed with Ed25519 by the key that signs checkpoints, over the
//! certificate without its signature. There are only objects, lists, whole numbers and plain ASCII in it, and
//! nothing that names a person: the scope is a salted commitment, entries are named by their seals. Each
//! certificate names the hash of the one before it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ed25519_dalek::{Signature, Signer as _, VerifyingKey};
use lamina_types::stdx::hex;
use lamina_types::{AuditId, ErasureId, Micros, RecordedAt};
use sha2::{Digest, Sha256};

use crate::codec::control::ErasureCounts;
use crate::keys::Keys;
use crate::log::Checkpoint;

/// What a certificate calls itself.
pub const TYPE: &str = "lamina-erasure-certificate";
const VERSION: u64 = 1;
const SCOPE_LABEL: &[u8] = b"lamina scope 1\0";

/// What a certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// Its number in the deployment, from 1.
    pub number: u64,
    /// The hash of the one before it.
    pub previous: Option<[u8; 32]>,
    /// The erasure.
    pub erasure: ErasureId,
    /// The row of the audit log that has who asked.
    pub audit: AuditId,
    /// When it began.
    pub began_at: RecordedAt,
    /// When everything was verified.
    pub issued_at: RecordedAt,
    /// The scope, salted.
    pub scope: [u8; 32],
    /// The hash of the manifest.
    pub manifest: [u8; 32],
    /// What was done, in numbers.
    pub counts: ErasureCounts,
    /// Holds that kept something.
    pub holds: u64,
    /// Blobs of the person that a hold on a scope of somebody else keeps.
    pub blobs_held: u64,
    /// Scopes outside that refer to what was redacted.
    pub references: u64,
    /// The checkpoint before the first word went.
    pub before: Checkpoint,
    /// The seal of the entry that the erasure began with.
    pub begun: [u8; 32],
    /// The checkpoint after the last.
    pub after: Checkpoint,
    /// The seals of the entries that erased.
    pub erased: Vec<[u8; 32]>,
    /// Sections that are zero now.
    pub sections: u64,
    /// What was verified before this was signed.
    pub purge: Purge,
}

/// What became of the bytes, as verified before signing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purge {
    /// Every section was read again and is zero.
    pub log: bool,
    /// The search index has nothing of any erased event, and was rewritten without it.
    pub index: bool,
    /// Bytes of files that held something of it.
    pub bytes_held: u64,
    /// Bytes written to be rid of it.
    pub bytes_rewritten: u64,
}

impl Certificate {
    /// The signed certificate.
    pub fn issue(&self, keys: &Keys) -> String {
        let mut fields = self.fields();
        fields.insert("public_key", text(&keys.public()));
        let message = Json::Object(fields.clone()).canonical();
        let signature = keys.signing().sign(message.as_bytes()).to_bytes();
        fields.insert("signature", text(&signature));
        Json::Object(fields).canonical()
    }

    fn fields(&self) -> BTreeMap<&'static str, Json> {
        let before = Json::Object(point(&self.before, Some(&self.begun)));
        BTreeMap::from([
            ("type", Json::Text(TYPE.to_owned())),
            ("version", Json::Number(VERSION)),
            ("number", Json::Number(self.number)),
            ("previous", self.previous.as_ref().map_or(Json::Null, |hash| text(hash))),
            ("log_id", text(&self.after.log_id)),
            ("epoch", Json::Number(u64::from(self.after.epoch))),
            ("erasure_id", Json::Text(self.erasure.to_string())),
            ("audit_id", Json::Text(self.audit.to_string())),
            ("began_at_us", micros(self.began_at)),
            ("issued_at_us", micros(self.issued_at)),
            ("scope_commitment", text(&self.scope)),
            ("manifest_sha256", text(&self.manifest)),
            ("counts", self.counted()),
            ("kept", self.kept()),
            ("before", before),
            ("after", Json::Object(point(&self.after, None))),
            ("erased", self.erased()),
            ("purge", self.purged()),
        ])
    }

    fn counted(&self) -> Json {
        let ErasureCounts {
            deleted_events,
            redacted_events,
            held_events: _,
            deleted_facts,
            deleted_beliefs,
            demoted_beliefs,
            deleted_episodes,
        } = self.counts;
        object([
            ("deleted_events", deleted_events),
            ("redacted_events", redacted_events),
            ("deleted_facts", deleted_facts),
            ("deleted_beliefs", deleted_beliefs),
            ("deleted_episodes", deleted_episodes),
            ("demoted_beliefs", demoted_beliefs),
        ])
    }

    fn kept(&self) -> Json {
        object([
            ("events_under_legal_hold", self.counts.held_events),
            ("legal_holds", self.holds),
            ("blobs_under_legal_hold", self.blobs_held),
            ("events_redacted_because_referenced", self.counts.redacted_events),
            ("scopes_that_refer", self.references),
        ])
    }

    fn erased(&self) -> Json {
        Json::Object(BTreeMap::from([
            ("entries", Json::List(self.erased.iter().map(|seal| text(seal)).collect())),
            ("sections", Json::Number(self.sections)),
        ]))
    }

    fn purged(&self) -> Json {
        let Purge { log, index, bytes_held, bytes_rewritten } = self.purge;
        Json::Object(BTreeMap::from([
            ("log_verified", Json::Bool(log)),
            ("index_verified", Json::Bool(index)),
            ("bytes_held", Json::Number(bytes_held)),
            ("bytes_rewritten", Json::Number(bytes_rewritten)),
        ]))
    }
}

/// What a certificate tells of an erasure that the log it stands in may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    /// The row of the audit log.
    pub audit: AuditId,
    /// When it began.
    pub began_at: RecordedAt,
    /// When the certificate was made.
    pub issued_at: RecordedAt,
    /// The commitment to the scope.
    pub scope: [u8; 32],
    /// What went, and what was kept.
    pub counts: ErasureCounts,
}

impl Told {
    /// Reads a certificate as [`Certificate::issue`] writes it: each of these names stands in it once, and no text in
    /// it has quotation marks. `None` if it is none.
    pub fn read(certificate: &str) -> Option<Told> {
        let field = |name: &str| {
            let (_, rest) = certificate.split_once(&format!("\"{name}\":"))?;
            let end = rest.find([',', '}'])?;
            Some(rest.get(..end)?.trim_matches('"'))
        };
        let number = |name: &str| field(name)?.parse::<u64>().ok();
        let at = |name: &str| Some(RecordedAt(Micros(i64::try_from(number(name)?).ok()?)));
        Some(Told {
            audit: field("audit_id")?.parse().ok()?,
            began_at: at("began_at_us")?,
            issued_at: at("issued_at_us")?,
            scope: hex::decode_array(field("scope_commitment")?)?,
            counts: ErasureCounts {
                deleted_events: number("deleted_events")?,
                redacted_events: number("redacted_events")?,
                held_events: number("events_under_legal_hold")?,
                deleted_facts: number("deleted_facts")?,
                deleted_beliefs: number("deleted_beliefs")?,
                demoted_beliefs: number("demoted_beliefs")?,
                deleted_episodes: number("deleted_episodes")?,
            },
        })
    }
}

/// The hash by which the next certificate names this one.
pub fn hash(certificate: &str) -> [u8; 32] {
    Sha256::digest(certificate.as_bytes()).into()
}

/// The commitment to a scope. Whoever has no salt cannot test a guess.
pub fn commitment(salt: &[u8; 32], scope: &str) -> [u8; 32] {
    Sha256::new().chain_update(SCOPE_LABEL).chain_update(salt).chain_update(scope).finalize().into()
}

/// The hash of a manifest: a line for each event, `delete`, `redact` or `held` and its id, sorted.
pub fn manifest<'a>(lines: impl Iterator<Item = (&'a str, String)>) -> [u8; 32] {
    let mut lines: Vec<String> = lines.map(|(what, id)| format!("{what} {id}\n")).collect();
    lines.sort_unstable();
    let mut hash = Sha256::new();
    lines.iter().for_each(|line| hash.update(line));
    hash.finalize().into()
}

/// Whether a signature over these bytes holds.
pub fn is_signed(message: &[u8], key: &[u8; 32], signature: &[u8; 64]) -> bool {
    VerifyingKey::from_bytes(key)
        .is_ok_and(|key| key.verify_strict(message, &Signature::from_bytes(signature)).is_ok())
}

/// The hash of a checkpoint, by which it is named without saying how much the log has.
pub fn checkpoint(checkpoint: &Checkpoint) -> [u8; 32] {
    Sha256::digest(checkpoint.encode()).into()
}

fn point(at: &Checkpoint, seal: Option<&[u8; 32]>) -> BTreeMap<&'static str, Json> {
    let known = [("tip", text(&at.tip)), ("checkpoint_sha256", text(&checkpoint(at)))];
    known.into_iter().chain(seal.map(|seal| ("seal", text(seal)))).collect()
}

fn text(bytes: &[u8]) -> Json {
    Json::Text(hex::encode(bytes))
}

fn micros(at: RecordedAt) -> Json {
    Json::Number(u64::try_from(at.0.0).unwrap_or(0))
}

fn object<const N: usize>(numbers: [(&'static str, u64); N]) -> Json {
    Json::Object(numbers.into_iter().map(|(name, number)| (name, Json::Number(number))).collect())
}

/// As much of JSON as a certificate needs. Names sort as bytes, which for ASCII is the order of RFC 8785.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<&'static str, Json>),
}

impl Json {
    fn canonical(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(value) => {
                let _ = write!(out, "{value}");
            }
            Json::Number(value) => {
                let _ = write!(out, "{value}");
            }
            Json::Text(value) => {
                let plain = |c: char| c.is_ascii_graphic() && c != '"' && c != '\\';
                assert!(value.chars().all(plain), "a certificate has plain text only");
                let _ = write!(out, "\"{value}\"");
            }
            Json::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Json::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    let _ = write!(out, "\"{name}\":");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

#[cfg(test)]
mod tests;
