//! The words of an answer as the fold knows them: keyed hashes.
//!
//! While an answer has its words the hashes are made of them. When it is erased, what the fold had used is
//! kept in the residue of the erasure, so that a replay takes the same steps: the answer with its words
//! replaced by their hashes, and what else was read out of a name. Every word that the fold looks at
//! goes through here; there is no other way from a word to a row.

pub(crate) mod declared;
mod kept;

use lamina_core::derive::entities::{NameKey, near_keys};
use lamina_core::derive::opposites::opposite;
use lamina_store::codec::answer::Answer;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError, Views};
use lamina_types::layer::{EntityKind, Object};
use lamina_types::{ActorId, ScopePath};

pub(crate) use kept::Kept;

use super::concepts::rows::ThingsRow;
use super::entities::{ACTOR, NAME, NEAR, PART, fold_name, is_personal, is_proper};
use super::facts::{PREDICATE, VALUE};

/// Makes keyed hashes of words, in a domain.
pub(crate) type Hash<'a> = dyn Fn(&str, &[&[u8]]) -> Result<Tag, ViewError> + 'a;

/// The hashes that a fold makes.
pub(super) fn hash<'a>(
    rows: &'a Rows<'_, '_>,
    tenant: u32,
) -> impl Fn(&str, &[&[u8]]) -> Result<Tag, ViewError> + 'a {
    move |domain, parts| rows.tag(tenant, domain, parts)
}

/// The domains of hashes that nothing else makes.
const RELATION: &str = "derive.relation";
const SESSION: &str = "derive.session";
const SOURCE: &str = "derive.record.source";
const VOCABULARY: &str = "derive.vocabulary.name";

/// Where the hashes of an answer's words come from.
#[derive(Debug)]
pub(super) enum Words {
    /// From the words.
    Said,
    /// From what was kept of them: in their places the answer has what they are known by.
    Kept(Box<Kept>),
}

/// What a name is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameIs {
    pub(crate) tag: Tag,
    /// It is more than a first name.
    pub(crate) is_full: bool,
    /// It is written as a name, and others may write it differently.
    pub(crate) is_sought: bool,
}

/// By what else a name is sought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Near {
    pub(crate) near: Vec<Tag>,
    /// Its first and its last word.
    pub(crate) parts: Vec<Tag>,
}

impl Words {
    /// What a name is known by.
    pub(super) fn name(
        &self,
        hash: &Hash<'_>,
        name: &str,
        kind: EntityKind,
    ) -> Result<NameIs, ViewError> {
        match self {
            Words::Said => name_of(hash, name, kind),
            Words::Kept(kept) => kept.name(name, kind).map(|form| form.is),
        }
    }

    /// By what else it is sought.
    pub(super) fn near(
        &self,
        hash: &Hash<'_>,
        name: &str,
        kind: EntityKind,
    ) -> Result<Near, ViewError> {
        match self {
            Words::Said => near_of(hash, name, kind),
            Words::Kept(kept) => kept.name(name, kind).map(|form| form.near.clone()),
        }
    }

    /// What an actor is known by.
    pub(super) fn actor(&self, hash: &Hash<'_>, actor: &ActorId) -> Result<Tag, ViewError> {
        match self {
            Words::Said => hash(ACTOR, &[actor.as_str().as_bytes()]),
            Words::Kept(_) => kept::tag_of_actor(actor),
        }
    }

    /// What a session is known by.
    pub(super) fn session(&self, hash: &Hash<'_>, session: &str) -> Result<Tag, ViewError> {
        self.plain(hash, SESSION, session)
    }

    /// The hash of the source of a structured record.
    pub(super) fn source(&self, hash: &Hash<'_>, source: &str) -> Result<Tag, ViewError> {
        self.plain(hash, SOURCE, source)
    }

    /// What a vocabulary is known by, wherever it is in force.
    pub(super) fn vocabulary(&self, hash: &Hash<'_>, name: &str) -> Result<Tag, ViewError> {
        self.plain(hash, VOCABULARY, name)
    }

    /// What somebody's something is known by, whoever it belongs to.
    pub(super) fn relation(&self, hash: &Hash<'_>, relation: &str) -> Result<Tag, ViewError> {
        self.plain(hash, RELATION, relation)
    }

    /// What a predicate is known by.
    pub(super) fn predicate(&self, hash: &Hash<'_>, predicate: &str) -> Result<Tag, ViewError> {
        match self {
            Words::Said => hash(PREDICATE, &[predicate.as_bytes()]),
            Words::Kept(_) => kept::tag(kept::predicate(predicate).0),
        }
    }

    /// What the predicate is known by that this one denies.
    pub(super) fn denied(
        &self,
        hash: &Hash<'_>,
        predicate: &str,
    ) -> Result<Option<Tag>, ViewError> {
        match self {
            Words::Said => {
                opposite(predicate).map(|denied| hash(PREDICATE, &[denied.as_bytes()])).transpose()
            }
            Words::Kept(_) => kept::predicate(predicate).1.map(kept::tag).transpose(),
        }
    }

    /// What an object is known by that is no entity; `None` if it says nothing.
    pub(super) fn value(&self, hash: &Hash<'_>, object: &Object) -> Result<Option<Tag>, ViewError> {
        match (self, object) {
            (Words::Said, _) => value_of(hash, object),
            (Words::Kept(_), Object::Text(known)) if !known.is_empty() => {
                kept::tag(known).map(Some)
            }
            (Words::Kept(_), _) => Ok(None),
        }
    }

    /// The ordinal of a scope that the answer names.
    pub(super) fn scope(
        &self,
        rows: &Rows<'_, '_>,
        tenant: u32,
        path: &ScopePath,
    ) -> Result<Option<u64>, ViewError> {
        match self {
            Words::Said => rows.scope_ordinal(tenant, path.as_str()),
            Words::Kept(_) => rows.scope_of_tag(tenant, &kept::tag_of_scope(path)?),
        }
    }

    /// What the answer speaks of.
    pub(super) fn things(&self, hash: &Hash<'_>, answer: &Answer) -> Result<ThingsRow, ViewError> {
        match self {
            Words::Said => super::concepts::things::spoken(hash, answer),
            Words::Kept(kept) => Ok(kept.things.clone()),
        }
    }

    fn plain(&self, hash: &Hash<'_>, domain: &str, word: &str) -> Result<Tag, ViewError> {
        match self {
            Words::Said => hash(domain, &[word.as_bytes()]),
            Words::Kept(_) => kept::tag(word),
        }
    }
}

/// What an object is known by that is no entity, outside the fold.
pub(crate) fn value_outside(
    views: &Views,
    tenant: u32,
    object: &Object,
) -> Result<Option<Tag>, ViewError> {
    value_of(&|domain, parts| views.derived_tag(tenant, domain, parts), object)
}

fn name_of(hash: &Hash<'_>, name: &str, kind: EntityKind) -> Result<NameIs, ViewError> {
    let folded = NameKey::new(name, kind);
    Ok(NameIs {
        tag: hash(NAME, &[fold_name(name, kind).as_bytes()])?,
        is_full: folded.as_ref().is_some_and(NameKey::is_full),
        is_sought: folded.is_some() && is_proper(name),
    })
}

fn near_of(hash: &Hash<'_>, name: &str, kind: EntityKind) -> Result<Near, ViewError> {
    let Some(folded) = NameKey::new(name, kind) else { return Ok(Near::default()) };
    let mut found = Near::default();
    for near in near_keys(&folded) {
        found.near.push(hash(NEAR, &[near.as_bytes()])?);
    }
    if is_personal(kind)
        && let [first, .., last] = folded.words()
    {
        for word in [first, last] {
            found.parts.push(hash(PART, &[word.as_bytes()])?);
        }
    }
    Ok(found)
}

/// What words are known by.
pub(super) fn text_of(hash: &Hash<'_>, words: &str) -> Result<Tag, ViewError> {
    hash(VALUE, &[b"text", words.trim().to_lowercase().as_bytes()])
}

fn value_of(hash: &Hash<'_>, object: &Object) -> Result<Option<Tag>, ViewError> {
    let lower = |words: &str| words.trim().to_lowercase().into_bytes();
    let parts: Vec<Vec<u8>> = match object {
        Object::Entity(_) => return Ok(None),
        Object::Text(words) if words.trim().is_empty() => return Ok(None),
        Object::Text(words) => return text_of(hash, words).map(Some),
        Object::Number { value, unit } => {
            vec![b"number".to_vec(), lower(value), lower(unit.as_deref().unwrap_or(""))]
        }
        Object::Money { amount, currency } => {
            vec![b"money".to_vec(), lower(amount), lower(currency)]
        }
        Object::Date(date) => vec![b"date".to_vec(), lower(date)],
        Object::Bool(yes) => vec![b"bool".to_vec(), vec![u8::from(*yes)]],
    };
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    hash(VALUE, &parts).map(Some)
}
