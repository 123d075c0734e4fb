//! What fits: limits by layer, tokens by score, and never more than allowed.

use lamina_types::recall::{Layer, PackSelection};
use proptest::prelude::*;

use super::{Budget, Candidate, TailCut, pack};

fn candidate(layer: Layer, tokens: u64, score: f64) -> Candidate {
    Candidate { layer, tokens, score }
}

fn unlike(_: usize, _: usize) -> f64 {
    0.0
}

#[test]
fn where_not_everything_fits_repetitions_make_room() {
    let candidates = [
        candidate(Layer::Events, 10, 1.0),
        candidate(Layer::Facts, 10, 0.9),
        candidate(Layer::Beliefs, 10, 0.8),
        candidate(Layer::Events, 10, 0.7),
    ];
    // The fact and the belief say what the first event says.
    let alike = |one: usize, other: usize| match one.min(other) {
        0 if one.max(other) == 1 => 0.97,
        0 if one.max(other) == 2 => 0.8,
        _ => 0.0,
    };
    let budget = |tokens| Budget { tokens: Some(tokens), records: [10; 5] };
    assert_eq!(pack(&candidates, &budget(20), &alike).taken, [0, 3]);
    assert_eq!(
        pack(&candidates, &budget(30), &alike).taken,
        [0, 2, 3],
        "the fact says nothing more"
    );
    assert_eq!(pack(&candidates, &budget(30), &alike).evicted, 1);
    assert_eq!(pack(&candidates, &budget(40), &alike).taken, [0, 1, 2, 3], "all of it fits");
}

#[test]
fn limits_are_per_layer_and_zero_is_none() {
    let candidates = [
        candidate(Layer::Events, 10, 0.9),
        candidate(Layer::Facts, 10, 0.8),
        candidate(Layer::Events, 10, 0.7),
        candidate(Layer::Facts, 10, 0.6),
    ];
    let packed = pack(&candidates, &Budget { tokens: None, records: [1, 0, 2, 0, 0] }, &unlike);
    assert_eq!(packed.taken, [0, 1, 3]);
    assert_eq!(packed.evicted, 0, "a limit is no eviction");
    assert_eq!(packed.tokens, 30);
    let none = pack(&candidates, &Budget { tokens: None, records: [0; 5] }, &unlike);
    assert!(none.taken.is_empty());
}

#[test]
fn tokens_go_to_the_best_and_a_large_one_makes_room() {
    let candidates = [
        candidate(Layer::Events, 80, 0.9),
        candidate(Layer::Events, 30, 0.8),
        candidate(Layer::Facts, 15, 0.85),
        candidate(Layer::Facts, 5, 0.1),
    ];
    let packed = pack(&candidates, &Budget { tokens: Some(100), records: [10; 5] }, &unlike);
    assert_eq!(packed.taken, [0, 2, 3]);
    assert_eq!((packed.evicted, packed.tokens), (1, 100));
}

proptest! {
    #[test]
    fn a_pack_never_exceeds_its_budget(
        candidates in proptest::collection::vec((0usize..5, 0u64..50, 0.0f64..1.0), 0..30),
        tokens in proptest::option::of(0u64..200),
        records in proptest::array::uniform5(0usize..6),
    ) {
        let candidates: Vec<Candidate> = candidates
            .into_iter()
            .map(|(layer, tokens, score)| candidate(Layer::ALL[layer], tokens, score))
            .collect();
        let budget = Budget { tokens, records };
        let packed = pack(&candidates, &budget, &unlike);
        prop_assert!(packed.taken.is_sorted());
        let used: u64 = packed.taken.iter().map(|at| candidates[*at].tokens).sum();
        prop_assert_eq!(used, packed.tokens);
        prop_assert!(tokens.is_none_or(|limit| used <= limit));
        for layer in Layer::ALL {
            let count = packed.taken.iter().filter(|at| candidates[**at].layer == layer).count();
            prop_assert!(count <= budget.of(layer));
        }
        let places: usize = Layer::ALL
            .iter()
            .map(|layer| candidates.iter().filter(|c| c.layer == *layer).count().min(budget.of(*layer)))
            .sum();
        prop_assert_eq!(packed.taken.len() + packed.evicted, places);
    }
}

#[test]
fn tail_cut_keeps_the_first_events_and_drops_weak_facts() {
    let cut = TailCut::of(PackSelection::Balanced).unwrap();
    assert!(cut.keeps(Layer::Events, 1, 0.05) && !cut.keeps(Layer::Events, 2, 0.05));
    assert!(!cut.keeps(Layer::Facts, 0, 0.05) && cut.keeps(Layer::Facts, 7, 0.9));
    let precise = TailCut::of(PackSelection::Precision).unwrap();
    assert!(precise.share > cut.share && precise.events_least < cut.events_least);
    assert_eq!(TailCut::of(PackSelection::Recall), None);
}
