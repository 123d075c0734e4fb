//! Rows of imports without an engine: the part that the simulator shares.

use lamina_env::Rng;
use lamina_store::codec::control::{ImportCounts, ImportIdentity, ImportStep};
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::keys::KeyedHash;
use lamina_store::log::{NewEntry, Section};
use lamina_store::view::{ViewError, Views};
use lamina_types::{EventId, ImportId};

use super::decide::{cut, earlier, identity_row};
use super::{ErasedRows, RowPlan};
use crate::write::Write;
use crate::write::capture::PreparedWrite;
use crate::write::prepare::{Provenance, prepare_row, section};

/// A row, ready for the writer.
#[derive(Debug)]
pub struct RowAlone {
    /// Its identity.
    pub identity: ImportIdentity,
    /// Its event.
    pub item: PreparedWrite,
}

/// A row by the id of its source and its content.
#[derive(Debug, Clone, Copy)]
pub struct RowName<'a> {
    /// The id that names the row in every import of its source.
    pub source_id: &'a str,
    /// Canonical bytes of the row.
    pub body: &'a [u8],
}

impl RowAlone {
    /// Encodes and seals a row that its source names so.
    pub fn prepare(
        rng: &dyn Rng,
        keyed: &KeyedHash,
        provenance: &Provenance,
        write: Write,
    ) -> RowAlone {
        let identity = identity(keyed, &write.experience.idempotency_key, &write.identity);
        RowAlone { item: prepare_row(rng, keyed, provenance, write, &identity), identity }
    }
}

fn identity(keyed: &KeyedHash, source_id: &str, body: &[u8]) -> ImportIdentity {
    let name = cut(keyed.mac("import.row", &[source_id.as_bytes()]));
    ImportIdentity { name, body: cut(keyed.mac("import.body", &[&name, body])) }
}

/// The entry of a step that writes these rows.
pub fn step_entry(rng: &dyn Rng, tenant: u32, rows: &[RowAlone]) -> NewEntry {
    let step = ImportStep {
        id: ImportId::from_bytes([1; 16]),
        counts: ImportCounts::default(),
        failures: Vec::new(),
        identities: rows.iter().map(|row| row.identity).collect(),
        replaced: Vec::new(),
    };
    NewEntry {
        kind: Kind::Control,
        sub: control::IMPORT_STEP,
        tenant,
        scope: SYSTEM_SCOPE,
        causes: Vec::new(),
        who: Section::absent(),
        what: section(rng, &step.encode()),
    }
}

/// What a step would do with a row now: the decision that every import makes before it writes.
pub fn plan(
    views: &Views,
    keyed: &KeyedHash,
    tenant: u32,
    row: &RowName<'_>,
) -> Result<RowPlan, ViewError> {
    let identity = identity(keyed, row.source_id, row.body);
    Ok(earlier(views, tenant, &identity, ErasedRows::Refuse)?.plan())
}

/// The event that is remembered for a row, erased or not.
pub fn remembered(
    views: &Views,
    keyed: &KeyedHash,
    tenant: u32,
    source_id: &str,
) -> Result<Option<EventId>, ViewError> {
    let name = identity(keyed, source_id, &[]).name;
    Ok(identity_row(views, tenant, &name)?.map(|found| found.event))
}
