//! The keys of the understanding layer. `Records` holds concepts and their versions, `Sources` what is
//! counted. Kinds from 40 on are this layer's.

use lamina_core::derive::concepts::{Direction, Item, Relation};
use lamina_core::derive::facts::AssertionId;
use lamina_store::view::Tag;
use lamina_types::{ConceptId, EpisodeId, RecordedAt};

use crate::derive::key::Key;

mod records {
    pub(super) const CONCEPT: u8 = 40;
    pub(super) const VERSION: u8 = 41;
    pub(super) const VERSION_ID: u8 = 42;
    pub(super) const LISTED: u8 = 43;
    pub(super) const JOB: u8 = 44;
}

mod sources {
    pub(super) const THINGS: u8 = 40;
    pub(super) const DIGEST: u8 = 41;
    pub(super) const ITEM: u8 = 42;
    pub(super) const ITEM_EPISODE: u8 = 43;
    pub(super) const LINK: u8 = 46;
    pub(super) const MEMBER: u8 = 47;
    pub(super) const COUNTED: u8 = 48;
    pub(super) const ITEMS: u8 = 49;
    pub(super) const NUMBERED: u8 = 50;
    pub(super) const BLOCK: u8 = 51;
}

/// Kinds whose keys begin with an id, and with the offset of an entry.
pub(crate) const SHOWN_BY_ID: [u8; 3] = [records::CONCEPT, records::VERSION, records::VERSION_ID];
pub(crate) const MADE_BY_ENTRY: [u8; 1] = [sources::THINGS];
/// Kinds whose keys begin with a scope.
pub(crate) const SHOWN_IN_SCOPE: [u8; 1] = [records::LISTED];
pub(crate) const MADE_IN_SCOPE: [u8; 9] = [
    sources::DIGEST,
    sources::ITEM,
    sources::ITEM_EPISODE,
    sources::LINK,
    sources::MEMBER,
    sources::COUNTED,
    sources::ITEMS,
    sources::NUMBERED,
    sources::BLOCK,
];

/// A concept as it is now.
pub(crate) fn concept(tenant: u32, id: ConceptId) -> Vec<u8> {
    Key::of(tenant, records::CONCEPT).bytes(id.as_bytes()).0
}

/// One version of a concept.
pub(crate) fn version(tenant: u32, id: ConceptId, version: u32) -> Vec<u8> {
    Key::of(tenant, records::VERSION).bytes(id.as_bytes()).bytes(&version.to_be_bytes()).0
}

/// The version that an id of its own stands for.
pub(crate) fn version_id(tenant: u32, id: ConceptId) -> Vec<u8> {
    Key::of(tenant, records::VERSION_ID).bytes(id.as_bytes()).0
}

/// The concepts of a scope, in the order in which they came to be.
pub(crate) fn listed(tenant: u32, scope: u64, created: RecordedAt, id: ConceptId) -> Vec<u8> {
    Key::of(tenant, records::LISTED).number(scope).instant(created.0.0).bytes(id.as_bytes()).0
}

/// Where those of an instant begin.
pub(crate) fn listed_at(tenant: u32, scope: u64, created: RecordedAt) -> Vec<u8> {
    Key::of(tenant, records::LISTED).number(scope).instant(created.0.0).0
}

/// The bounds of [`listed`] for one scope.
pub(crate) fn all_listed(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::LISTED).number(scope).all()
}

/// The job that was asked for under an idempotency key.
pub(crate) fn job(tenant: u32, key: &Tag) -> Vec<u8> {
    Key::of(tenant, records::JOB).bytes(key).0
}

/// What an answer speaks of.
pub(crate) fn things(tenant: u32, answer: u64) -> Vec<u8> {
    Key::of(tenant, sources::THINGS).number(answer).0
}

/// What a sealed episode contributes to a scope.
pub(crate) fn digest(tenant: u32, scope: u64, episode: EpisodeId) -> Vec<u8> {
    Key::of(tenant, sources::DIGEST).number(scope).bytes(episode.as_bytes()).0
}

/// How often something occurs.
pub(crate) fn item(tenant: u32, scope: u64, item: Item) -> Vec<u8> {
    Key::of(tenant, sources::ITEM).number(scope).item(item).0
}

/// How many things a scope has come to know.
pub(crate) fn items(tenant: u32, scope: u64) -> Vec<u8> {
    Key::of(tenant, sources::ITEMS).number(scope).0
}

/// An episode that something occurs in, by when it was sealed.
pub(crate) fn item_episode(
    tenant: u32,
    scope: u64,
    item: Item,
    at: RecordedAt,
    episode: EpisodeId,
) -> Vec<u8> {
    let key = Key::of(tenant, sources::ITEM_EPISODE).number(scope).item(item);
    key.instant(at.0.0).bytes(episode.as_bytes()).0
}

/// The bounds of [`item_episode`] for one thing.
pub(crate) fn item_episodes(tenant: u32, scope: u64, item: Item) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::ITEM_EPISODE).number(scope).item(item).all()
}

/// The thing that a scope gave a number.
pub(crate) fn numbered(tenant: u32, scope: u64, number: u32) -> Vec<u8> {
    Key::of(tenant, sources::NUMBERED).number(scope).bytes(&number.to_be_bytes()).0
}

/// What the thing of a number occurs with, of those whose numbers are in a block.
pub(crate) fn block(tenant: u32, scope: u64, number: u32, block: u32) -> Vec<u8> {
    let key = Key::of(tenant, sources::BLOCK).number(scope).bytes(&number.to_be_bytes());
    key.bytes(&block.to_be_bytes()).0
}

/// How many facts lead from one thing to another.
pub(crate) fn link(
    tenant: u32,
    scope: u64,
    item: Item,
    way: Direction,
    relation: Relation,
    other: Item,
) -> Vec<u8> {
    let key = Key::of(tenant, sources::LINK).number(scope).item(item);
    let way = match way {
        Direction::From => 0,
        Direction::To => 1,
    };
    let (number, custom) = relation_bytes(relation);
    key.bytes(&[way, number]).bytes(&custom).item(other).0
}

/// The bounds of [`link`] for one thing.
pub(crate) fn links(tenant: u32, scope: u64, item: Item) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::LINK).number(scope).item(item).all()
}

/// The concept that something belongs to, or belonged to last.
pub(crate) fn member(tenant: u32, scope: u64, item: Item) -> Vec<u8> {
    Key::of(tenant, sources::MEMBER).number(scope).item(item).0
}

/// A fact that is counted, by the track it is on and where it was said.
pub(crate) fn counted(tenant: u32, scope: u64, track: &Tag, at: AssertionId) -> Vec<u8> {
    let key = Key::of(tenant, sources::COUNTED).number(scope).bytes(track).number(at.offset);
    key.bytes(&at.ordinal.to_be_bytes()).0
}

/// The bounds of [`counted`] for one track.
pub(crate) fn all_counted(tenant: u32, scope: u64, track: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::COUNTED).number(scope).bytes(track).all()
}

/// Which way, how, and to what, at the end of a [`link`] key.
pub(crate) fn tail_link(key: &[u8]) -> Option<(Direction, Relation, Item)> {
    let (rest, item) = key.split_last_chunk::<17>()?;
    let (rest, custom) = rest.split_last_chunk::<16>()?;
    let [way, number] = *rest.last_chunk::<2>()?;
    let way = if way == 0 { Direction::From } else { Direction::To };
    Some((way, relation_of(number, *custom)?, item_of(item)?))
}

/// A thing as bytes: what kind, and which.
pub(crate) fn item_bytes(item: Item) -> [u8; 17] {
    let (kind, id) = match item {
        Item::Entity(id) => (1, *id.as_bytes()),
        Item::Value(tag) => (2, tag),
        Item::Predicate(tag) => (3, tag),
        Item::Label(tag) => (4, tag),
    };
    let mut bytes = [kind; 17];
    bytes[1..].copy_from_slice(&id);
    bytes
}

/// The thing of these bytes.
pub(crate) fn item_of(bytes: &[u8; 17]) -> Option<Item> {
    let [kind, id @ ..] = *bytes;
    match kind {
        1 => Some(Item::Entity(lamina_types::EntityId::from_bytes(id))),
        2 => Some(Item::Value(id)),
        3 => Some(Item::Predicate(id)),
        4 => Some(Item::Label(id)),
        _ => None,
    }
}

/// A relation as bytes: its number, and the hash of a tenant's own.
pub(crate) fn relation_bytes(relation: Relation) -> (u8, [u8; 16]) {
    match relation {
        Relation::Custom(tag) => (CUSTOM, tag),
        other => {
            let number = Relation::DEFAULT.iter().position(|known| *known == other);
            (number.map_or(0, |number| number as u8), [0; 16])
        }
    }
}

const CUSTOM: u8 = 255;

/// The relation of these bytes.
pub(crate) fn relation_of(number: u8, custom: [u8; 16]) -> Option<Relation> {
    match number {
        CUSTOM => Some(Relation::Custom(custom)),
        number => Relation::DEFAULT.get(usize::from(number)).copied(),
    }
}

impl Key {
    fn item(self, item: Item) -> Key {
        self.bytes(&item_bytes(item))
    }
}
