//! The part of a write that runs in the caller's thread: encode, hash, seal.
//!
//! Hashing a kilobyte costs more than numbering it, so it is done in parallel here and not by the
//! one writer.

use lamina_core::policy::SystemSpeech;
use lamina_env::Rng;
use lamina_env::rng::draw;
use lamina_store::codec::control::ImportIdentity;
use lamina_store::codec::experience::{Admission, Identity, split};
use lamina_store::keys::KeyedHash;
use lamina_store::log::Section;
use lamina_types::{ActorId, AuditId, BatchId};

use crate::write::Write;
use crate::write::capture::PreparedWrite;

/// The family of keys of imports (R429), beside those of writes and of uploads.
const IMPORT_FAMILY: u8 = 3;

/// What the envelope does not say.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The tenant.
    pub tenant: u32,
    /// The authenticated principal.
    pub caller: ActorId,
    /// The audit row of the write.
    pub audit_id: AuditId,
    /// The decision that let it in.
    pub decision: String,
    /// The bulk write it comes with.
    pub batch_id: Option<BatchId>,
    /// Whether a first write makes the caller owner of its scope.
    pub registers: bool,
    /// The tenant of a caller that is a guest.
    pub home: Option<u32>,
    /// The caller may write as the system.
    pub as_system: bool,
}

/// Encodes and seals one experience. `keyed` hashes under the tenant's key.
pub fn prepare(
    rng: &dyn Rng,
    keyed: &KeyedHash,
    provenance: &Provenance,
    write: Write,
) -> PreparedWrite {
    let family = u8::from(provenance.batch_id.is_some());
    let key = write.experience.idempotency_key.clone();
    prepare_keyed(rng, keyed, provenance, write, KeyUse { family, key: key.as_bytes() })
}

/// Encodes and seals one row of an import. Its identity takes the place of the idempotency key.
pub(crate) fn prepare_row(
    rng: &dyn Rng,
    keyed: &KeyedHash,
    provenance: &Provenance,
    write: Write,
    identity: &ImportIdentity,
) -> PreparedWrite {
    let key = [identity.name, identity.body].concat();
    let write = Write { key_drawn: true, ..write };
    prepare_keyed(rng, keyed, provenance, write, KeyUse { family: IMPORT_FAMILY, key: &key })
}

/// The key of a write, in the family of its endpoint.
struct KeyUse<'a> {
    family: u8,
    key: &'a [u8],
}

fn prepare_keyed(
    rng: &dyn Rng,
    keyed: &KeyedHash,
    provenance: &Provenance,
    write: Write,
    KeyUse { family, key }: KeyUse<'_>,
) -> PreparedWrite {
    let Write { experience, key_drawn, identity, request_id } = write;
    let caller = provenance.caller.as_str().as_bytes();
    let idem_mac = keyed.mac("idempotency", &[caller, &[family], key]);
    let body_mac = keyed.mac("body", &[&identity]);
    let scope = experience.scope.clone();
    let blobs = experience.content.blobs();
    let (who, what) = split(
        Admission {
            caller: provenance.caller.clone(),
            request_id,
            audit_id: provenance.audit_id,
            decision: provenance.decision.clone(),
            home: provenance.home,
            as_system: provenance.as_system && SystemSpeech::of(&experience).is_some(),
        },
        experience,
        Identity { family, idem_mac, body_mac, batch_id: provenance.batch_id },
    );
    PreparedWrite {
        tenant: provenance.tenant,
        scope,
        owner: provenance.caller.clone(),
        registers: provenance.registers,
        idem_mac,
        key_drawn,
        body_mac,
        blobs,
        who: section(rng, &who.encode()),
        what: section(rng, &what.encode()),
    }
}

/// Seals a plaintext under a fresh salt.
pub(crate) fn section(rng: &dyn Rng, plaintext: &[u8]) -> Section {
    Section::seal(salt(rng), plaintext)
}

/// A salt that cannot be mistaken for an erased one.
pub(crate) fn salt(rng: &dyn Rng) -> [u8; 32] {
    loop {
        let salt = draw::<32>(rng);
        if salt != [0; 32] {
            return salt;
        }
    }
}
