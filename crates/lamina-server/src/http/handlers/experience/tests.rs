//! How long the stages took, by name.

use super::*;

#[test]
fn every_completed_stage_is_named_whether_or_not_its_time_is_known() {
    let completed = vec![Stage::Captured, Stage::Extracted, Stage::Indexed];
    let elapsed_us = vec![(Stage::Extracted, 2_500)];
    let progress = Progress { completed, elapsed_us, ..Progress::default() };
    let expected = ElapsedMs {
        capture: Some(1.0),
        extract: Some(2.5),
        index: Some(0.0),
        consolidate: None,
        compress: None,
    };
    assert_eq!(elapsed(1_000, &progress), expected);
}
