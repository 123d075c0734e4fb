//! Every group ends as a belief or as a counted reason.

use super::*;

#[test]
fn every_group_is_a_belief_or_has_a_reason() {
    let mut report = Report::default();
    report.group(2, 3, None);
    report.group(1, 1, Some(Rejection::BelowFloor));
    report.group(1, 0, Some(Rejection::NoBeliefShapedEvents));
    report.group(1, 2, Some(Rejection::BelowFloor));
    assert_eq!((report.facts_scanned, report.belief_events_found), (5, 6));
    assert_eq!((report.groups_considered, report.groups_rejected), (4, 3));
    let reasons: Vec<(&str, u32)> =
        report.reasons.iter().map(|(why, count)| (why.as_str(), *count)).collect();
    assert_eq!(reasons, [("no_belief_shaped_events", 1), ("below_floor", 2)]);
}

#[test]
fn a_scope_without_facts_says_so() {
    let mut report = Report::default();
    report.nothing();
    let reasons: Vec<&str> = report.reasons.keys().map(|why| why.as_str()).collect();
    assert_eq!(reasons, ["no_facts_in_scope"]);
}
