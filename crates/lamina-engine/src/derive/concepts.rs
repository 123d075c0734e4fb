//! Understanding: what sealed episodes have in common.
//!
//! An answer leaves a row with what it speaks of. When its episode is sealed these become the
//! episode's digest, which is counted in each scope that learns of it, and the decisions of
//! `lamina-core` say which concepts that makes. What is withdrawn, and facts that are replaced, are
//! taken out of the counts in the same step, so that no concept stands on them a moment longer.

pub(crate) mod key;
pub(crate) mod rows;
pub(crate) mod graph;
pub(crate) mod things;
pub(super) mod again;
pub(super) mod forget;
pub(super) mod moved;
mod withdraw;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::concepts::things::things as things_of;
use lamina_core::derive::concepts::{Graph as _, Item, When, revise, settle};
use lamina_core::derive::facts::{AssertionId, Content};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::{ConceptId, EpisodeId, FactId, Micros, RecordedAt, ValidAt};
use sha2::{Digest as _, Sha256};

use self::graph::Stored;
use self::rows::{Claimed, DigestRow, ThingsRow};
use crate::derive::entities::entropy;
use crate::derive::fold::{Given, row_error};
use crate::derive::key::{self as fact_key, Layer};
use crate::derive::rows::FactRow;
use crate::derive::rows::episodes::EpisodeEventRow;
use crate::derive::{episodes, facts};

pub(super) use withdraw::{withdraw, withdraw_all};

/// Assertions of one track that are counted: what is said again and again is not worth more.
const PER_TRACK_MAX: usize = 8;
/// Versions of one track that are looked at, the latest first, to find out what still stands.
const PIECES_LOOKED_AT_MAX: usize = 16;

/// An episode whose events never change again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sealed {
    tenant: u32,
    episode: EpisodeId,
    /// When it was sealed.
    at: RecordedAt,
    /// When it began.
    began: ValidAt,
}

/// Keeps what an answer speaks of, and takes out of the counts what it replaces.
pub(super) fn learn(rows: &mut Rows<'_, '_>, given: &Given<'_>) -> Result<(), ViewError> {
    let things = things::of_answer(rows, given)?;
    rows.put(Space::Sources, key::things(given.tenant, given.offset), things.encode());
    let step = Step {
        tenant: given.tenant,
        when: When { at: given.row.recorded, valid: given.answer.observed_at },
        seed: given.row.seed,
    };
    let mut recount = Recount::default();
    for (scope, track) in given.moved.iter().collect::<BTreeSet<_>>() {
        let lost = counted(rows, given.tenant, *scope, track)?;
        recount.track(rows, &step, (*scope, *track), lost, &[])?;
    }
    recount.done(rows, &step)?;
    // Another answer to an event of the past: its episode says more than was counted.
    let Some(id) = episodes::episode_of(rows, given.tenant, given.event.id)? else { return Ok(()) };
    let row = episodes::episode(rows, given.tenant, id)?;
    let sealed = row.and_then(|row| row.sealed.map(|sealed| (sealed.at, row.first)));
    let Some((at, began)) = sealed else { return Ok(()) };
    count(rows, &Sealed { tenant: given.tenant, episode: id, at, began }, &step)
}

/// Counts an episode in every scope that learns of it.
pub(super) fn sealed(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    episode: EpisodeId,
    at: RecordedAt,
) -> Result<(), ViewError> {
    let Some(row) = episodes::episode(rows, tenant, episode)? else { return Ok(()) };
    let sealed = Sealed { tenant, episode, at, began: row.first };
    let step = Step {
        tenant: sealed.tenant,
        when: When { at: sealed.at, valid: sealed.began },
        seed: *sealed.episode.as_bytes(),
    };
    count(rows, &sealed, &step)
}

/// Counts all that the events of an episode contribute, in the place of what was counted before.
fn count(rows: &mut Rows<'_, '_>, sealed: &Sealed, step: &Step) -> Result<(), ViewError> {
    let Sealed { tenant, episode, .. } = *sealed;
    let mut spoken: Vec<(u64, ThingsRow)> = Vec::new();
    // The last answer to an event is the one that counts: of those before it nothing is left to count.
    for (_, _, EpisodeEventRow { answer, .. }) in episodes::events(rows, tenant, episode)? {
        spoken.extend(things_row(rows, tenant, answer)?.map(|row| (answer, row)));
    }
    let scopes: BTreeSet<u64> = spoken.iter().flat_map(|(_, row)| row.scopes.clone()).collect();
    for scope in scopes {
        let here: Vec<&(u64, ThingsRow)> =
            spoken.iter().filter(|(_, row)| row.scopes.contains(&scope)).collect();
        let before = digest(rows, tenant, scope, episode)?;
        let before = before.unwrap_or(DigestRow::nothing(sealed.at, sealed.began));
        let after = digest_row(rows, sealed, scope, &here)?;
        let mut mint = Mint::new(&step.seed, scope, step.when.at);
        change(rows, step, &mut mint, (scope, episode), &before, after)?;
    }
    for (answer, mut row) in spoken {
        row.episode = Some(episode);
        rows.put(Space::Sources, key::things(tenant, answer), row.encode());
    }
    Ok(())
}

/// The things whose concepts may stand on an answer: those it speaks of, and those that the facts of
/// its tracks are counted with.
pub(super) fn things_near(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    tracks: &[(u64, Tag)],
) -> Result<BTreeSet<(u64, Item)>, ViewError> {
    let mut near = BTreeSet::new();
    let Some(things) = things_row(rows, tenant, offset)? else { return Ok(near) };
    let nouns = things.spoken.nouns.iter();
    let nouns = nouns.flat_map(|noun| [Some(noun.word), noun.with_next]).flatten();
    for tag in things.spoken.names.iter().copied().chain(nouns) {
        near.extend(things.scopes.iter().map(|scope| (*scope, Item::Value(tag))));
    }
    for tag in things.labels.iter().copied() {
        near.extend(things.scopes.iter().map(|scope| (*scope, Item::Label(tag))));
    }
    for (scope, track) in tracks {
        for (_, episode) in counted(rows, tenant, *scope, track)? {
            let digest = digest(rows, tenant, *scope, episode)?;
            let facts = digest.into_iter().flat_map(|digest| digest.facts);
            let here = facts.filter(|fact| fact.track == *track);
            near.extend(here.map(|fact| (*scope, fact.subject)));
        }
    }
    Ok(near)
}

/// What stands on tracks may be other than before, because somebody decided or something of it went.
pub(super) fn decided(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    tracks: &[(u64, Tag)],
    at: RecordedAt,
) -> Result<(), ViewError> {
    let Some((_, seed)) = tracks.first().copied() else { return Ok(()) };
    let step = Step { tenant, when: When { at, valid: ValidAt(at.0) }, seed };
    let mut recount = Recount::default();
    for (scope, track) in tracks {
        let before = counted(rows, tenant, *scope, track)?;
        let again = countable(rows, tenant, *scope, track)?;
        recount.track(rows, &step, (*scope, *track), before, &again)?;
    }
    recount.done(rows, &step)
}

/// What a change of the counts is dated and named by.
struct Step {
    tenant: u32,
    when: When,
    seed: [u8; 16],
}

/// Ids of concepts, from what made them.
struct Mint {
    seed: [u8; 16],
    at: Micros,
    next: u64,
}

impl Mint {
    fn new(seed: &[u8; 16], scope: u64, at: RecordedAt) -> Mint {
        let hash = Sha256::new().chain_update(seed).chain_update(scope.to_be_bytes());
        let hash: [u8; 32] = hash.chain_update(at.0.0.to_be_bytes()).finalize().into();
        Mint { seed: *hash.first_chunk().expect("32 bytes have a first half"), at: at.0, next: 0 }
    }

    fn next(&mut self) -> ConceptId {
        self.next += 1;
        ConceptId::mint(self.at, entropy(&self.seed, Layer::Concept as u8, self.next))
    }
}

/// What the answers of an episode contribute to a scope.
fn digest_row(
    rows: &mut Rows<'_, '_>,
    sealed: &Sealed,
    scope: u64,
    spoken: &[&(u64, ThingsRow)],
) -> Result<DigestRow, ViewError> {
    let Sealed { tenant, episode, at, began, .. } = *sealed;
    let graph = Stored::new(&mut *rows, tenant, scope);
    let events: Vec<_> = spoken.iter().map(|(_, row)| row.spoken.clone()).collect();
    let known = |key: Tag| graph.episodes(Item::Value(key)) > 0;
    let things = things_of(&events, &known).into_iter().map(Item::Value);
    let mut items: Vec<Item> = things.collect();
    for (_, row) in spoken {
        let labels = row.labels.iter().copied().map(Item::Label);
        items.extend(labels.filter(|label| !items.contains(label)).collect::<Vec<_>>());
    }
    graph.finish(())?;
    let mut facts: Vec<Claimed> = Vec::new();
    for (_, row) in spoken {
        for stated in row.facts.iter().filter(|stated| stated.scope == scope) {
            let Some(claimed) = stated.among(&items) else { continue };
            let here = facts.iter().filter(|fact| fact.track == stated.track).count();
            let before = counted(rows, tenant, scope, &stated.track)?;
            let before = before.iter().filter(|(_, other)| *other != episode).count();
            if here + before < PER_TRACK_MAX
                && Standing::of(rows, tenant, scope, &stated.track)?.has(stated.source)
            {
                facts.push(claimed);
            }
        }
    }
    let answers = spoken.iter().map(|(answer, _)| *answer).collect();
    let ties = spoken.iter().flat_map(|(_, row)| &row.bonds);
    let bonds = ties.filter_map(|tie| tie.among(&items)).collect();
    let row = DigestRow { at, began, answers, items, facts, bonds };
    let mut row = forget::counted_for(rows, (tenant, scope, episode), row)?;
    row.trim();
    Ok(row)
}

/// Brings the counts of tracks up to date: what does not stand any more is taken out, what stands and could be counted is.
/// An episode changes once, whatever tracks are in it: these are known by hashes, and what lay between one and the next would
/// be chance.
#[derive(Debug, Default)]
struct Recount {
    changed: BTreeMap<(u64, EpisodeId), Vec<Recounted>>,
}

/// What of a track is not counted any more in an episode, and what is from now on.
#[derive(Debug)]
struct Recounted {
    track: Tag,
    lost: Vec<AssertionId>,
    gained: Vec<AssertionId>,
}

impl Recount {
    /// Finds out what changes in a track.
    fn track(
        &mut self,
        rows: &Rows<'_, '_>,
        step: &Step,
        (scope, track): (u64, Tag),
        before: Vec<(AssertionId, EpisodeId)>,
        again: &[(AssertionId, EpisodeId)],
    ) -> Result<(), ViewError> {
        if before.is_empty() && again.is_empty() {
            return Ok(());
        }
        let mut changed: BTreeMap<EpisodeId, Recounted> = BTreeMap::new();
        let nothing = || Recounted { track, lost: Vec::new(), gained: Vec::new() };
        let stands = Standing::of(rows, step.tenant, scope, &track)?;
        let mut standing = 0;
        for (source, episode) in &before {
            if stands.has(*source) {
                standing += 1;
            } else {
                changed.entry(*episode).or_insert_with(nothing).lost.push(*source);
            }
        }
        for (source, episode) in again {
            if standing >= PER_TRACK_MAX || before.iter().any(|(known, _)| known == source) {
                continue;
            }
            if stands.has(*source) {
                standing += 1;
                changed.entry(*episode).or_insert_with(nothing).gained.push(*source);
            }
        }
        for (episode, counts) in changed {
            self.changed.entry((scope, episode)).or_default().push(counts);
        }
        Ok(())
    }

    /// Changes what was found, in the order in which episodes were sealed and in which what they say was.
    fn done(self, rows: &mut Rows<'_, '_>, step: &Step) -> Result<(), ViewError> {
        let mut all = Vec::with_capacity(self.changed.len());
        for ((scope, episode), counts) in self.changed {
            let Some(before) = digest(rows, step.tenant, scope, episode)? else { continue };
            all.push((scope, episode, before, counts));
        }
        all.sort_by_key(|(scope, _, before, _)| (*scope, before.place()));
        let mut mints: BTreeMap<u64, Mint> = BTreeMap::new();
        for (scope, episode, before, counts) in all {
            let after = counted_again(rows, step.tenant, scope, &before, counts)?;
            let mint =
                mints.entry(scope).or_insert_with(|| Mint::new(&step.seed, scope, step.when.at));
            change(rows, step, mint, (scope, episode), &before, after)?;
        }
        Ok(())
    }
}

/// What a digest is once the counts of some tracks in it have changed.
fn counted_again(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    before: &DigestRow,
    counts: Vec<Recounted>,
) -> Result<DigestRow, ViewError> {
    let mut after = before.clone();
    let mut gained: Vec<Claimed> = Vec::new();
    for Recounted { track, lost, gained: come } in counts {
        after.facts.retain(|fact| !(fact.track == track && lost.contains(&fact.source)));
        for source in come {
            let things = things_of_source(rows, tenant, source)?;
            let stated = things.into_iter().flat_map(|row| row.facts).find(|stated| {
                stated.source == source && stated.scope == scope && stated.track == track
            });
            gained.extend(stated.and_then(|stated| stated.among(&after.items)));
        }
    }
    gained.sort_by_key(|fact| fact.source);
    after.facts.extend(gained);
    Ok(after)
}

/// Counts a digest in the place of another, and settles what that changes.
fn change(
    rows: &mut Rows<'_, '_>,
    step: &Step,
    mint: &mut Mint,
    (scope, episode): (u64, EpisodeId),
    before: &DigestRow,
    mut after: DigestRow,
) -> Result<(), ViewError> {
    after.trim();
    if *before == after {
        return Ok(());
    }
    let (old, new) = (before.digest(episode), after.digest(episode));
    let mut graph = Stored::new(&mut *rows, step.tenant, scope);
    graph.meet(&after.items);
    let (_, affected) = revise(&mut graph, &old, &new, step.when.at);
    settle(&mut graph, &affected, step.when, &mut || mint.next());
    graph.write()?;
    index(rows, step.tenant, scope, episode, before, &after);
    Ok(())
}

/// Keeps a digest in the place of another, and what finds it.
fn index(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    episode: EpisodeId,
    before: &DigestRow,
    after: &DigestRow,
) {
    let found = |row: &DigestRow| -> BTreeSet<Vec<u8>> {
        let items = row.items.iter();
        items.map(|item| key::item_episode(tenant, scope, *item, row.at, episode)).collect()
    };
    let counted = |row: &DigestRow| -> BTreeSet<Vec<u8>> {
        let facts = row.facts.iter();
        facts.map(|fact| key::counted(tenant, scope, &fact.track, fact.source)).collect()
    };
    for (old, new, value) in [
        (found(before), found(after), Vec::new()),
        (counted(before), counted(after), episode.as_bytes().to_vec()),
    ] {
        for gone in old.difference(&new) {
            rows.delete(Space::Sources, gone.clone());
        }
        for come in new.difference(&old) {
            rows.put(Space::Sources, come.clone(), value.clone());
        }
    }
    let digest = key::digest(tenant, scope, episode);
    match after.items.is_empty() {
        true => rows.delete(Space::Sources, digest),
        false => rows.put(Space::Sources, digest, after.encode()),
    }
}

/// The assertions of a track that are counted, and the episodes they are from.
fn counted(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    track: &Tag,
) -> Result<Vec<(AssertionId, EpisodeId)>, ViewError> {
    let (from, to) = key::all_counted(tenant, scope, track);
    let mut found = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        let episode = value.try_into().ok().map(EpisodeId::from_bytes);
        found.extend(fact_key::tail_source(key).zip(episode));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// The assertions of a track that stand and whose episodes are sealed.
fn countable(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    track: &Tag,
) -> Result<Vec<(AssertionId, EpisodeId)>, ViewError> {
    let mut found = Vec::new();
    for source in Standing::of(rows, tenant, scope, track)?.0 {
        let row = things_of_source(rows, tenant, source)?;
        found.extend(row.and_then(|row| row.episode).map(|episode| (source, episode)));
    }
    Ok(found)
}

/// What of a track still holds as far as is known: nothing replaced, ended or took it back.
struct Standing(BTreeSet<AssertionId>);

impl Standing {
    fn of(
        rows: &Rows<'_, '_>,
        tenant: u32,
        scope: u64,
        track: &Tag,
    ) -> Result<Standing, ViewError> {
        let (from, to) = fact_key::currents(tenant, scope, track, None, None);
        let mut ids = Vec::new();
        rows.scan(Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
            ids.extend(fact_key::tail_id(key).map(FactId::from_bytes));
            if ids.len() < PIECES_LOOKED_AT_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        let mut standing = BTreeSet::new();
        for id in ids {
            let row = rows.get(Space::Records, &fact_key::fact(tenant, id))?;
            let Some(bytes) = row else { continue };
            let piece = FactRow::decode(&bytes).map_err(row_error(Space::Records))?.piece;
            if matches!(piece.content, Content::Ended(_)) {
                continue;
            }
            let to = piece.to();
            // One that was said to last so long is not over because of it.
            let holds = piece.supports.iter().filter(|support| to.is_none() || to == support.to);
            standing.extend(holds.map(|support| support.source));
        }
        Ok(Standing(standing))
    }

    fn has(&self, source: AssertionId) -> bool {
        self.0.contains(&source)
    }
}

/// What the answer speaks of in which something was said, also if it was brought to another track.
fn things_of_source(
    rows: &Rows<'_, '_>,
    tenant: u32,
    source: AssertionId,
) -> Result<Option<ThingsRow>, ViewError> {
    match things_row(rows, tenant, source.offset)? {
        Some(row) => Ok(Some(row)),
        None => things_row(rows, tenant, facts::origin(rows, tenant, source)?.offset),
    }
}

fn things_row(
    rows: &Rows<'_, '_>,
    tenant: u32,
    answer: u64,
) -> Result<Option<ThingsRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::things(tenant, answer))?;
    bytes.map(|bytes| ThingsRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

fn digest(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    episode: EpisodeId,
) -> Result<Option<DigestRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::digest(tenant, scope, episode))?;
    bytes.map(|bytes| DigestRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

#[cfg(test)]
mod tests;
