//! Vocabularies: where the newest of each name is, and which are in force where words are read.
//!
//! The fold keeps places and keyed hashes of names only. What is in force is whole and in memory: a
//! predicate gets its name in a vocabulary before the answer is appended, and never again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::vocabulary::{self, Lexicon, Mapping};
use lamina_store::codec::answer::Mapped;
use lamina_store::codec::control::{Left, VocabularySet};
use lamina_store::entry::{Entry, Place};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError, Views};
use lamina_types::layer::{Effect, Extraction, Object};
use lamina_types::vocabulary::{Vocabulary, VocabularyTerm};
use lamina_types::{RecordedAt, ScopePath};

use crate::derive::beliefs::renamed::{Change, renamed};
use crate::derive::fold::{row_error, section};
use crate::derive::key;
use crate::derive::read::walk;
use crate::derive::words::{Words, hash};

/// A vocabulary in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularyRecord {
    /// What it says.
    pub vocabulary: Vocabulary,
    /// How often it was set.
    pub version: u64,
    /// When it was first set.
    pub created: RecordedAt,
    /// When it was last set.
    pub updated: RecordedAt,
    /// Its entry.
    pub offset: u64,
}

/// The vocabularies of one tenant.
#[derive(Debug, Clone, Default)]
pub struct Vocabularies {
    /// By name and place. A name is taken where it is in force and nowhere else: whether it is used in a
    /// scope that one may not read cannot be found out by using it.
    records: BTreeMap<(String, Option<ScopePath>), Arc<VocabularyRecord>>,
    /// Their predicates, folded; by where they are in force, the innermost first.
    lexicons: Vec<(Option<ScopePath>, Arc<Lexicon>)>,
}

impl Vocabularies {
    /// The one of a name in a place: a scope, or the whole tenant.
    pub fn get(&self, name: &str, place: Option<&ScopePath>) -> Option<&Arc<VocabularyRecord>> {
        self.records.get(&(name.to_owned(), place.cloned()))
    }

    /// All of a name: the whole tenant's first, then by path.
    pub fn named(&self, name: &str) -> impl Iterator<Item = &Arc<VocabularyRecord>> {
        self.records.values().filter(move |record| record.vocabulary.name == name)
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<VocabularyRecord>> {
        self.records.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The relations that vocabularies add in a scope, each with the name of its vocabulary.
    pub fn relations(&self, scope: &ScopePath) -> Vec<(&str, &str)> {
        let here = self.records.values().filter(|record| is_in_force(&record.vocabulary, scope));
        here.flat_map(|record| {
            let vocabulary = &record.vocabulary;
            let terms = vocabulary.of_relations().filter(|term| term.active);
            terms.map(|term| (vocabulary.name.as_str(), term.id.as_str()))
        })
        .collect()
    }

    /// Takes the vocabulary that an entry sets.
    pub(crate) fn take(&mut self, entry: &Entry) {
        let set = entry.what.live().and_then(|bytes| VocabularySet::decode(bytes).ok());
        let Some(VocabularySet { vocabulary, version, created, .. }) = set else { return };
        // One that moves to another place leaves the one it was in.
        self.records.retain(|_, record| !entry.head.causes.contains(&record.offset));
        let updated = entry.head.recorded_at;
        let record = VocabularyRecord {
            vocabulary,
            version,
            created: created.unwrap_or(updated),
            updated,
            offset: entry.head.offset,
        };
        let at = (record.vocabulary.name.clone(), record.vocabulary.scope.clone());
        self.records.insert(at, Arc::new(record));
        self.fold_names();
    }

    /// The words of entries were erased.
    pub(crate) fn erase(&mut self, offsets: &[u64]) {
        let before = self.records.len();
        self.records.retain(|_, record| !offsets.contains(&record.offset));
        if self.records.len() != before {
            self.fold_names();
        }
    }

    fn fold_names(&mut self) {
        let known: Vec<(Option<ScopePath>, Arc<Lexicon>)> = self
            .records
            .values()
            .filter(|record| named(&record.vocabulary).next().is_some())
            .map(|record| {
                let lexicon = Lexicon::new(folded(&record.vocabulary));
                (record.vocabulary.scope.clone(), Arc::new(lexicon))
            })
            .collect();
        self.lexicons = known;
        // Stable: vocabularies of the same scope stay in the order of their names.
        self.lexicons.sort_by_key(|(scope, _)| {
            std::cmp::Reverse(scope.as_ref().map_or(0, |scope| scope.segments().count()))
        });
    }

    /// Gives the predicates of claims the names they have in the vocabularies of a scope; and which of
    /// them are relations between concepts.
    pub(crate) fn name(
        &self,
        scope: &ScopePath,
        extraction: &mut Extraction,
    ) -> (Vec<Mapped>, Vec<u16>) {
        let mut mapped = Vec::new();
        if self.lexicons.is_empty() {
            return (mapped, Vec::new());
        }
        for (position, claim) in extraction.claims.iter_mut().enumerate() {
            let Ok(position) = u16::try_from(position) else { break };
            let nothing = matches!(&claim.object, Object::Text(text) if text.trim().is_empty());
            let object = (claim.effect != Effect::Ends || !nothing).then_some(&claim.object);
            let here = self.lexicons.iter();
            let here = here.filter(|(at, _)| at.as_ref().is_none_or(|at| at.contains(scope)));
            let here = here.map(|(_, lexicon)| &**lexicon);
            let Mapping::Mapped { vocabulary, term, value, confidence, .. } =
                vocabulary::map(&claim.predicate, object, here)
            else {
                continue;
            };
            let original = match (value, &claim.object) {
                (Some(value), Object::Text(text)) if value != text => Some(text.clone()),
                _ => None,
            };
            let predicate = std::mem::replace(&mut claim.predicate, term.id.clone());
            if let (Some(value), Some(_)) = (value, &original) {
                claim.object = Object::Text(value.to_owned());
            }
            let built_in = || lamina_models::cardinality(&term.id);
            claim.cardinality = term.cardinality.or(claim.cardinality).or_else(built_in);
            mapped.push(Mapped {
                claim: position,
                confidence: confidence.get(),
                vocabulary: vocabulary.to_owned(),
                predicate,
                object: original,
            });
        }
        let known = self.relations(scope);
        let is_relation = |mapped: &Mapped| {
            let claim = extraction.claims.get(usize::from(mapped.claim));
            claim.is_some_and(|claim| {
                known.contains(&(mapped.vocabulary.as_str(), claim.predicate.as_str()))
            })
        };
        let relations = mapped.iter().filter(|mapped| is_relation(mapped));
        let relations = relations.map(|mapped| mapped.claim).collect();
        (mapped, relations)
    }
}

fn is_in_force(vocabulary: &Vocabulary, scope: &ScopePath) -> bool {
    vocabulary.scope.as_ref().is_none_or(|at| at.contains(scope))
}

/// The terms that a predicate can be mapped to: predicates, and relations between concepts.
fn named(vocabulary: &Vocabulary) -> impl Iterator<Item = &VocabularyTerm> {
    vocabulary.of_predicates().chain(vocabulary.of_relations())
}

/// The predicates of a vocabulary. What a term that is not in use any more was called belongs to the
/// term that came in its place.
fn folded(vocabulary: &Vocabulary) -> vocabulary::Vocabulary {
    let of = || named(vocabulary);
    let term = |term: &VocabularyTerm| {
        let replaced = of().filter(|old| !old.active && old.replaced_by.as_ref() == Some(&term.id));
        let old = replaced
            .flat_map(|old| [&old.id].into_iter().chain(&old.label).chain(&old.aliases).cloned());
        vocabulary::Term {
            id: term.id.clone(),
            label: term.label.clone(),
            synonyms: term.aliases.iter().cloned().chain(old).collect(),
            datatype: term.datatype,
            values: term.values.clone(),
            cardinality: term.cardinality,
        }
    };
    let terms = of().filter(|term| term.active).map(term).collect();
    vocabulary::Vocabulary { name: vocabulary.name.clone(), terms }
}

/// Notes where the newest vocabulary of a name and a place is. An entry whose words are gone cannot say what it was
/// about, but it names the one it replaced: in the end neither is in force.
pub(super) fn set(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let tenant = entry.head.tenant;
    for replaced in &entry.head.causes {
        drop_at(rows, tenant, *replaced)?;
    }
    let Some(set) = section(entry, &entry.what, VocabularySet::decode)? else { return Ok(()) };
    let place = set.vocabulary.scope.as_ref().map_or("", ScopePath::as_str);
    let parts = [set.vocabulary.name.as_bytes(), place.as_bytes()];
    let name: Tag = rows.tag(tenant, "derive.vocabulary", &parts)?;
    let mut row = entry.head.offset.to_be_bytes().to_vec();
    row.extend_from_slice(&entry.place.0.to_be_bytes());
    rows.put(Space::Sources, key::vocabulary(tenant, &name), row);
    rows.put(Space::Sources, key::vocabulary_at(tenant, entry.head.offset), name.to_vec());
    changed(rows, entry, &set)
}

/// Lets beliefs follow the terms that a vocabulary does not have any more, and those that it has again.
fn changed(rows: &mut Rows<'_, '_>, entry: &Entry, set: &VocabularySet) -> Result<(), ViewError> {
    let (tenant, at) = (entry.head.tenant, entry.head.recorded_at);
    let vocabulary = Words::Said.vocabulary(&hash(rows, tenant), &set.vocabulary.name)?;
    let withdrawn = set.withdrawn.iter().map(|term| (term, Piece::Renamed { at }));
    let returned = set.returned.iter().map(|term| (term, Piece::Returned { at }));
    let mut changes = Vec::new();
    for (term, piece) in withdrawn.chain(returned) {
        let predicate = Words::Said.predicate(&hash(rows, tenant), term)?;
        changes.push(Change { vocabulary, predicate, piece });
    }
    let here = set.vocabulary.scope.as_ref();
    let is_about = |rows: &Rows<'_, '_>, change: &Change, scope: u64| {
        let within = |place: Option<&ScopePath>| match place {
            Some(place) => rows.scope_is_within(tenant, scope, place.as_str()),
            None => Ok(true),
        };
        match (&change.piece, &set.left) {
            (Piece::Renamed { .. }, Some(left)) => {
                let left = match left {
                    Left::Tenant => None,
                    Left::Scope(place) => Some(place),
                };
                Ok(within(left)? && !within(here)?)
            }
            _ => within(here),
        }
    };
    renamed(rows, (tenant, entry.head.offset), &changes, &is_about)
}

/// What a change of a vocabulary means for what was said under its terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Difference {
    /// Terms that are gone, or mean something else: another number of values at a time, or another kind.
    pub(crate) withdrawn: Vec<String>,
    /// Terms that are there again.
    pub(crate) returned: Vec<String>,
    /// Where it was in force, if that is somewhere else now.
    pub(crate) left: Option<Left>,
}

impl Vocabularies {
    /// What it means that one vocabulary comes in the place of another.
    pub(crate) fn difference(&self, before: &VocabularyRecord, now: &Vocabulary) -> Difference {
        let old = &before.vocabulary;
        let mut difference = Difference::default();
        if old.scope != now.scope {
            let left = old.scope.clone().map_or(Left::Tenant, Left::Scope);
            difference.left = Some(left);
        }
        let moved = difference.left.is_some();
        let others = || self.records.values().filter(|record| record.offset != before.offset);
        for term in named(old).filter(|term| term.active) {
            // Another vocabulary that is in force in all of its place has the same term.
            let is_had = others().any(|record| {
                let place = &record.vocabulary.scope;
                let reaches = place.as_ref().is_none_or(|place| {
                    old.scope.as_ref().is_some_and(|scope| place.contains(scope))
                });
                reaches && means(&record.vocabulary, term)
            });
            if (moved || !means(now, term)) && !is_had {
                difference.withdrawn.push(term.id.clone());
            }
        }
        for term in named(now).filter(|term| term.active) {
            if moved || !named(old).any(|known| known.active && known.id == term.id) {
                difference.returned.push(term.id.clone());
            }
        }
        difference
    }
}

/// Whether a vocabulary has a term and means the same by it.
fn means(vocabulary: &Vocabulary, term: &VocabularyTerm) -> bool {
    named(vocabulary).any(|known| {
        known.active
            && known.id == term.id
            && known.cardinality == term.cardinality
            && known.datatype == term.datatype
    })
}

/// How many answers say something under terms of a vocabulary, at most `max`.
pub(crate) fn answers_under(
    views: &Views,
    (tenant, name): (u32, &str),
    terms: &[String],
    max: usize,
) -> Result<usize, ViewError> {
    let hash = |domain: &str, parts: &[&[u8]]| views.derived_tag(tenant, domain, parts);
    let vocabulary = Words::Said.vocabulary(&hash, name)?;
    let mut count = 0;
    for term in terms {
        let predicate = Words::Said.predicate(&hash, term)?;
        let (from, to) = key::beliefs::all_termed(tenant, &vocabulary, &predicate);
        walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |_, _| {
            count += 1;
            if count < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    Ok(count)
}

/// Takes a vocabulary back, unless a later entry has set it again.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, tenant: u32, offset: u64) -> Result<(), ViewError> {
    let at = key::vocabulary_at(tenant, offset);
    let Some(name) = rows.get(Space::Sources, &at)? else { return Ok(()) };
    rows.delete(Space::Sources, at);
    let Ok(name) = Tag::try_from(name.as_slice()) else { return Ok(()) };
    let newest = key::vocabulary(tenant, &name);
    let row = rows.get(Space::Sources, &newest)?;
    if row.is_some_and(|row| row.starts_with(&offset.to_be_bytes())) {
        rows.delete(Space::Sources, newest);
    }
    Ok(())
}

/// Where the vocabularies of a tenant are.
pub(crate) fn places(views: &Views, tenant: u32) -> Result<Vec<(u64, Place)>, ViewError> {
    let (from, to) = key::vocabularies(tenant);
    let mut places = Vec::new();
    let mut broken = false;
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |_, value| {
        let read = || {
            let (offset, place) = value.split_first_chunk::<8>()?;
            let place = u64::from_be_bytes(place.try_into().ok()?);
            Some((u64::from_be_bytes(*offset), Place(place)))
        };
        match read() {
            Some(found) => places.push(found),
            None => broken = true,
        }
        ControlFlow::Continue(())
    })?;
    if broken {
        return Err(row_error(Space::Sources)(lamina_store::codec::CodecError::Truncated));
    }
    Ok(places)
}

#[cfg(test)]
mod tests;
