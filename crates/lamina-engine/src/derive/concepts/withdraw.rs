//! Answers go: out of the digests of their episodes, and out of the counts of their tracks.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::derive::concepts::{Item, When};
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::{EpisodeId, RecordedAt, ValidAt};

use super::rows::{DigestRow, ThingsRow};
use super::{Mint, Step, change, decided, digest, key, things_row};
use crate::derive::rows::AnswerRow;

/// Takes an answer out of the counts. Its facts are gone by now; what stands again in their place is
/// counted again.
pub(in crate::derive) fn withdraw(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &AnswerRow,
    at: RecordedAt,
) -> Result<(), ViewError> {
    withdraw_all(rows, tenant, [(offset, row)], at)
}

/// The same for many answers: the counts of an episode and of a track change once, whatever of them goes.
pub(in crate::derive) fn withdraw_all<'a>(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    answers: impl IntoIterator<Item = (u64, &'a AnswerRow)>,
    at: RecordedAt,
) -> Result<(), ViewError> {
    let mut gone: BTreeMap<u64, ThingsRow> = BTreeMap::new();
    let mut episodes: BTreeSet<(u64, EpisodeId)> = BTreeSet::new();
    let mut tracks: Vec<(u64, Tag)> = Vec::new();
    let mut seen: BTreeSet<(u64, Tag)> = BTreeSet::new();
    for (offset, row) in answers {
        let Some(things) = things_row(rows, tenant, offset)? else { continue };
        rows.delete(Space::Sources, key::things(tenant, offset));
        let counted = things.episode.into_iter();
        episodes.extend(counted.flat_map(|id| things.scopes.iter().map(move |scope| (*scope, id))));
        tracks.extend(row.tracks.iter().copied().filter(|track| seen.insert(*track)));
        gone.insert(offset, things);
    }
    let mut changed: Vec<(u64, EpisodeId, DigestRow)> = Vec::new();
    for (scope, episode) in episodes {
        changed.extend(digest(rows, tenant, scope, episode)?.map(|row| (scope, episode, row)));
    }
    changed.sort_by_key(|(scope, _, before)| (*scope, before.place()));
    for (scope, episode, before) in changed {
        let after = without(rows, tenant, &before, &gone)?;
        let when = When { at, valid: ValidAt(at.0) };
        let step = Step { tenant, when, seed: *episode.as_bytes() };
        let mut mint = Mint::new(&step.seed, scope, at);
        change(rows, &step, &mut mint, (scope, episode), &before, after)?;
    }
    decided(rows, tenant, &tracks, at)
}

/// What is left of a digest without some of its answers.
fn without(
    rows: &Rows<'_, '_>,
    tenant: u32,
    digest: &DigestRow,
    gone: &BTreeMap<u64, ThingsRow>,
) -> Result<DigestRow, ViewError> {
    let mut after = digest.clone();
    let went: Vec<&ThingsRow> =
        after.answers.iter().filter_map(|answer| gone.get(answer)).collect();
    let sources: BTreeSet<_> =
        went.iter().flat_map(|row| &row.facts).map(|stated| stated.source).collect();
    after.answers.retain(|answer| !gone.contains_key(answer));
    let mut rest: Vec<ThingsRow> = Vec::new();
    for answer in &after.answers {
        rest.extend(things_row(rows, tenant, *answer)?);
    }
    let mut left: BTreeSet<Tag> = BTreeSet::new();
    for row in &rest {
        left.extend(&row.spoken.names);
        left.extend(
            row.spoken.nouns.iter().flat_map(|noun| [Some(noun.word), noun.with_next]).flatten(),
        );
    }
    let named: BTreeSet<Tag> = rest.iter().flat_map(|row| row.labels.iter().copied()).collect();
    after.items.retain(|item| match item {
        Item::Value(tag) => left.contains(tag),
        Item::Label(tag) => named.contains(tag),
        Item::Entity(_) | Item::Predicate(_) => false,
    });
    after
        .facts
        .retain(|fact| !sources.contains(&fact.source) && after.items.contains(&fact.subject));
    let ties = rest.iter().flat_map(|row| &row.bonds);
    after.bonds = ties.filter_map(|tie| tie.among(&after.items)).collect();
    for fact in &mut after.facts {
        fact.object = fact.object.filter(|object| after.items.contains(object));
    }
    Ok(after)
}
