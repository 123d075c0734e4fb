//! Feedback on records: who found what useful, and who did not.
//!
//! What feedback says is read before its answer is appended ([`told`]); the fold puts it into rows and never sees a
//! word. A row stands under the record it is about and the scope it was given in, so that it counts where that scope
//! is read, and goes with the event that says it.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::codec::answer::Rating;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{EventRow, Tag, ViewError, Views};
use lamina_types::recall::Layer;
use lamina_types::{BeliefId, ConceptId, Content, EpisodeId, EventId, FactId, Micros, RecordedAt};

use crate::derive::fold::{Given, row_error};
use crate::derive::key::rated as key;
use crate::derive::read::walk;
use crate::derive::words::hash;

/// Records that one event rates.
pub(crate) const RATED_MAX: usize = 16;
/// Rows of one record that are looked at.
const LOOKED_MAX: usize = 4_096;
/// Scopes of a question that are asked one by one whether there is feedback in them.
const SCOPES_ASKED_MAX: usize = 64;

/// Under these names an id stands, or several: what it is an id of is said by its prefix.
const NAMES: [&str; 7] =
    ["event_id", "fact_id", "belief_id", "episode_id", "concept_id", "record_id", "record_ids"];
/// Under these names it is said whether it was useful.
const VERDICTS: [&str; 3] = ["useful", "helpful", "relevant"];
/// The same in a word, under the name `feedback`.
const GOOD: [&str; 3] = ["helpful", "used", "useful"];
const BAD: [&str; 3] = ["irrelevant", "unhelpful", "useless"];

/// What feedback says about records, if it names any and says whether they were useful.
pub(crate) fn told(content: &Content) -> Vec<Rating> {
    let Content::Json { data, .. } = content else { return Vec::new() };
    let Some(useful) = verdict(data) else { return Vec::new() };
    let mut rated: Vec<Rating> = Vec::new();
    for id in NAMES.iter().filter_map(|name| under(data, name)).flat_map(texts) {
        let Some((layer, id)) = record(id) else { continue };
        let rating = Rating { layer, id, useful };
        if rated.len() < RATED_MAX && !rated.contains(&rating) {
            rated.push(rating);
        }
    }
    rated
}

/// What stands under a name. Kept as compact JSON: a quotation mark inside of a string has a backslash before it, so
/// that only a name can be found like this.
fn under<'a>(data: &'a str, name: &str) -> Option<&'a str> {
    data.split_once(&format!("\"{name}\":")).map(|(_, rest)| rest)
}

fn verdict(data: &str) -> Option<bool> {
    let said = VERDICTS.iter().filter_map(|name| under(data, name)).find_map(|said| {
        let (yes, no) = (said.starts_with("true"), said.starts_with("false"));
        (yes || no).then_some(yes)
    });
    said.or_else(|| {
        let word = texts(under(data, "feedback")?).into_iter().next()?;
        let (good, bad) = (GOOD.contains(&word), BAD.contains(&word));
        (good || bad).then_some(good)
    })
}

/// The text that stands here, or the texts of a list.
fn texts(said: &str) -> Vec<&str> {
    match said.strip_prefix('[').and_then(|list| list.split(']').next()) {
        Some(list) => list.split(',').take(RATED_MAX).filter_map(text).collect(),
        None => text(said).into_iter().collect(),
    }
}

fn text(said: &str) -> Option<&str> {
    said.strip_prefix('"')?.split('"').next()
}

/// What an id is an id of.
fn record(id: &str) -> Option<(Layer, [u8; 16])> {
    let event = |id: &str| Some((Layer::Events, *id.parse::<EventId>().ok()?.as_bytes()));
    let fact = |id: &str| Some((Layer::Facts, *id.parse::<FactId>().ok()?.as_bytes()));
    let belief = |id: &str| Some((Layer::Beliefs, *id.parse::<BeliefId>().ok()?.as_bytes()));
    let episode = |id: &str| Some((Layer::Episodes, *id.parse::<EpisodeId>().ok()?.as_bytes()));
    let concept =
        |id: &str| Some((Layer::Understanding, *id.parse::<ConceptId>().ok()?.as_bytes()));
    event(id)
        .or_else(|| fact(id))
        .or_else(|| belief(id))
        .or_else(|| episode(id))
        .or_else(|| concept(id))
}

/// Who rates, since when, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RatingRow {
    since: RecordedAt,
    useful: bool,
}

impl RatingRow {
    fn encode(self) -> Vec<u8> {
        let mut out = self.since.0.0.to_be_bytes().to_vec();
        out.push(u8::from(self.useful));
        out
    }

    fn decode(bytes: &[u8]) -> Result<RatingRow, CodecError> {
        let (since, rest) = bytes.split_first_chunk().ok_or(CodecError::Truncated)?;
        let useful = match rest {
            [0] => false,
            [1] => true,
            _ => return Err(CodecError::Malformed { field: "rating" }),
        };
        Ok(RatingRow { since: RecordedAt(Micros(i64::from_be_bytes(*since))), useful })
    }
}

/// Notes what feedback says. What an earlier answer to the same event said goes on from when it did.
pub(super) fn learn(rows: &mut Rows<'_, '_>, given: &Given<'_>) -> Result<(), ViewError> {
    let by = key::by_event(given.tenant, given.event.offset);
    let before = rows.get(Space::Sources, &by)?;
    let rated = &given.answer.rated;
    if before.is_none() && rated.is_empty() {
        return Ok(());
    }
    let actor = given.words.actor(&hash(rows, given.tenant), &given.who.observed_actor)?;
    let mut known: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    for stored in keys(before.as_deref().unwrap_or_default())? {
        let row = rows.get(Space::Sources, &stored)?;
        known.extend(row.map(|row| (stored, row)));
    }
    drop_at(rows, given.event)?;
    let mut stored: Vec<Vec<u8>> = Vec::new();
    for scope in given.scopes.iter().copied() {
        for Rating { layer, id, useful } in rated.iter().take(RATED_MAX) {
            let at = key::rating(given.tenant, (*layer, id), scope, &actor, given.event.offset);
            let row = RatingRow { since: given.row.recorded, useful: *useful };
            let earlier = known.get(&at).and_then(|row| RatingRow::decode(row).ok());
            let earlier = earlier.filter(|earlier| earlier.useful == row.useful);
            rows.put(Space::Sources, at.clone(), earlier.unwrap_or(row).encode());
            rows.put(
                Space::Sources,
                key::in_scope(given.tenant, scope, given.event.offset),
                Vec::new(),
            );
            stored.push(at);
        }
    }
    if !stored.is_empty() {
        rows.put(Space::Sources, by, joined(&stored));
    }
    Ok(())
}

/// The event that said it is gone.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, event: &EventRow) -> Result<(), ViewError> {
    let by = key::by_event(event.tenant, event.offset);
    let Some(bytes) = rows.get(Space::Sources, &by)? else { return Ok(()) };
    for stored in keys(&bytes)? {
        if let Some(scope) = key::scope_of(&stored) {
            rows.delete(Space::Sources, key::in_scope(event.tenant, scope, event.offset));
        }
        rows.delete(Space::Sources, stored);
    }
    rows.delete(Space::Sources, by);
    Ok(())
}

/// Keys of one length, one after the other.
fn joined(keys: &[Vec<u8>]) -> Vec<u8> {
    keys.concat()
}

fn keys(bytes: &[u8]) -> Result<Vec<Vec<u8>>, ViewError> {
    let (all, rest) = bytes.as_chunks::<{ key::RATING_LEN }>();
    match rest {
        [] => Ok(all.iter().map(|key| key.to_vec()).collect()),
        _ => Err(row_error(Space::Sources)(CodecError::Truncated)),
    }
}

/// Feedback that a question sees: that of the scopes it reads, as far as it was known.
#[derive(Debug)]
pub(crate) struct Rated<'a> {
    views: &'a Views,
    tenant: u32,
    scopes: HashSet<u64>,
    known: RecordedAt,
}

impl<'a> Rated<'a> {
    /// `None` if there is none: then there is nothing to look up.
    pub(crate) fn within(
        views: &'a Views,
        tenant: u32,
        scopes: &[u64],
        known: RecordedAt,
    ) -> Result<Option<Rated<'a>>, ViewError> {
        let mut there = false;
        let mut any = |(from, to): (Vec<u8>, Vec<u8>)| {
            walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |_, _| {
                there = true;
                ControlFlow::Break(())
            })
        };
        match scopes.len() <= SCOPES_ASKED_MAX {
            true => scopes.iter().try_for_each(|scope| any(key::all_in_scope(tenant, *scope)))?,
            false => any(key::all_in_scopes(tenant))?,
        }
        let scopes = scopes.iter().copied().collect();
        Ok(there.then_some(Rated { views, tenant, scopes, known }))
    }

    /// How many more found a record useful than not: of everybody the last word counts, once.
    pub(crate) fn net(&self, layer: Layer, id: &[u8; 16]) -> Result<i64, ViewError> {
        let (from, to) = key::ratings(self.tenant, (layer, id));
        let mut last: HashMap<Tag, RatingRow> = HashMap::new();
        let (mut looked, mut failed) = (0, None);
        walk(self.views, Space::Sources, (&from, &to), Direction::Backward, &mut |key, value| {
            looked += 1;
            match (key::given(key), RatingRow::decode(value)) {
                (Some((scope, actor)), Ok(row)) => {
                    if self.scopes.contains(&scope) && row.since <= self.known {
                        let word = last.entry(actor).or_insert(row);
                        if word.since < row.since {
                            *word = row;
                        }
                    }
                }
                (_, row) => failed = Some(row.err().unwrap_or(CodecError::Truncated)),
            }
            match looked < LOOKED_MAX && failed.is_none() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        match failed {
            Some(error) => Err(row_error(Space::Sources)(error)),
            None => Ok(last.values().map(|row| if row.useful { 1 } else { -1 }).sum()),
        }
    }
}

#[cfg(test)]
mod tests;
