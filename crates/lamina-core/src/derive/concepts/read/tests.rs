//! Names, numbers and descriptions of one small concept.

use lamina_types::{ConceptId, EntityId, EpisodeId, FactId, Micros, RecordedAt, ValidAt};

use super::*;
use crate::derive::concepts::graph::{Digest, Fact, Memory, Relation};
use crate::derive::concepts::settle::absorb;

fn item(n: u8) -> Item {
    Item::Entity(EntityId::from_bytes([n; 16]))
}

fn digest(n: u8, items: &[u8], facts: u8) -> Digest {
    let facts = (0..facts).map(|f| Fact {
        fact: FactId::from_bytes([n * 16 + f; 16]),
        subject: item(items[0]),
        relation: Relation::RelatedTo,
        object: None,
    });
    let at = Micros(i64::from(n));
    Digest::new(
        (EpisodeId::from_bytes([n; 16]), RecordedAt(at), ValidAt(at)),
        items.iter().map(|n| item(*n)),
        facts,
    )
}

fn graph() -> Memory {
    let mut graph = Memory::default();
    let mut mint = || ConceptId::from_bytes([1; 16]);
    for n in 1..=3 {
        absorb(&mut graph, &digest(n, &[1, 2], 1), &mut mint);
    }
    absorb(&mut graph, &digest(4, &[2, 3], 0), &mut mint);
    graph
}

#[test]
fn a_concept_says_how_sure_and_how_fresh_it_is() {
    let graph = graph();
    let concept = graph.concepts().next().unwrap();
    assert_eq!(concept.members, [item(1), item(2)]);
    let reading = read(&graph, concept);
    assert_eq!((reading.supports.episodes, reading.supports.facts), (3, 3));
    // Together in three of four episodes, six supports: 0.75 * 6 / 9.
    assert_eq!(reading.confidence.get(), 5_000);
    assert_eq!((reading.staleness.get(), reading.coverage.get()), (0, 10_000));
    assert!(!reading.hidden);
    let mut lossy = concept.clone();
    lossy.lost_count = 3;
    assert_eq!(read(&graph, &lossy).support_loss.get(), 5_000);
    assert!(!read(&graph, &lossy).hidden, "half is not more than half");
    lossy.lost_count = 4;
    assert!(read(&graph, &lossy).hidden);
}

#[test]
fn a_concept_is_named_by_its_leader_and_described_by_quotes() {
    let graph = graph();
    let concept = graph.concepts().next().unwrap();
    let named = |item: Item| match item {
        Item::Entity(id) if id.as_bytes()[0] == 1 => Some("renewal".to_owned()),
        Item::Entity(_) => Some("Acme".to_owned()),
        _ => None,
    };
    assert_eq!(concept.leader, item(2), "it occurs most");
    let order = |item| (graph.together(concept.leader, item), graph.first(item));
    let name = name(concept, &order, &named).unwrap();
    assert_eq!(name, "Acme and renewal");
    assert_eq!(
        describe(
            &name,
            Described { gathering: Gathering::Found, supports: read(&graph, concept).supports },
            &["They signed".to_owned()]
        ),
        "Acme and renewal: together in 3 episodes, with 3 facts. They signed."
    );
    assert_eq!(super::name(concept, &|_| (0, 0), &|_| None), None);
}
