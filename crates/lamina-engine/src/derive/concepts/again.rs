//! Synthesizing again because somebody asks: open episodes are over, and concepts take in what they do
//! not know of yet.

use std::ops::ControlFlow;

use lamina_core::derive::concepts::{Graph as _, Item, When, renew};
use lamina_store::codec::control::Synthesize;
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{ConceptId, RecordedAt, ValidAt};

use super::graph::Stored;
use super::{Mint, key};
use crate::derive::episodes;
use crate::derive::fold::seed;
use crate::derive::key::fact_key;

/// Does what a [`Synthesize`] entry asks for; one that repeats another does nothing.
pub(in crate::derive) fn synthesize(
    rows: &mut Rows<'_, '_>,
    entry: &Entry,
) -> Result<(), ViewError> {
    let head = &entry.head;
    let Some(bytes) = entry.what.live() else { return Ok(()) };
    let asked = Synthesize::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: head.offset, source })?;
    if let Some((key, body)) = &asked.key {
        let row = key::job(head.tenant, key);
        let value = [&asked.job.as_bytes()[..], body].concat();
        match rows.get(Space::Records, &row)? {
            None => rows.put(Space::Records, row, value),
            // The rest of the same job.
            Some(known) if known == value => {}
            Some(_) => return Ok(()),
        }
    }
    episodes::seal_all(rows, head.tenant, head.scope, head.recorded_at, head.offset)?;
    let (from, _) = key::all_listed(head.tenant, head.scope);
    let bound =
        |at: i64| key::listed_at(head.tenant, head.scope, RecordedAt(lamina_types::Micros(at)));
    let (from, to) = (from.max(bound(asked.from)), bound(asked.to));
    let mut ids: Vec<ConceptId> = Vec::new();
    rows.scan(Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
        ids.extend(fact_key(key).map(|at| ConceptId::from_bytes(at.id)));
        ControlFlow::Continue(())
    })?;
    let when = When { at: head.recorded_at, valid: ValidAt(head.recorded_at.0) };
    let mut mint = Mint::new(&seed(&head.seal), head.scope, head.recorded_at);
    let mut graph = Stored::new(&mut *rows, head.tenant, head.scope);
    for id in ids {
        let wanted = graph.concept(id).is_some_and(|concept| {
            let one = |tag: &[u8; 16]| {
                [Item::Value(*tag), Item::Label(*tag)].iter().any(|it| concept.members.contains(it))
            };
            asked.topics.is_empty() || asked.topics.iter().any(one)
        });
        if wanted {
            renew(&mut graph, id, when, asked.force, &mut || mint.next());
        }
    }
    graph.write()
}
