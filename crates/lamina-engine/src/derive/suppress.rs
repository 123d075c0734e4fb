//! Derived records that were forgotten stay forgotten: what made them is taken back, and is not made again of
//! the same events, whoever reads them again. Later events may say the same anew.
//!
//! Everything that is kept of it stands in the entry and is put into rows as it stands there, whatever is
//! left to take back: a replay that finds less gives the same rows.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::derive::facts::{AssertionId, ValueKey};
use lamina_store::codec::CodecError;
use lamina_store::codec::control::Suppress;
use lamina_store::entry::Entry;
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EpisodeId;
use lamina_types::forget::Layers;
use lamina_types::recall::Layer;

use crate::derive::fold::{Given, answer_row, answers_to, row_error};
use crate::derive::key::beliefs::ClaimKey;
use crate::derive::key::forget as key;
use crate::derive::{beliefs, concepts, episodes, facts};

/// The layers that are derived, in the order of the numbers of a scope's row.
const DERIVED: [Layer; 4] = [Layer::Episodes, Layer::Facts, Layer::Beliefs, Layer::Understanding];

/// Takes back what an entry names, and remembers not to make it again.
pub(super) fn suppress(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let head = &entry.head;
    let Some(bytes) = entry.what.live() else { return Ok(()) };
    let named = Suppress::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: head.offset, source })?;
    let (tenant, scope) = (head.tenant, head.scope);
    remember(rows, tenant, scope, &named)?;
    let mut tracks: BTreeMap<Tag, BTreeSet<AssertionId>> = BTreeMap::new();
    for fact in &named.facts {
        let (offset, ordinal) = fact.said;
        tracks.entry(fact.track).or_default().insert(AssertionId { offset, ordinal });
    }
    for (track, gone) in &tracks {
        facts::remake_without(rows, tenant, (scope, *track), gone)?;
    }
    let tracks: Vec<(u64, Tag)> = tracks.into_keys().map(|track| (scope, track)).collect();
    concepts::decided(rows, tenant, &tracks, head.recorded_at)?;
    let mut claims: BTreeMap<ClaimKey, BTreeSet<AssertionId>> = BTreeMap::new();
    for belief in &named.beliefs {
        let claim = ClaimKey { scope, said: belief.question, value: belief.value };
        let (offset, ordinal) = belief.said;
        claims.entry(claim).or_default().insert(AssertionId { offset, ordinal });
    }
    for (claim, gone) in claims {
        beliefs::forget(rows, tenant, claim, &gone)?;
    }
    for (layers, offset) in &named.events {
        let Some(event) = rows.event_of(*offset)?.filter(|_| layers.has(Layer::Episodes)) else {
            continue;
        };
        // What is in no episode is not counted for what is understood.
        for answer in answers_to(rows, tenant, *offset)? {
            if let Some(row) = answer_row(rows, tenant, answer)? {
                concepts::withdraw(rows, tenant, answer, &row, head.recorded_at)?;
            }
        }
        episodes::leave(rows, tenant, event.id)?;
    }
    let mut things: BTreeMap<EpisodeId, BTreeSet<Tag>> = BTreeMap::new();
    for (episode, thing) in &named.things {
        things.entry(EpisodeId::from_bytes(*episode)).or_default().insert(*thing);
    }
    concepts::forget::things(rows, (tenant, scope), &things, head.recorded_at)?;
    for (_, id) in named.gone.iter().filter(|(layers, _)| layers.has(Layer::Understanding)) {
        concepts::forget::concept(rows, tenant, scope, *id)?;
    }
    Ok(())
}

/// Keeps what an entry says about the times to come.
fn remember(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    named: &Suppress,
) -> Result<(), ViewError> {
    let mut up_to = whole(rows, tenant, scope)?.unwrap_or_default();
    for (layer, up_to) in DERIVED.into_iter().zip(&mut up_to) {
        if named.whole.has(layer) {
            *up_to = named.up_to.max(*up_to);
        }
    }
    let bytes = up_to.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    rows.put(Space::Sources, key::scope(tenant, scope), bytes);
    for (layers, event) in &named.events {
        rows.put(Space::Sources, key::event(tenant, *event), vec![layers.bits()]);
    }
    for kept in
        named.facts.iter().map(|fact| fact.key).chain(named.beliefs.iter().map(|one| one.key))
    {
        rows.put(Space::Sources, key::suppressed(tenant, &kept), Vec::new());
    }
    for (episode, thing) in &named.things {
        let episode = EpisodeId::from_bytes(*episode);
        rows.put(Space::Sources, key::thing(tenant, scope, episode, thing), Vec::new());
    }
    for (layers, id) in &named.gone {
        rows.put(Space::Records, key::gone(tenant, layers.bits(), id), Vec::new());
    }
    Ok(())
}

/// Up to which offsets nothing is made of events of a scope, by layer; `None` if nothing of the scope was
/// ever forgotten.
fn whole(rows: &Rows<'_, '_>, tenant: u32, scope: u64) -> Result<Option<[u64; 4]>, ViewError> {
    let Some(bytes) = rows.get(Space::Sources, &key::scope(tenant, scope))? else {
        return Ok(None);
    };
    let mut up_to = [0; 4];
    let (numbers, _) = bytes.as_chunks::<8>();
    if numbers.len() != up_to.len() {
        return Err(row_error(Space::Sources)(CodecError::Truncated));
    }
    for (one, bytes) in up_to.iter_mut().zip(numbers) {
        *one = u64::from_le_bytes(*bytes);
    }
    Ok(Some(up_to))
}

/// Whether nothing is made of an event in a layer of a scope. `None`: nothing of the scope was ever
/// forgotten, and there is nothing else to ask.
fn is_silent(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    scope: u64,
    layer: Layer,
) -> Result<Option<bool>, ViewError> {
    let Some(up_to) = whole(rows, given.tenant, scope)? else { return Ok(None) };
    let event = given.event.offset;
    let of_layer = DERIVED.into_iter().zip(up_to).find(|(one, _)| *one == layer);
    if of_layer.is_some_and(|(_, up_to)| event < up_to) {
        return Ok(Some(true));
    }
    let layers = rows.get(Space::Sources, &key::event(given.tenant, event))?;
    let layers = layers.and_then(|bytes| bytes.first().copied()).unwrap_or_default();
    Ok(Some(Layers::from_bits(layers).has(layer)))
}

/// Whether an event is in no episode any more.
pub(super) fn of_episodes(rows: &Rows<'_, '_>, given: &Given<'_>) -> Result<bool, ViewError> {
    Ok(is_silent(rows, given, given.event.scope, Layer::Episodes)? == Some(true))
}

/// Whether what an answer says about a track was forgotten.
pub(super) fn of_fact(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    (scope, track): (u64, &Tag),
    value: Option<ValueKey>,
) -> Result<bool, ViewError> {
    match is_silent(rows, given, scope, Layer::Facts)? {
        None => Ok(false),
        Some(true) => Ok(true),
        Some(false) => {
            let parts = fact_parts(scope, track, value, given.event.offset);
            let kept = rows.tag(given.tenant, FACT, &[&parts])?;
            Ok(rows.get(Space::Sources, &key::suppressed(given.tenant, &kept))?.is_some())
        }
    }
}

/// Whether what an answer says about a claim was forgotten.
pub(super) fn of_belief(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    claim: &ClaimKey,
) -> Result<bool, ViewError> {
    match is_silent(rows, given, claim.scope, Layer::Beliefs)? {
        None => Ok(false),
        Some(true) => Ok(true),
        Some(false) => {
            let parts = belief_parts(claim, given.event.offset);
            let kept = rows.tag(given.tenant, BELIEF, &[&parts])?;
            Ok(rows.get(Space::Sources, &key::suppressed(given.tenant, &kept))?.is_some())
        }
    }
}

/// The domain of [`fact_parts`].
pub(crate) const FACT: &str = "suppress.fact";
/// The domain of [`belief_parts`].
pub(crate) const BELIEF: &str = "suppress.belief";

/// What something that was said about a track is known by when the same event is read again.
pub(crate) fn fact_parts(scope: u64, track: &Tag, value: Option<ValueKey>, event: u64) -> Vec<u8> {
    let value = value.map_or([0; 16], |value| value.0);
    [&scope.to_be_bytes()[..], track, &value, &event.to_be_bytes()].concat()
}

/// The same of a claim.
pub(crate) fn belief_parts(claim: &ClaimKey, event: u64) -> Vec<u8> {
    let ClaimKey { scope, said, value } = claim;
    [&scope.to_be_bytes()[..], said, value, &event.to_be_bytes()].concat()
}
