//! Channels weighed together.

use proptest::prelude::*;

use super::{ChannelScores, min_max, weigh_channels};
use crate::read::tuning::Tuning;

#[test]
fn the_best_is_one_and_what_has_none_is_zero() {
    assert_eq!(min_max(&[Some(2.0), None, Some(6.0), Some(4.0)]), [0.0, 0.0, 1.0, 0.5]);
    assert_eq!(min_max(&[Some(3.0), None]), [1.0, 0.0]);
    assert_eq!(min_max(&[Some(f64::NAN), Some(1.0)]), [0.0, 1.0]);
    assert!(min_max(&[]).is_empty());
}

fn scores() -> impl Strategy<Value = ChannelScores> {
    let score = || proptest::option::of(0.0f64..50.0);
    (score(), score(), score(), any::<bool>()).prop_map(|(lexical, semantic, model, known)| {
        ChannelScores { lexical, semantic, model, is_known_to_model: known }
    })
}

proptest! {
    #[test]
    fn scaled_scores_keep_their_order(scores in proptest::collection::vec(-1e6f64..1e6, 1..40)) {
        let scaled = min_max(&scores.iter().copied().map(Some).collect::<Vec<_>>());
        prop_assert!(scaled.iter().all(|score| (0.0..=1.0).contains(score)));
        for (i, a) in scores.iter().enumerate() {
            for (j, b) in scores.iter().enumerate() {
                if a < b {
                    prop_assert!(scaled[i] <= scaled[j]);
                }
            }
        }
    }

    #[test]
    fn channels_of_any_candidates_weigh_at_most_their_weight(candidates in proptest::collection::vec(scores(), 0..30)) {
        let weights = Tuning::USUAL.weights;
        let weighed = weigh_channels(&candidates, &weights);
        prop_assert_eq!(weighed.lexical.len(), candidates.len());
        for (one, (lexical, semantic)) in
            candidates.iter().zip(weighed.lexical.iter().zip(&weighed.semantic))
        {
            prop_assert!((0.0..=weights.lexical + 1e-9).contains(lexical));
            prop_assert!((0.0..=weights.semantic + 1e-9).contains(semantic));
            prop_assert_eq!(*lexical > 0.0, one.lexical.is_some());
            let is_known = one.semantic.is_some() || (one.is_known_to_model && one.model.is_some());
            prop_assert_eq!(*semantic > 0.0, is_known);
        }
    }

    #[test]
    fn channels_without_a_model_ignore_its_scores(candidates in proptest::collection::vec(scores(), 0..30)) {
        let unknown = |one: &ChannelScores| ChannelScores { is_known_to_model: false, ..*one };
        let unmodelled = |one: &ChannelScores| ChannelScores { model: None, ..unknown(one) };
        let weights = Tuning::USUAL.weights;
        let (one, other): (Vec<_>, Vec<_>) =
            candidates.iter().map(|one| (unknown(one), unmodelled(one))).unzip();
        prop_assert_eq!(weigh_channels(&one, &weights), weigh_channels(&other, &weights));
    }
}
