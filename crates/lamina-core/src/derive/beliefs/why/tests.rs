//! The graph is closed, bounded and independent of order; the narrative adds nothing to it.

use expect_test::expect;
use lamina_types::{EpisodeId, FactId};

use super::*;
use crate::derive::beliefs::read::Interval;

fn event(id: u8) -> (EventId, Option<String>) {
    (EventId::from_bytes([id; 16]), Some(format!("words of {id}")))
}

fn fact(id: u8, weight: f64, polarity: Polarity, summary: &str) -> Ground {
    Ground {
        id: SupportId::Fact(FactId::from_bytes([id; 16])),
        weight,
        polarity,
        summary: Some(summary.to_owned()),
        when: Some(format!("{id} May 2026")),
        events: vec![event(id)],
    }
}

fn shown(stance: Stance) -> Shown {
    Shown {
        stance,
        confidence: 0.62,
        interval: Interval { lower: 0.48, upper: 0.74, level: 0.9 },
        mean: 0.62,
        redacted_fraction: 0.0,
        partial: None,
        hidden: None,
    }
}

fn story() -> Vec<Ground> {
    let mut episode = fact(3, 0.22, Polarity::Supports, "The pilot went well.");
    episode.id = SupportId::Episode(EpisodeId::from_bytes([3; 16]));
    episode.when = None;
    episode.events.push(event(1));
    let mut gone = fact(4, 0.1, Polarity::Supports, "");
    gone.summary = None;
    vec![
        episode,
        fact(1, 0.34, Polarity::Supports, "Acme has 200 seats"),
        fact(2, 0.28, Polarity::Against, "Acme asked for a discount"),
        gone,
    ]
}

#[test]
fn every_edge_ends_at_a_node_and_every_node_is_reached() {
    let belief = BeliefId::from_bytes([9; 16]);
    let graph = graph(belief, &story());
    assert_eq!(graph.nodes.len(), 4 + 4);
    assert_eq!(graph.edges.len(), 4 + 5);
    for edge in &graph.edges {
        assert!(graph.nodes.iter().any(|node| node.id == edge.to));
        if let NodeId::Support(from) = edge.from {
            assert!(graph.nodes.iter().any(|node| node.id == from));
        }
    }
    for node in &graph.nodes {
        assert!(graph.edges.iter().any(|edge| edge.to == node.id));
    }
    // R295: an episode contains its events, a fact is extracted from them.
    let of = |relation: &str| {
        graph.edges.iter().filter(|edge| edge.relation.as_str() == relation).count()
    };
    assert_eq!([of("supported_by"), of("contradicted_by")], [3, 1]);
    assert_eq!([of("contains"), of("extracted_from")], [2, 3]);
    let mut turned = story();
    turned.reverse();
    assert_eq!(graph, super::graph(belief, &turned), "order of the input does not matter");
}

#[test]
fn a_large_graph_is_cut_and_says_so() {
    let belief = BeliefId::from_bytes([9; 16]);
    let grounds = |n: u16| -> Vec<Ground> {
        (0..n)
            .map(|i| {
                let [high, low] = i.to_be_bytes();
                let mut ground = fact(low, f64::from(i), Polarity::Supports, "x");
                ground.id = SupportId::Fact(FactId::from_bytes([
                    high, low, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                ]));
                ground.events.clear();
                ground
            })
            .collect()
    };
    let full = graph(belief, &grounds(NODES_MAX as u16));
    assert_eq!((full.nodes.len(), full.cut), (NODES_MAX, false));
    let cut = graph(belief, &grounds(NODES_MAX as u16 + 1));
    assert_eq!((cut.nodes.len(), cut.cut), (NODES_MAX, true));
    assert_eq!(cut.nodes[0].weight, Some(f64::from(NODES_MAX as u16)), "the heaviest stay");
}

#[test]
fn the_narrative_says_what_the_graph_says() {
    let claim = "Acme is likely to renew";
    expect![[r#"It is believed that Acme is likely to renew because on 1 May 2026 "Acme has 200 seats" (fact_01010101010101010101010101010101, evt_01010101010101010101010101010101) and "The pilot went well" (ep_03030303030303030303030303030303, evt_03030303030303030303030303030303). Against it: on 2 May 2026 "Acme asked for a discount" (fact_02020202020202020202020202020202, evt_02020202020202020202020202020202). The words of 1 of 4 supports are gone. The confidence is 0.62, between 0.48 and 0.74 with probability 0.90."#]].assert_eq(&narrative(claim, &shown(Stance::Supported), &story()));
    expect![[r#"It is not believed any more that Acme is likely to renew because on 2 May 2026 "Acme asked for a discount" (fact_02020202020202020202020202020202, evt_02020202020202020202020202020202). In its favour: on 1 May 2026 "Acme has 200 seats" (fact_01010101010101010101010101010101, evt_01010101010101010101010101010101) and "The pilot went well" (ep_03030303030303030303030303030303, evt_03030303030303030303030303030303). The words of 1 of 4 supports are gone. The confidence is 0.62, between 0.48 and 0.74 with probability 0.90."#]].assert_eq(&narrative(claim, &shown(Stance::Contradicted), &story()));
    expect!["It is uncertain that Acme is likely to renew. The confidence is 0.62, between 0.48 and 0.74 with probability 0.90."].assert_eq(&narrative(claim, &shown(Stance::Uncertain), &[]));
}

#[test]
fn days_as_people_read_them() {
    const DAY: i64 = 86_400_000_000;
    for (at, expected) in [
        (0, "1 January 1970"),
        (-1, "31 December 1969"),
        (59 * DAY, "1 March 1970"),
        (11_016 * DAY, "29 February 2000"),
        (20_586 * DAY, "13 May 2026"),
        (Micros::MIN.0, "1 January 1"),
        (Micros::MAX.0, "31 December 9999"),
    ] {
        assert_eq!(day(Micros(at)), expected);
    }
}
