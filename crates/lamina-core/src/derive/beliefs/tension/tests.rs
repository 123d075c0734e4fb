//! Tension is symmetric, and each policy prefers whom it says.

use lamina_types::Micros;

use super::*;

fn side(id: u8, mean: f64, at: i64) -> Side {
    Side { belief: BeliefId::from_bytes([id; 16]), mean, last_evidence: RecordedAt(Micros(at)) }
}

#[test]
fn both_sure_is_tense_and_one_refuted_is_not() {
    let policy = ResolutionPolicy::default();
    for (one, other, expected) in
        [(0.9, 0.9, 0.8), (0.95, 0.05, 0.0), (0.6, 0.5, 0.1), (1.0, 1.0, 1.0)]
    {
        let found = tension(side(1, one, 1), side(2, other, 2), policy);
        assert!((found.tension - expected).abs() < 1e-12, "{one} {other}");
        assert_eq!(found, tension(side(2, other, 2), side(1, one, 1), policy), "symmetric");
    }
}

#[test]
fn the_newer_wins_unless_the_older_is_clearly_stronger() {
    let default = ResolutionPolicy::default();
    let prefers = |one, other, policy| {
        let found = tension(one, other, policy);
        (found.resolution.as_str(), found.prefers.map(|id| id.as_bytes()[0]))
    };
    let (older, newer) = (side(1, 0.8, 1), side(2, 0.7, 2));
    assert_eq!(prefers(older, newer, default), ("newer_wins", Some(2)));
    let weak = side(2, 0.5, 2);
    assert_eq!(prefers(older, weak, default), ("stronger_wins", Some(1)));
    assert_eq!(prefers(older, weak, ResolutionPolicy::LatestWins), ("newer_wins", Some(2)));
    assert_eq!(prefers(older, newer, ResolutionPolicy::StrongestWins), ("stronger_wins", Some(1)));
    assert_eq!(prefers(older, newer, ResolutionPolicy::KeepOpen), ("open", None));
    assert_eq!(ResolutionPolicy::named("latest_wins_within_confidence_band"), Some(default));
    assert_eq!(ResolutionPolicy::named("coin"), None);
}
