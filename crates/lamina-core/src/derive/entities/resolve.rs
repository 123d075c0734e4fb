//! Which known entity a mention means, if any, and how sure that is.

use std::collections::BTreeSet;

use lamina_types::EntityId;
use lamina_types::layer::extraction::{Confidence, EntityKind};

use super::{NameKey, agree};
use crate::derive::naming::slips;

/// A name that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mentioned {
    /// Folded.
    pub name: NameKey,
    /// What it seems to be.
    pub kind: EntityKind,
}

/// An entity that it could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its id, after forwarding.
    pub id: EntityId,
    /// What it is.
    pub kind: EntityKind,
    /// Every name it was called by.
    pub names: Vec<NameKey>,
    /// How near it was mentioned.
    pub nearness: Nearness,
}

/// Where an entity was mentioned before, as seen from the new mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Nearness {
    /// Somewhere in the tenant.
    Tenant = 0,
    /// In the same scope.
    Scope = 1,
    /// In the same session.
    Session = 2,
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// It is this one.
    Existing {
        /// Which.
        id: EntityId,
        /// How sure that is.
        confidence: Confidence,
        /// Why.
        how: How,
    },
    /// It is somebody or something new. Those that it could as well have been, in ascending order.
    New {
        /// More than one: no reason to prefer any.
        ambiguous: Vec<EntityId>,
    },
}

/// Why a mention means a known entity. In the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum How {
    /// It was called exactly so.
    Name = 0,
    /// A first or last name, an initial, or a full name for what was known by a part of it.
    PartOfName = 1,
    /// Nearly the same letters.
    NearSpelling = 2,
    /// It is known as somebody's.
    Possession = 3,
    /// What is going on with whoever bears the name: "the Acme deal".
    Affair = 4,
}

/// What is less sure than this is a guess that nobody wants, in ten-thousandths.
pub const FLOOR: u16 = 5_000;

/// A candidate and what speaks for it.
#[derive(Debug, Clone, Copy)]
struct Match {
    id: EntityId,
    nearness: Nearness,
    confidence: u16,
}

/// How sure it is, in ten-thousandths, that a mention means a known entity; for one reason.
type Matching = fn(&Mentioned, &Known) -> Option<u16>;

/// Decides. The order of the candidates does not matter.
pub fn resolve(mentioned: &Mentioned, candidates: &[Known]) -> Resolution {
    let mut ambiguous = BTreeSet::new();
    let tiers: [(How, Matching); 4] = [
        (How::Name, by_name),
        (How::PartOfName, by_part),
        (How::Affair, by_affair),
        (How::NearSpelling, by_spelling),
    ];
    for (how, matching) in tiers {
        let matches: Vec<Match> = candidates
            .iter()
            .filter(|known| agree(mentioned.kind, known.kind))
            .filter_map(|known| {
                let confidence = matching(mentioned, known).filter(|sure| *sure >= FLOOR)?;
                Some(Match { id: known.id, nearness: known.nearness, confidence })
            })
            .collect();
        let best = match how {
            // The same name twice: the nearer one is meant.
            How::Name => nearest(&matches),
            // A part of a name is evidence only if nobody else who was spoken of has it.
            How::PartOfName if !mentioned.name.is_full() => spoken_of(&matches),
            How::PartOfName | How::Affair | How::Possession => matches.clone(),
            How::NearSpelling => surest(&matches),
        };
        let ids: BTreeSet<EntityId> = best.iter().map(|found| found.id).collect();
        match (ids.len(), best.first()) {
            (1, Some(found)) => {
                let confidence = best.iter().map(|found| found.confidence).max();
                let confidence = Confidence::new(confidence.unwrap_or_default());
                return Resolution::Existing { id: found.id, confidence, how };
            }
            (0, _) | (_, None) => {}
            _ => {
                // What is ambiguous by a better reason is not decided by a worse one.
                ambiguous.extend(ids);
                break;
            }
        }
    }
    Resolution::New { ambiguous: ambiguous.into_iter().collect() }
}

/// Decides what "my wife" means, given what is known as the owner's under that relation.
pub fn resolve_possession(held: &[EntityId]) -> Resolution {
    let held: BTreeSet<EntityId> = held.iter().copied().collect();
    match held.first() {
        Some(id) if held.len() == 1 => {
            Resolution::Existing { id: *id, confidence: Confidence::FULL, how: How::Possession }
        }
        _ => Resolution::New { ambiguous: held.into_iter().collect() },
    }
}

fn by_name(mentioned: &Mentioned, known: &Known) -> Option<u16> {
    if !known.names.contains(&mentioned.name) {
        return None;
    }
    let is_person = [mentioned.kind, known.kind].contains(&EntityKind::Person);
    match known.nearness {
        // Two people who merely share a first name, in places that have nothing to do with each
        // other, are two people.
        Nearness::Tenant if is_person && !mentioned.name.is_full() => None,
        Nearness::Tenant if is_person => Some(9_000),
        _ if mentioned.kind != known.kind => Some(9_500),
        _ => Some(10_000),
    }
}

/// "the Acme deal" is about Acme, if that is no person.
fn by_affair(mentioned: &Mentioned, known: &Known) -> Option<u16> {
    let bearer = mentioned.name.bearer()?;
    let kinds = [EntityKind::Thing, EntityKind::Organization];
    let is_company = kinds.contains(&mentioned.kind) && kinds.contains(&known.kind);
    (is_company && known.names.contains(&bearer)).then_some(AFFAIR)
}

/// How sure it is that a deal with somebody's name is theirs.
const AFFAIR: u16 = 7_000;

fn by_part(mentioned: &Mentioned, known: &Known) -> Option<u16> {
    let is_open = |kind| matches!(kind, EntityKind::Person | EntityKind::Thing);
    let kinds = [mentioned.kind, known.kind];
    // One of the two must be known to be a person: parts of other names are other things.
    let are_people = kinds.into_iter().all(is_open) && kinds.contains(&EntityKind::Person);
    if !are_people || known.nearness == Nearness::Tenant {
        return None;
    }
    let unsure = if kinds.contains(&EntityKind::Thing) { KIND_UNKNOWN } else { 0 };
    part(mentioned, known).map(|sure| sure.saturating_sub(unsure))
}

/// What it takes from a guess that a kind is not known.
const KIND_UNKNOWN: u16 = 1_000;

fn part(mentioned: &Mentioned, known: &Known) -> Option<u16> {
    let said = &mentioned.name;
    let full = known.names.iter().filter(|name| name.is_full());
    if !said.is_full() {
        return full.filter_map(|name| part_of(said, name)).max();
    }
    // A full name for somebody who was known by a part of it, unless that is part of another one.
    let has_other_full_name =
        known.names.iter().any(|name| name.is_full() && !initials(said, name));
    if has_other_full_name {
        return None;
    }
    if known.names.iter().any(|name| name.is_full()) {
        return Some(7_000);
    }
    known.names.iter().filter_map(|name| part_of(name, said)).max().map(|sure| sure - 500)
}

/// How sure it is that one word is short for a full name.
fn part_of(short: &NameKey, full: &NameKey) -> Option<u16> {
    let word = short.words().first()?;
    if full.words().first() == Some(word) {
        Some(8_000)
    } else if full.words().last() == Some(word) {
        Some(7_000)
    } else {
        None
    }
}

/// Whether two full names differ only in that one has an initial where the other has a word.
fn initials(one: &NameKey, other: &NameKey) -> bool {
    let is_initial_of = |short: &str, long: &str| {
        let mut letters = short.chars();
        let first = letters.next();
        letters.next().is_none() && first.is_some() && long.chars().next() == first
    };
    let agree = |one: &String, other: &String| {
        one == other || is_initial_of(one, other) || is_initial_of(other, one)
    };
    one.words().len() == other.words().len()
        && one.words().last() == other.words().last()
        && one.words().iter().zip(other.words()).all(|(one, other)| agree(one, other))
}

fn by_spelling(mentioned: &Mentioned, known: &Known) -> Option<u16> {
    let kinds = [mentioned.kind, known.kind];
    let of_people =
        |kind| matches!(kind, EntityKind::Person | EntityKind::Animal | EntityKind::Thing);
    if kinds.contains(&EntityKind::Identifier) {
        return None;
    }
    // Marian and Marion are two people, and whatever is called by one word may be one; Jonathan and
    // Jonathon Smith of one scope hardly are.
    let alone = !mentioned.name.is_full() || known.nearness == Nearness::Tenant;
    if alone && of_people(known.kind) {
        return None;
    }
    // A guess about letters on top of a guess about the kind has room for one slip only.
    let (unsure, slips) =
        if mentioned.kind == known.kind { (0, SLIPS_MAX) } else { (KIND_UNKNOWN / 2, 1) };
    let names = known.names.iter().filter_map(|name| near(&mentioned.name, name, slips));
    names.max().map(|sure: u16| sure.saturating_sub(unsure))
}

/// Slips in one name.
const SLIPS_MAX: usize = 2;

fn near(one: &NameKey, other: &NameKey, most: usize) -> Option<u16> {
    if one.words().len() != other.words().len() {
        return None;
    }
    let mut total = 0;
    for (one, other) in one.words().iter().zip(other.words()) {
        total += slips(one, other)?;
    }
    match total {
        _ if total > most => None,
        0 => Some(10_000),
        1 => Some(7_500),
        SLIPS_MAX => Some(5_000),
        _ => None,
    }
}

fn nearest(matches: &[Match]) -> Vec<Match> {
    let nearest = matches.iter().map(|found| found.nearness).max();
    matches.iter().filter(|found| Some(found.nearness) == nearest).copied().collect()
}

/// In a session in which one Bob is spoken of he is meant, a little less surely if there is another
/// one in the scope.
fn spoken_of(matches: &[Match]) -> Vec<Match> {
    let mut near = nearest(matches);
    if near.len() < matches.len() {
        near.iter_mut().for_each(|found| found.confidence = found.confidence.saturating_sub(500));
    }
    near
}

fn surest(matches: &[Match]) -> Vec<Match> {
    let surest = matches.iter().map(|found| found.confidence).max();
    matches.iter().filter(|found| Some(found.confidence) == surest).copied().collect()
}
