//! Walks over a chain of concepts, aliases, and what a scope covers.

use lamina_types::{EntityId, EpisodeId, FactId, Micros, ValidAt};

use super::*;
use crate::derive::concepts::graph::{Change, Digest, Fact, GraphMut, Item, Memory};
use crate::derive::concepts::settle::absorb;

fn item(n: u8) -> Item {
    Item::Entity(EntityId::from_bytes([n; 16]))
}

fn id(n: u8) -> ConceptId {
    ConceptId::from_bytes([n; 16])
}

/// Five concepts {a, b}, {c, d}, ... in a row; each depends on the one before.
fn row() -> Memory {
    let mut graph = Memory::default();
    let mut minted = 0;
    let mut mint = || {
        minted += 1;
        id(minted)
    };
    let mut episode = 0_u8;
    let mut take = |items: &[u8], link: Option<(u8, u8)>| {
        episode += 1;
        let at = Micros(i64::from(episode));
        let fact = link.map(|(from, to)| Fact {
            fact: FactId::from_bytes([episode; 16]),
            subject: item(from),
            relation: Relation::DependsOn,
            object: Some(item(to)),
        });
        let digest = Digest::new(
            (EpisodeId::from_bytes([episode; 16]), RecordedAt(at), ValidAt(at)),
            items.iter().map(|n| item(*n)),
            fact,
        );
        absorb(&mut graph, &digest, &mut mint);
    };
    for n in 0..5 {
        for _ in 0..3 {
            take(&[2 * n, 2 * n + 1], None);
        }
        if n > 0 {
            take(&[2 * n, 2 * n - 2], Some((2 * n, 2 * n - 2)));
        }
    }
    graph
}

#[test]
fn a_walk_goes_so_deep_and_no_deeper() {
    let graph = row();
    assert_eq!(graph.concepts().count(), 5);
    let walk = |depth, limit| -> Vec<(u8, u32, u32)> {
        let found = related(&graph, id(5), None, depth, limit);
        found.iter().map(|r| (r.id.as_bytes()[0], r.depth, r.weight)).collect()
    };
    assert_eq!(walk(0, 50), []);
    assert_eq!(walk(1, 50), [(4, 1, 5_000)]);
    assert_eq!(walk(3, 50), [(4, 1, 5_000), (3, 2, 2_500), (2, 3, 1_250)]);
    assert_eq!(walk(3, 2).len(), 2);
    assert_eq!(walk(u32::MAX, 50).len(), 4);
    let causes = related(&graph, id(5), Some(Relation::Causes), 3, 50);
    assert!(causes.is_empty());
    assert!(related(&graph, id(99), None, 3, 50).is_empty(), "an unknown concept has no relatives");
}

#[test]
fn an_alias_leads_to_its_canonical_concept() {
    let mut graph = row();
    let mut alias = graph.concept(id(5)).unwrap();
    alias.id = id(9);
    alias.standing = Standing::Merged { into: id(5) };
    graph.apply(&Change::Concept(Box::new(alias)));
    assert_eq!(canonical(&graph, id(9)), id(5));
    assert_eq!(related(&graph, id(9), None, 1, 9), related(&graph, id(5), None, 1, 9));
}

#[test]
fn connected_concepts_are_one_topic() {
    let graph = row();
    let all: Vec<Concept> = graph.concepts().cloned().collect();
    let found = coverage(&graph, &all, RecordedAt(Micros(100)));
    assert_eq!(found.concepts_count, 5);
    assert_eq!(found.topics.len(), 1);
    assert_eq!(found.topics[0].concepts_count, 5);
    assert!(found.topics[0].confidence > 0 && found.consulted >= 8_000);
    let alone: Vec<Concept> = all.into_iter().filter(|c| [id(1), id(3)].contains(&c.id)).collect();
    assert_eq!(coverage(&graph, &alone, RecordedAt(Micros(100))).topics.len(), 2);
    let none = coverage(&Memory::default(), &[], RecordedAt(Micros(0)));
    assert_eq!((none.concepts_count, none.consulted, none.lag_us), (0, 0, 0));
}
