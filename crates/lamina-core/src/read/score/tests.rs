//! Scores of candidates: contributions that add up, and an order that follows them.

use proptest::prelude::*;

use super::{ScoreCandidate, Signal, Signals, TextManner, manner_worth, order, score};
use crate::read::expand::ConversationPlace;
use crate::read::plan::Plan;
use crate::read::retrieve::ChannelScores;
use crate::read::tuning::Tuning;

fn candidate() -> impl Strategy<Value = ScoreCandidate> {
    let channels = (proptest::option::of(0.0f64..30.0), proptest::option::of(0.0f64..1.0))
        .prop_map(|(lexical, semantic)| ChannelScores { lexical, semantic, ..Default::default() });
    let place = (proptest::option::of(0u64..4), proptest::option::of(0u64..12))
        .prop_map(|(thread, position)| ConversationPlace { thread, position });
    (channels, 0.0f64..9.0, place, -0.1f64..1.0, 0i64..1_000, any::<bool>()).prop_map(
        |(channels, fit, place, manner, observed, is_hinted)| ScoreCandidate {
            channels,
            fit,
            place,
            manner,
            observed,
            is_hinted,
        },
    )
}

#[test]
fn manner_of_a_question_costs_and_a_time_helps_when_one_is_asked_for() {
    let tuning = Tuning::USUAL;
    let asks = TextManner { asks: true, ..TextManner::default() };
    assert!(manner_worth(&asks, Plan::Lookup, &tuning) < 0.0);
    let dates = TextManner { dates: true, ..TextManner::default() };
    assert!(manner_worth(&dates, Plan::When, &tuning) > 0.0);
    assert!(manner_worth(&dates, Plan::Lookup, &tuning).abs() < 1e-12);
}

#[test]
fn candidate_of_the_time_that_is_named_scores_higher() {
    let other = ScoreCandidate { fit: 1.0, ..ScoreCandidate::default() };
    let named = ScoreCandidate { is_hinted: true, ..other };
    let signals = score(&[other, named], &Tuning::USUAL);
    assert!(signals[1].sum() > signals[0].sum());
}

proptest! {
    #[test]
    fn contributions_add_up(values in proptest::array::uniform6(0.0f64..1.0), weights in proptest::array::uniform6(0.0f64..1.0)) {
        let of = |v: [f64; 6]| Signals {
            lexical: v[0], semantic: v[1], graph: v[2], recency: v[3], importance: v[4], confidence: v[5],
        };
        let kept = of(values).times(&of(weights));
        let added: f64 = Signal::ALL.iter().map(|signal| kept.of(*signal)).sum();
        prop_assert!((added - kept.sum()).abs() < 1e-9);
    }

    #[test]
    fn better_fit_never_lowers_a_score(candidates in proptest::collection::vec(candidate(), 1..20), more in 0.1f64..5.0) {
        let tuning = Tuning::USUAL;
        let best = candidates.iter().map(|one| one.fit).fold(0.0, f64::max);
        let before = score(&candidates, &tuning);
        let mut raised = candidates.clone();
        // The best stays the best, so that the scale does.
        raised[0].fit = (raised[0].fit + more).min(best);
        let after = score(&raised, &tuning);
        prop_assert!(after[0].sum() >= before[0].sum() - 1e-9);
    }

    #[test]
    fn scores_are_finite_and_follow_their_candidates(candidates in proptest::collection::vec(candidate(), 0..20)) {
        let signals = score(&candidates, &Tuning::USUAL);
        prop_assert_eq!(signals.len(), candidates.len());
        prop_assert!(signals.iter().all(|one| one.sum().is_finite()));
        let mut reversed = candidates;
        reversed.reverse();
        let mut other = score(&reversed, &Tuning::USUAL);
        other.reverse();
        for (one, other) in signals.iter().zip(&other) {
            prop_assert!((one.lexical - other.lexical).abs() < 1e-9);
            prop_assert!((one.importance - other.importance).abs() < 1e-9);
        }
    }

    #[test]
    fn an_order_is_a_permutation_and_descends(scores in proptest::collection::vec(-1.0f64..1.0, 0..30)) {
        let ranked = order(&scores);
        let mut sorted = ranked.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, (0..scores.len()).collect::<Vec<_>>());
        prop_assert!(ranked.windows(2).all(|two| scores[two[0]] >= scores[two[1]]));
    }
}
