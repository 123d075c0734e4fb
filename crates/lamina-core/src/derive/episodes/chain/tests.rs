//! Roles as drawn by hand, and that no input makes the chain loop or grow.

use lamina_types::Micros;
use proptest::prelude::*;

use super::*;

fn id(n: u8) -> EventId {
    EventId::from_bytes([n; 16])
}

fn step(n: u8, at: i64, preceded_by: &[u8], role: Option<Role>) -> Step {
    Step {
        event: id(n),
        observed: ValidAt(Micros(at)),
        preceded_by: preceded_by.iter().map(|n| id(*n)).collect(),
        role,
    }
}

fn show(steps: &[Step]) -> String {
    let links = chain(steps);
    let words =
        links.iter().map(|(event, role)| format!("{}:{}", event.as_bytes()[0], role.as_str()));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn without_hints_the_first_and_the_last_stand_in() {
    assert_eq!(show(&[]), "");
    assert_eq!(show(&[step(1, 0, &[], None)]), "1:trigger");
    assert_eq!(
        show(&[step(2, 5, &[], None), step(1, 0, &[], None), step(3, 3, &[], None)]),
        "1:trigger 2:outcome"
    );
}

#[test]
fn what_events_say_of_themselves_wins() {
    let decision = Some(Role::Decision);
    let steps = [
        step(1, 0, &[], None),
        step(2, 1, &[], decision),
        step(3, 2, &[], Some(Role::Outcome)),
        step(4, 3, &[], None),
    ];
    assert_eq!(show(&steps), "1:trigger 2:decision 3:outcome");
}

#[test]
fn the_longest_line_of_causes_has_the_ends() {
    // 2 -> 3 -> 5 is a line; 1, 4 and 6 are talk beside it.
    let steps = [
        step(1, 0, &[], None),
        step(2, 1, &[99], None),
        step(3, 2, &[2], Some(Role::Decision)),
        step(4, 3, &[1], None),
        step(5, 4, &[3], None),
        step(6, 5, &[], None),
    ];
    assert_eq!(show(&steps), "2:trigger 3:decision 5:outcome");
}

#[test]
fn kinds_name_roles() {
    for (kind, role) in [
        ("decision.made", Some(Role::Decision)),
        ("goal.created", Some(Role::Trigger)),
        ("Task.Completed", Some(Role::Outcome)),
        ("incident_resolved", Some(Role::Outcome)),
        ("question", Some(Role::Trigger)),
        ("chat", None),
        ("", None),
    ] {
        assert_eq!(Role::of_kind(kind), role, "{kind}");
    }
}

#[test]
fn centrality_is_the_mean_share_of_other_episodes() {
    assert_eq!(centrality(&[], 10).get(), 0);
    assert_eq!(centrality(&[5], 1).get(), 0);
    assert_eq!(centrality(&[11, 1], 11).get(), 5_000);
    assert_eq!(centrality(&[4, 4, 4], 4).get(), 10_000);
    assert_eq!(centrality(&[u32::MAX], 3).get(), 10_000);
    assert_eq!(centrality(&[2, 1, 1], 4).get(), 1_111);
}

proptest! {
    #[test]
    fn any_causes_end_in_a_bounded_chain(
        raw in prop::collection::vec((0..6_i64, prop::collection::vec(0..200_u8, 0..4), 0..4_u8), 0..200),
    ) {
        let roles = [None, Some(Role::Trigger), Some(Role::Decision), Some(Role::Outcome)];
        let steps: Vec<Step> = raw
            .iter()
            .enumerate()
            .map(|(n, (at, before, role))| step(n as u8, *at, before, roles[usize::from(*role)]))
            .collect();
        let links = chain(&steps);
        prop_assert!(links.len() <= LINKS_MAX);
        let mut turned = steps.clone();
        turned.reverse();
        prop_assert_eq!(chain(&turned), links);
    }
}
