//! Whom and what answers speak of: names become entities.
//!
//! The same name is the same entity. A person's first name alone says little, so it is only the same
//! within one scope; everything else is known throughout the tenant. What else is one and the same
//! (another spelling, a nickname) was decided from words and stands in the answer.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lamina_core::derive::entities::NameKey;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EntityId;
use lamina_types::layer::{EntityKind, Term};
use sha2::{Digest, Sha256};

use crate::derive::fold::{Given, answer_row, row_error, terms};
use crate::derive::key;
use crate::derive::rows::{AnswerRow, EntityRow};

/// Names that are the same throughout the tenant.
const TENANT_WIDE: u64 = 0;

/// Things of one answer that its episode keeps count of.
const THINGS_MAX: usize = 32;

/// The entities that an answer's terms stand for.
#[derive(Debug, Default)]
pub(super) struct Names {
    entities: BTreeMap<Term, EntityId>,
}

impl Names {
    /// Finds the entities of an answer; those that nobody has spoken of are made.
    pub(super) fn of(rows: &mut Rows<'_, '_>, given: &mut Given<'_>) -> Result<Names, ViewError> {
        let mut names = Names::default();
        let answer = given.answer;
        for (position, term) in terms(answer).enumerate() {
            let position = u16::try_from(position).unwrap_or(u16::MAX);
            names.resolve(rows, given, term, position)?;
        }
        given.row.counts.entities = u32::try_from(names.entities.len()).unwrap_or(u32::MAX);
        Ok(names)
    }

    /// The entity of a term of the answer.
    pub(super) fn entity(&self, term: &Term) -> Option<EntityId> {
        self.entities.get(term).copied()
    }

    /// What the answer speaks of, without those it knows as actors.
    pub(super) fn things(&self) -> Vec<EntityId> {
        let things = self.entities.iter().filter(|(term, _)| !matches!(term, Term::Actor(_)));
        let mut things: Vec<EntityId> = things.map(|(_, id)| *id).collect();
        things.sort_unstable();
        things.dedup();
        things.truncate(THINGS_MAX);
        things
    }

    fn resolve(
        &mut self,
        rows: &mut Rows<'_, '_>,
        given: &mut Given<'_>,
        term: &Term,
        position: u16,
    ) -> Result<EntityId, ViewError> {
        if let Some(known) = self.entities.get(term) {
            return Ok(*known);
        }
        let matched = match term {
            Term::Named { name, .. } => {
                given.answer.matches.iter().find(|matched| matched.name == *name)
            }
            _ => None,
        };
        let (kind, domain, tag) = match term {
            Term::Actor(actor) => {
                let tag = rows.tag(given.tenant, "derive.actor", &[actor.as_str().as_bytes()])?;
                (EntityKind::Person, TENANT_WIDE, tag)
            }
            Term::Named { name, kind } => {
                let tag =
                    rows.tag(given.tenant, "derive.name", &[fold_name(name, *kind).as_bytes()])?;
                (*kind, self.domain(given, name, *kind), tag)
            }
            Term::Of { owner, relation } => {
                let owner = self.resolve(rows, given, owner, position)?;
                let parts: [&[u8]; 2] = [owner.as_bytes(), relation.as_bytes()];
                let tag = rows.tag(given.tenant, "derive.of", &parts)?;
                (EntityKind::Thing, TENANT_WIDE, tag)
            }
        };
        let id = match matched {
            Some(matched) => matched.entity,
            None => bearer(rows, given, (domain, tag), kind, position)?,
        };
        let used = key::name_used(given.tenant, domain, &tag, given.offset);
        rows.put(Space::Sources, used, position.to_be_bytes().to_vec());
        if !given.row.names.contains(&(domain, tag)) {
            given.row.names.push((domain, tag));
        }
        self.entities.insert(term.clone(), id);
        Ok(id)
    }

    /// How far a name is known.
    fn domain(&self, given: &Given<'_>, name: &str, kind: EntityKind) -> u64 {
        let alone = !name.trim().contains(char::is_whitespace);
        let personal = matches!(kind, EntityKind::Person | EntityKind::Animal | EntityKind::Thing);
        match given.scopes.first() {
            Some(scope) if alone && personal => *scope,
            _ => TENANT_WIDE,
        }
    }
}

/// Who bears a name; made if nobody does.
fn bearer(
    rows: &mut Rows<'_, '_>,
    given: &Given<'_>,
    (domain, tag): (u64, Tag),
    kind: EntityKind,
    position: u16,
) -> Result<EntityId, ViewError> {
    let alias = key::alias(given.tenant, domain, &tag);
    if let Some(bytes) = rows.get(Space::Sources, &alias)? {
        let id = bytes
            .as_slice()
            .try_into()
            .map_err(|_| row_error(Space::Sources)(lamina_store::codec::CodecError::Truncated))?;
        return Ok(EntityId::from_bytes(id));
    }
    let id = EntityId::mint(given.row.recorded.0, entropy(&given.row.seed, 5, u64::from(position)));
    rows.put(Space::Sources, alias, id.as_bytes().to_vec());
    let row = EntityRow { kind, answer: given.offset, term: position, names: vec![(domain, tag)] };
    rows.put(Space::Records, key::entity(given.tenant, id), row.encode());
    Ok(id)
}

/// Takes back the names of an answer. One that others use as well keeps its entity, which is then
/// known from the next of them.
pub(super) fn withdraw(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &AnswerRow,
) -> Result<(), ViewError> {
    for (domain, tag) in &row.names {
        rows.delete(Space::Sources, key::name_used(tenant, *domain, tag, offset));
        let alias = key::alias(tenant, *domain, tag);
        let Some(bytes) = rows.get(Space::Sources, &alias)? else { continue };
        let Ok(id) = bytes.as_slice().try_into() else { continue };
        let entity_key = key::entity(tenant, EntityId::from_bytes(id));
        match first_use(rows, tenant, *domain, tag)? {
            None => {
                rows.delete(Space::Sources, alias);
                rows.delete(Space::Records, entity_key);
            }
            Some((answer, term)) => {
                let Some(bytes) = rows.get(Space::Records, &entity_key)? else { continue };
                let mut entity = EntityRow::decode(&bytes).map_err(row_error(Space::Records))?;
                if entity.answer == offset && answer_row(rows, tenant, answer)?.is_some() {
                    (entity.answer, entity.term) = (answer, term);
                    rows.put(Space::Records, entity_key, entity.encode());
                }
            }
        }
    }
    Ok(())
}

/// The first answer that uses a name, and where.
fn first_use(
    rows: &Rows<'_, '_>,
    tenant: u32,
    domain: u64,
    name: &Tag,
) -> Result<Option<(u64, u16)>, ViewError> {
    let (from, to) = key::name_uses(tenant, domain, name);
    let mut first = None;
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        first = key::tail_number(key).zip(value.try_into().ok().map(u16::from_be_bytes));
        ControlFlow::Break(())
    })?;
    Ok(first)
}

/// The random part of an id: from the seed of its entry, its layer and its place there.
pub(super) fn entropy(seed: &[u8; 16], layer: u8, place: u64) -> [u8; 8] {
    let hash = Sha256::new().chain_update(seed).chain_update([layer]);
    let hash: [u8; 32] = hash.chain_update(place.to_be_bytes()).finalize().into();
    *hash.first_chunk().expect("32 bytes have a first eighth")
}

/// A name without what people write differently.
pub(crate) fn fold_name(name: &str, kind: EntityKind) -> String {
    NameKey::new(name, kind).map_or_else(|| name.trim().to_lowercase(), |key| key.to_string())
}
