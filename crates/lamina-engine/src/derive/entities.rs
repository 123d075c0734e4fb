//! Whom and what answers speak of: names become entities.
//!
//! The same name is the same entity, whatever kind of thing it seems to be, unless two are certainly of
//! different sorts. A first name alone says little, so it is only the same within one scope; everything
//! else is known throughout the tenant. What else is one and the same (another spelling, a part of a
//! name, a nickname) was decided from words (`known`) and stands in the answer; here names are keyed
//! hashes and nothing is compared but whether they are equal.

pub(crate) mod known;
pub(crate) mod merge;
pub(crate) mod rows;
pub(crate) mod withdraw;

use std::collections::BTreeMap;

use lamina_core::derive::entities::{Bearer, NameKey, meant};
use lamina_store::codec::answer::Match;
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EntityId;
use lamina_types::layer::{EntityKind, Term};
use sha2::{Digest, Sha256};

use self::rows::{BearerRow, EntityRow, Pointer, SoughtRow, UseRow, put_bearers, read_bearers};
use crate::derive::fold::{Given, row_error, terms};
use crate::derive::key;
use crate::derive::rows::NameUse;
use crate::derive::words::{NameIs, Near, hash};

pub(super) use withdraw::withdraw;

/// Names that are the same throughout the tenant.
pub(crate) const TENANT_WIDE: u64 = 0;
/// As sure as one can be, in ten-thousandths.
pub(crate) const CERTAIN: u16 = 10_000;

/// The domains of hashes.
pub(crate) const NAME: &str = "derive.name";
pub(crate) const ACTOR: &str = "derive.actor";
pub(crate) const NEAR: &str = "derive.near";
pub(crate) const PART: &str = "derive.part";
const OF: &str = "derive.of";

/// Things of one answer that its episode keeps count of.
const THINGS_MAX: usize = 32;

/// Where a name stands in an answer: which term, and whose owner's owner it is there.
#[derive(Debug, Clone, Copy)]
struct Place {
    term: u16,
    depth: u8,
}

/// Who bears a name, and in which domain.
#[derive(Debug, Clone, Copy)]
struct Found {
    domain: u64,
    bearer: BearerRow,
}

/// The entities that an answer's terms stand for.
#[derive(Debug, Default)]
pub(super) struct Names {
    entities: BTreeMap<Term, BearerRow>,
}

impl Names {
    /// Finds the entities of an answer; those that nobody has spoken of are made.
    pub(super) fn of(rows: &mut Rows<'_, '_>, given: &mut Given<'_>) -> Result<Names, ViewError> {
        let mut names = Names::default();
        let answer = given.answer;
        for matched in answer.matches.iter().filter(|matched| matched.stated) {
            names.state(rows, given, matched)?;
        }
        for (position, term) in terms(answer).enumerate() {
            let term_at = u16::try_from(position).unwrap_or(u16::MAX);
            names.resolve(rows, given, term, Place { term: term_at, depth: 0 })?;
        }
        given.row.counts.entities = u32::try_from(names.entities.len()).unwrap_or(u32::MAX);
        Ok(names)
    }

    /// The entity of a term of the answer, after everything that was merged.
    pub(super) fn entity(&self, term: &Term) -> Option<EntityId> {
        self.entities.get(term).map(|bearer| bearer.home)
    }

    /// The entity that the term itself names, and how sure that is.
    pub(super) fn named(&self, term: &Term) -> Option<(EntityId, u16)> {
        self.entities.get(term).map(|bearer| (bearer.id, bearer.confidence))
    }

    /// What the answer speaks of, without those it knows as actors.
    pub(super) fn things(&self) -> Vec<EntityId> {
        let things = self.entities.iter().filter(|(term, _)| !matches!(term, Term::Actor(_)));
        let mut things: Vec<EntityId> = things.map(|(_, bearer)| bearer.home).collect();
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
        at: Place,
    ) -> Result<BearerRow, ViewError> {
        if let Some(known) = self.entities.get(term) {
            return Ok(*known);
        }
        let bearer = match term {
            Term::Named { name, kind } => named(rows, given, (name, *kind), at)?,
            Term::Actor(actor) => {
                let tag = given.words.actor(&hash(rows, given.tenant), actor)?;
                let found = first_bearer(rows, given.tenant, TENANT_WIDE, &tag)?;
                let found = found.map_or(Owned::New, Owned::Known);
                owned(rows, given, found, (tag, EntityKind::Person), at)?
            }
            Term::Of { owner, relation } => {
                let of_it = Place { depth: at.depth.saturating_add(1), ..at };
                let owner = self.resolve(rows, given, owner, of_it)?;
                let relation = given.words.relation(&hash(rows, given.tenant), relation)?;
                let tag = of(rows, given.tenant, owner.id, &relation)?;
                let found = match first_bearer(rows, given.tenant, TENANT_WIDE, &tag)? {
                    Some(known) => Owned::Known(known),
                    None => of_group(rows, given.tenant, &owner, &relation)?,
                };
                owned(rows, given, found, (tag, EntityKind::Thing), at)?
            }
        };
        self.entities.insert(term.clone(), bearer);
        Ok(bearer)
    }

    /// Somebody says how somebody is called.
    fn state(
        &mut self,
        rows: &mut Rows<'_, '_>,
        given: &mut Given<'_>,
        matched: &Match,
    ) -> Result<(), ViewError> {
        let Some(position) = terms(given.answer).position(|term| *term == matched.is) else {
            return Ok(());
        };
        let at = Place { term: u16::try_from(position).unwrap_or(u16::MAX), depth: 0 };
        let whom = self.resolve(rows, given, &matched.is, at)?;
        let named = (&*matched.name, matched.kind);
        let tag = given.words.name(&hash(rows, given.tenant), named.0, named.1)?.tag;
        // What somebody is called is known where it was said; an address belongs to one everywhere.
        let domain = match (matched.kind, given.scopes.first()) {
            (EntityKind::Person | EntityKind::Animal | EntityKind::Thing, Some(scope)) => *scope,
            _ => TENANT_WIDE,
        };
        let confidence = matched.confidence.min(CERTAIN);
        let bearer = BearerRow { confidence, ..whom };
        bear(rows, given.tenant, (domain, tag), bearer)?;
        let used = NameUse { domain, name: tag, entity: whom.id };
        note_use(rows, given, used, at, whom.kind);
        Ok(())
    }
}

/// Who is meant by a name; made if nobody is.
fn named(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    (name, kind): (&str, EntityKind),
    at: Place,
) -> Result<BearerRow, ViewError> {
    let NameIs { tag, is_full, is_sought } =
        given.words.name(&hash(rows, given.tenant), name, kind)?;
    let here = given.scopes.first().copied().unwrap_or(TENANT_WIDE);
    let own = if is_personal(kind) && !is_full { here } else { TENANT_WIDE };
    let found = look(rows, given.tenant, (here, &tag), (kind, is_full))?;
    let is_known = found.is_some();
    let (domain, bearer) = match found {
        Some(Found { mut domain, mut bearer }) => {
            if bearer.kind == EntityKind::Thing && is_specific(kind) {
                learn_kind(rows, given.tenant, bearer.id, kind)?;
                bearer.kind = kind;
            }
            // What is no person after all is known throughout the tenant from now on.
            if own == TENANT_WIDE && domain != own && is_specific(kind) {
                bear(rows, given.tenant, (own, tag), bearer)?;
                domain = own;
            }
            (domain, bearer)
        }
        None => {
            let guess = given.answer.matches.iter().find(|one| !one.stated && one.name == name);
            let bearer = match guess {
                Some(guess) => meant_by(rows, given, guess)?,
                None => None,
            };
            let bearer = match bearer {
                Some(bearer) => bearer,
                None => make(rows, given, kind, is_full, at),
            };
            bear(rows, given.tenant, (own, tag), bearer)?;
            (own, bearer)
        }
    };
    note_use(rows, given, NameUse { domain, name: tag, entity: bearer.id }, at, kind);
    if is_sought && bearer.confidence == CERTAIN {
        let pointer = Pointer { answer: given.offset, term: at.term };
        let sought = Sought { name, kind, is_full, tag, is_known };
        seek(rows, given, &sought, (here, pointer))?;
    }
    Ok(bearer)
}

/// Whoever bears the name that another one stands for.
fn meant_by(
    rows: &mut Rows<'_, '_>,
    given: &Given<'_>,
    guess: &Match,
) -> Result<Option<BearerRow>, ViewError> {
    let here = given.scopes.first().copied().unwrap_or(TENANT_WIDE);
    let found = match &guess.is {
        Term::Named { name, kind } => {
            let NameIs { tag, is_full, .. } =
                given.words.name(&hash(rows, given.tenant), name, *kind)?;
            look(rows, given.tenant, (here, &tag), (*kind, is_full))?.map(|found| found.bearer)
        }
        Term::Actor(actor) => {
            let tag = given.words.actor(&hash(rows, given.tenant), actor)?;
            first_bearer(rows, given.tenant, TENANT_WIDE, &tag)?
        }
        Term::Of { .. } => None,
    };
    let Some(bearer) = found else { return Ok(None) };
    let is_full = |rows: &Rows<'_, '_>, name: &str| -> Result<bool, ViewError> {
        Ok(given.words.name(&hash(rows, given.tenant), name, guess.kind)?.is_full)
    };
    if is_full(rows, &guess.name)?
        && let Some(mut row) = entity_row(rows, given.tenant, bearer.id)?
    {
        // Somebody else's full name was heard since this was guessed from a first name.
        let first = match &guess.is {
            Term::Named { name, .. } => !is_full(rows, name)?,
            Term::Actor(_) | Term::Of { .. } => false,
        };
        if first && row.is_full {
            return Ok(None);
        }
        row.is_full = true;
        rows.put(Space::Records, key::entity(given.tenant, bearer.id), row.encode());
    }
    let confidence = guess.confidence.min(CERTAIN).min(bearer.confidence);
    Ok(Some(BearerRow { confidence, ..bearer }))
}

/// Whoever is called so: in the scope, or everywhere. What is certain is found by one look.
fn look(
    rows: &Rows<'_, '_>,
    tenant: u32,
    (here, tag): (u64, &Tag),
    (kind, is_full): (EntityKind, bool),
) -> Result<Option<Found>, ViewError> {
    let order = match is_personal(kind) && !is_full {
        true => [here, TENANT_WIDE],
        false => [TENANT_WIDE, here],
    };
    let mut all: Vec<Found> = Vec::new();
    let mut best = None;
    for domain in order {
        let here = bearers(rows, tenant, domain, tag)?;
        all.extend(here.into_iter().map(|bearer| Found { domain, bearer }));
        let known: Vec<Bearer> = all
            .iter()
            .map(|Found { domain, bearer }| Bearer {
                id: bearer.id,
                kind: bearer.kind,
                here: *domain != TENANT_WIDE,
            })
            .collect();
        best = meant(kind, &known).and_then(|at| all.get(at)).copied();
        if best.is_some_and(|found| is_full || found.bearer.kind != EntityKind::Thing) {
            break;
        }
    }
    Ok(best)
}

/// What has one bearer only: an actor, or somebody's something.
enum Owned {
    /// It is known by this tag.
    Known(BearerRow),
    /// It is known by another one.
    Elsewhere(BearerRow),
    /// Nobody has spoken of it.
    New,
}

fn owned(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    found: Owned,
    (tag, kind): (Tag, EntityKind),
    at: Place,
) -> Result<BearerRow, ViewError> {
    let bearer = match found {
        Owned::Known(bearer) => bearer,
        other => {
            let bearer = match other {
                Owned::Elsewhere(bearer) => bearer,
                _ => make(rows, given, kind, false, at),
            };
            bear(rows, given.tenant, (TENANT_WIDE, tag), bearer)?;
            bearer
        }
    };
    let used = NameUse { domain: TENANT_WIDE, name: tag, entity: bearer.id };
    note_use(rows, given, used, at, kind);
    Ok(bearer)
}

/// What is known as somebody's who is one with the owner.
fn of_group(
    rows: &Rows<'_, '_>,
    tenant: u32,
    owner: &BearerRow,
    relation: &Tag,
) -> Result<Owned, ViewError> {
    for other in merge::group(rows, tenant, owner.home)? {
        let tag = of(rows, tenant, other, relation)?;
        if let Some(bearer) = first_bearer(rows, tenant, TENANT_WIDE, &tag)? {
            return Ok(Owned::Elsewhere(bearer));
        }
    }
    Ok(Owned::New)
}

fn of(rows: &Rows<'_, '_>, tenant: u32, owner: EntityId, relation: &Tag) -> Result<Tag, ViewError> {
    rows.tag(tenant, OF, &[owner.as_bytes(), relation])
}

/// Somebody new.
fn make(
    rows: &mut Rows<'_, '_>,
    given: &Given<'_>,
    kind: EntityKind,
    is_full: bool,
    Place { term, depth }: Place,
) -> BearerRow {
    // An owner and what is theirs stand in one term and are two.
    let place = u64::from(term) | u64::from(depth) << 16;
    let id = EntityId::mint(given.row.recorded.0, entropy(&given.row.seed, 5, place));
    let names = Vec::new();
    let row = EntityRow { kind, answer: given.offset, term, depth, is_full, names };
    rows.put(Space::Records, key::entity(given.tenant, id), row.encode());
    BearerRow { id, home: id, kind, confidence: CERTAIN }
}

/// Somebody bears a name. The one who was said to last is the first who is meant.
fn bear(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    (domain, tag): (u64, Tag),
    bearer: BearerRow,
) -> Result<(), ViewError> {
    let mut all = bearers(rows, tenant, domain, &tag)?;
    if all.iter().any(|known| known.id == bearer.id) {
        return Ok(());
    }
    all.insert(0, bearer);
    rows.put(Space::Sources, key::alias(tenant, domain, &tag), put_bearers(&all));
    if let Some(mut row) = entity_row(rows, tenant, bearer.id)?
        && !row.names.contains(&(domain, tag))
    {
        row.names.push((domain, tag));
        rows.put(Space::Records, key::entity(tenant, bearer.id), row.encode());
    }
    Ok(())
}

fn note_use(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    used: NameUse,
    Place { term, depth }: Place,
    kind: EntityKind,
) {
    if given.row.names.contains(&used) {
        return;
    }
    let NameUse { domain, name, entity } = used;
    let row = key::name_used(given.tenant, domain, &name, entity, given.offset);
    rows.put(Space::Sources, row, UseRow { term, depth, kind }.encode());
    given.row.names.push(used);
}

/// A name that others may write differently.
struct Sought<'a> {
    name: &'a str,
    kind: EntityKind,
    is_full: bool,
    tag: Tag,
    is_known: bool,
}

/// Keeps the keys by which a name is sought where somebody may have written another one. A name that
/// is the same throughout the tenant has them from its beginning; one that may be a person's in each
/// scope in which it is said.
fn seek(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    &Sought { name, kind, is_full, tag, is_known }: &Sought<'_>,
    (here, pointer): (u64, Pointer),
) -> Result<(), ViewError> {
    let tenant = given.tenant;
    let personal = is_personal(kind);
    let domain = if personal { here } else { TENANT_WIDE };
    if kind == EntityKind::Identifier || personal && !is_full || !personal && is_known {
        return Ok(());
    }
    let sought = key::sought(tenant, domain, &tag);
    if rows.get(Space::Sources, &sought)?.is_some() {
        return Ok(());
    }
    let Near { near, parts } = given.words.near(&hash(rows, tenant), name, kind)?;
    for near in &near {
        rows.put(Space::Sources, key::near(tenant, domain, near, &tag), pointer.encode());
    }
    for part in &parts {
        rows.put(Space::Sources, key::part(tenant, domain, part, &tag), pointer.encode());
    }
    let row = SoughtRow { answer: given.offset, near, parts };
    rows.put(Space::Sources, sought, row.encode());
    given.row.sought.push((domain, tag));
    Ok(())
}

/// It is known now what somebody or something is.
fn learn_kind(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    id: EntityId,
    kind: EntityKind,
) -> Result<(), ViewError> {
    let Some(mut row) = entity_row(rows, tenant, id)? else { return Ok(()) };
    row.kind = kind;
    rows.put(Space::Records, key::entity(tenant, id), row.encode());
    each_name(rows, tenant, &row, |bearer| {
        if bearer.id == id {
            bearer.kind = kind;
        }
    })
}

/// Changes who bears the names of an entity.
fn each_name(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    row: &EntityRow,
    change: impl Fn(&mut BearerRow),
) -> Result<(), ViewError> {
    for (domain, tag) in &row.names {
        let mut all = bearers(rows, tenant, *domain, tag)?;
        all.iter_mut().for_each(&change);
        rows.put(Space::Sources, key::alias(tenant, *domain, tag), put_bearers(&all));
    }
    Ok(())
}

fn bearers(
    rows: &Rows<'_, '_>,
    tenant: u32,
    domain: u64,
    tag: &Tag,
) -> Result<Vec<BearerRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::alias(tenant, domain, tag))?;
    let read = bytes.map(|bytes| read_bearers(&bytes)).transpose();
    Ok(read.map_err(row_error(Space::Sources))?.unwrap_or_default())
}

fn first_bearer(
    rows: &Rows<'_, '_>,
    tenant: u32,
    domain: u64,
    tag: &Tag,
) -> Result<Option<BearerRow>, ViewError> {
    Ok(bearers(rows, tenant, domain, tag)?.first().copied())
}

pub(super) fn entity_row(
    rows: &Rows<'_, '_>,
    tenant: u32,
    id: EntityId,
) -> Result<Option<EntityRow>, ViewError> {
    let bytes = rows.get(Space::Records, &key::entity(tenant, id))?;
    bytes.map(|bytes| EntityRow::decode(&bytes)).transpose().map_err(row_error(Space::Records))
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

/// Whether it may be somebody: then one word is not enough to be known by everywhere.
pub(crate) fn is_personal(kind: EntityKind) -> bool {
    matches!(kind, EntityKind::Person | EntityKind::Animal | EntityKind::Thing)
}

fn is_specific(kind: EntityKind) -> bool {
    !matches!(kind, EntityKind::Thing | EntityKind::Identifier)
}

/// Whether it is written as a name: "the report" is nobody's other spelling.
pub(crate) fn is_proper(name: &str) -> bool {
    name.split_whitespace().any(|word| word.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests;
