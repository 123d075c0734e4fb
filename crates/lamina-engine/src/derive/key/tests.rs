//! Stretches of keys that are taken for empty must be the scope's own, all of them and no others.

use std::collections::BTreeSet;

use lamina_core::derive::concepts::{Direction, Item, Relation};
use lamina_core::derive::episodes::Thread;
use lamina_types::Micros;

use super::*;
use crate::derive::concepts::key as concept;

/// A key of every kind that begins with a scope.
fn keys(scope: u64) -> Vec<(Space, Vec<u8>)> {
    let (tenant, tag, id) = (1, [9; 16], [0xFF; 16]);
    let (at, valid) = (RecordedAt(Micros(7)), ValidAt(Micros(7)));
    let source = AssertionId { offset: u64::MAX, ordinal: 3 };
    let thread = Thread { scope, session: Some(tag) };
    let claim = beliefs::ClaimKey { scope, said: tag, value: tag };
    let (entity, fact) = (EntityId::from_bytes(id), FactId::from_bytes(id));
    let (episode, belief) = (EpisodeId::from_bytes(id), BeliefId::from_bytes(id));
    let item = Item::Value(tag);
    let records = [
        fact_listed(tenant, scope, at, fact),
        fact_about(tenant, scope, entity, at, fact),
        standing(tenant, scope, u64::MAX),
        episodes::listed(tenant, scope, at, episode),
        episodes::by_actor(tenant, scope, &tag, at, episode),
        episodes::spread(tenant, scope, entity),
        episodes::count(tenant, scope),
        beliefs::listed(tenant, scope, at, belief),
        beliefs::about(tenant, scope, &tag, at, belief),
        concept::listed(tenant, scope, at, ConceptId::from_bytes(id)),
    ];
    let sources = [
        input(tenant, scope, &tag, source),
        current(tenant, scope, &tag, Some(valid), fact),
        track(tenant, scope, &tag, &tag),
        conflict_of(tenant, scope, &tag, source),
        episodes::unsealed(tenant, &thread, episode),
        episodes::of_thread(tenant, &thread, at, episode),
        alias(tenant, scope, &tag),
        name_used(tenant, scope, &tag, entity, u64::MAX),
        sought(tenant, scope, &tag),
        entities::near(tenant, scope, &tag, &tag),
        part(tenant, scope, &tag, &tag),
        beliefs::claim(tenant, &claim),
        beliefs::piece(tenant, &claim, source),
        beliefs::voice(tenant, &claim, 1, &tag),
        beliefs::voice_in(tenant, &claim, 1, &tag, Some(episode)),
        beliefs::recent(tenant, &claim, at),
        beliefs::heir(tenant, &claim),
        concept::digest(tenant, scope, episode),
        concept::item(tenant, scope, item),
        concept::item_episode(tenant, scope, item, at, episode),
        concept::link(tenant, scope, item, Direction::From, Relation::RelatedTo, item),
        concept::member(tenant, scope, item),
        concept::counted(tenant, scope, &tag, source),
        concept::items(tenant, scope),
        concept::numbered(tenant, scope, u32::MAX),
        concept::block(tenant, scope, u32::MAX, u32::MAX),
    ];
    let records = records.into_iter().map(|key| (Space::Records, key));
    records.chain(sources.into_iter().map(|key| (Space::Sources, key))).collect()
}

/// What is taken for empty when a scope begins holds rows of that scope and of nothing else.
#[test]
fn a_scope_has_stretches_of_its_own() {
    for scope in [1, 255, 256, u64::from(u32::MAX)] {
        let stretches: Vec<(Space, Bounds)> = of_scope(1, scope).collect();
        let within = |space: Space, key: &[u8]| {
            let here = stretches.iter().filter(|(known, (from, to))| {
                *known == space && from.as_slice() <= key && key < to.as_slice()
            });
            here.count()
        };
        for (space, key) in keys(scope) {
            assert_eq!(within(space, &key), 1, "{space:?} {key:?}");
        }
        let others = [scope - 1, scope + 1, scope << 8].into_iter().flat_map(keys);
        for (space, key) in others {
            assert_eq!(within(space, &key), 0, "{space:?} {key:?}");
        }
        let kinds = |all: Vec<(Space, u8)>| all.into_iter().collect::<BTreeSet<(Space, u8)>>();
        let covered = stretches.iter().map(|(space, (from, _))| (*space, from[4]));
        let sampled = keys(scope).into_iter().map(|(space, key)| (space, key[4]));
        assert_eq!(kinds(covered.collect()), kinds(sampled.collect()), "every kind has a sample");
    }
}
