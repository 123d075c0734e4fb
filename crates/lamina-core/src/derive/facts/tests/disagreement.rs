//! Values that cannot both be: how a conflict opens, grows, and is decided.

use super::*;

#[test]
fn a_negation_at_the_same_instant_is_a_conflict() {
    check(
        "10 20 is a\n20 20 not a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     -
                    20     -     a  a|!a
                    30     -     a  a|!a
                    40     -     a  a|!a
                    50     -     a  a|!a
                    60     -     a  a|!a
          10 add first_known
          20 conflict equal_time
    "#]],
    );
}

#[test]
fn two_values_from_the_same_instant_are_a_conflict() {
    check(
        "10 20 is a\n20 20 is b",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     -
                    20     -     a   a|b
                    30     -     a   a|b
                    40     -     a   a|b
                    50     -     a   a|b
                    60     -     a   a|b
          10 add first_known
          20 conflict equal_time
    "#]],
    );
    versions(
        "10 20 is a\n20 20 is b",
        expect![[r#"
        10.10.0  a          valid 20o-.. recorded 10-20 from 10 superseded_by 20.20.0
        20.20.0  a|b        valid 20o-.. recorded 20-.. from 10,20 supersedes 10.10.0
    "#]],
    );
}

#[test]
fn a_stated_beginning_outranks_an_observed_one() {
    check(
        "10 20 is a\n20 60 is b from=20\n30 20 is c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a     b     b
                    30     -     a     b     b
                    40     -     a     b     b
                    50     -     a     b     b
                    60     -     a     b     b
          10 add first_known
          20 update supersedes
          30 noop outranked
    "#]],
    );
}

#[test]
fn a_third_value_joins_a_conflict() {
    check(
        "10 20 is a\n20 20 is b\n30 20 is c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b a|b|c
                    30     -     a   a|b a|b|c
                    40     -     a   a|b a|b|c
                    50     -     a   a|b a|b|c
                    60     -     a   a|b a|b|c
          10 add first_known
          20 conflict equal_time
          30 conflict equal_time
    "#]],
    );
    versions(
        "10 20 is a\n20 20 is b\n30 20 is c",
        expect![[r#"
        10.10.0  a          valid 20o-.. recorded 10-20 from 10 superseded_by 20.20.0
        20.20.0  a|b        valid 20o-.. recorded 20-30 from 10,20 supersedes 10.10.0 superseded_by 20.30.0
        20.30.0  a|b|c      valid 20o-.. recorded 30-.. from 10,20,30 supersedes 20.20.0
    "#]],
    );
}

#[test]
fn a_later_value_ends_a_conflict_without_deciding_it() {
    check(
        "10 20 is a\n20 20 is b\n30 40 is c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b   a|b
                    30     -     a   a|b   a|b
                    40     -     a   a|b     c
                    50     -     a   a|b     c
                    60     -     a   a|b     c
          10 add first_known
          20 conflict equal_time
          30 update supersedes
    "#]],
    );
}

#[test]
fn an_ending_of_one_side_leaves_the_other() {
    check(
        "10 20 is a\n20 20 is b\n30 40 ends a",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b   a|b
                    30     -     a   a|b   a|b
                    40     -     a   a|b     b
                    50     -     a   a|b     b
                    60     -     a   a|b     b
          10 add first_known
          20 conflict equal_time
          30 end ends_known
    "#]],
    );
}

#[test]
fn picking_a_side_decides_a_conflict() {
    check(
        "10 20 is a\n20 20 is b\n30 at=20 pick b",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b     b
                    30     -     a   a|b     b
                    40     -     a   a|b     b
                    50     -     a   a|b     b
                    60     -     a   a|b     b
          10 add first_known
          20 conflict equal_time
          30 update resolved
    "#]],
    );
    versions(
        "10 20 is a\n20 20 is b\n30 at=20 pick b",
        expect![[r#"
        10.10.0  a          valid 20o-.. recorded 10-20 from 10 superseded_by 20.20.0
        20.20.0  a|b        valid 20o-.. recorded 20-30 from 10,20 supersedes 10.10.0 superseded_by 20.30.0
        20.30.0  b          valid 20s-.. recorded 30-.. from 20,30 supersedes 20.20.0
    "#]],
    );
}

#[test]
fn what_was_decided_is_not_opened_again_by_the_same_words() {
    check(
        "10 20 is a\n20 20 is b\n30 at=20 pick b\n40 20 is a\n50 40 is a",
        expect![[r#"
        valid\recorded     0    10    20    30    40    50
                     0     -     -     -     -     -     -
                    10     -     -     -     -     -     -
                    20     -     a   a|b     b     b     b
                    30     -     a   a|b     b     b     b
                    40     -     a   a|b     b     b     a
                    50     -     a   a|b     b     b     a
                    60     -     a   a|b     b     b     a
          10 add first_known
          20 conflict equal_time
          30 update resolved
          40 noop outranked
          50 update supersedes
    "#]],
    );
}

#[test]
fn splitting_lets_both_be_right() {
    check(
        "10 10 is a\n20 10 is b\n30 at=10 split 30 a b",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a   a|b     a
                    20     -     a   a|b     a
                    30     -     a   a|b     b
                    40     -     a   a|b     b
                    50     -     a   a|b     b
                    60     -     a   a|b     b
          10 add first_known
          20 conflict equal_time
          30 update resolved
    "#]],
    );
    check(
        "10 10 is a\n20 10 is b\n30 at=10 split 10 a b",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a   a|b     b
                    20     -     a   a|b     b
                    30     -     a   a|b     b
                    40     -     a   a|b     b
                    50     -     a   a|b     b
                    60     -     a   a|b     b
          10 add first_known
          20 conflict equal_time
          30 update resolved
    "#]],
    );
}

#[test]
fn new_information_takes_the_place_of_a_conflict() {
    check(
        "10 20 is a\n20 20 is b\n30 at=20 new c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b     c
                    30     -     a   a|b     c
                    40     -     a   a|b     c
                    50     -     a   a|b     c
                    60     -     a   a|b     c
          10 add first_known
          20 conflict equal_time
          30 update resolved
    "#]],
    );
    check(
        "10 10 is x\n20 20 is a\n30 20 is b\n40 at=20 new c from=30 to=50",
        expect![[r#"
        valid\recorded     0    10    20    30    40
                     0     -     -     -     -     -
                    10     -     x     x     x     x
                    20     -     x     a   a|b     x
                    30     -     x     a   a|b     c
                    40     -     x     a   a|b     c
                    50     -     x     a   a|b     x
                    60     -     x     a   a|b     x
          10 add first_known
          20 update supersedes
          30 conflict equal_time
          40 update resolved
    "#]],
    );
}

#[test]
fn a_dismissed_conflict_leaves_what_was_said_first() {
    check(
        "10 20 is b\n20 20 is a\n30 at=20 dismiss",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     b   a|b     b
                    30     -     b   a|b     b
                    40     -     b   a|b     b
                    50     -     b   a|b     b
                    60     -     b   a|b     b
          10 add first_known
          20 conflict equal_time
          30 update resolved
    "#]],
    );
}

#[test]
fn a_decision_about_no_conflict_does_nothing() {
    check(
        "10 20 is a\n20 at=20 pick a\n30 at=50 dismiss\n40 at=0 dismiss",
        expect![[r#"
        valid\recorded     0    10    20    30    40
                     0     -     -     -     -     -
                    10     -     -     -     -     -
                    20     -     a     a     a     a
                    30     -     a     a     a     a
                    40     -     a     a     a     a
                    50     -     a     a     a     a
                    60     -     a     a     a     a
          10 add first_known
          20 noop no_conflict
          30 noop no_conflict
          40 noop no_conflict
    "#]],
    );
    check(
        "10 20 is a\n20 20 is b\n30 at=20 pick c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b   a|b
                    30     -     a   a|b   a|b
                    40     -     a   a|b   a|b
                    50     -     a   a|b   a|b
                    60     -     a   a|b   a|b
          10 add first_known
          20 conflict equal_time
          30 noop not_a_side
    "#]],
    );
}

#[test]
fn what_may_not_supersede_stands_beside() {
    check(
        "10 10 is a\n20 30 is b beside",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     a   a|b
                    40     -     a   a|b
                    50     -     a   a|b
                    60     -     a   a|b
          10 add first_known
          20 conflict beside
    "#]],
    );
    check(
        "10 30 is a beside\n20 10 is b beside",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     b
                    20     -     -     b
                    30     -     a     a
                    40     -     a     a
                    50     -     a     a
                    60     -     a     a
          10 add first_known
          20 add late_report
    "#]],
    );
}

#[test]
fn a_statement_about_no_time_is_nothing() {
    check(
        "10 10 is a from=30 to=30\n20 10 not a to=5\n30 10 is a from=40 to=30",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     -     -     -
                    30     -     -     -     -
                    40     -     -     -     -
                    50     -     -     -     -
                    60     -     -     -     -
          10 noop empty
          20 noop empty
          30 noop empty
    "#]],
    );
}

#[test]
fn a_scope_may_say_which_of_two_stands() {
    check(
        "10 20 is a\n20 20 is b latest\n30 20 is c band sure=5000\n40 20 is d strongest sure=9000",
        expect![[r#"
            valid\recorded     0    10    20    30    40
                         0     -     -     -     -     -
                        10     -     -     -     -     -
                        20     -     a     b     b     d
                        30     -     a     b     b     d
                        40     -     a     b     b     d
                        50     -     a     b     b     d
                        60     -     a     b     b     d
              10 add first_known
              20 update supersedes
              30 noop compatible
              40 update supersedes
        "#]],
    );
    versions(
        "10 20 is a\n20 20 is b latest",
        expect![[r#"
        10.10.0  a          valid 20o-.. recorded 10-20 from 10 superseded_by 20.20.0
        20.20.0  b          valid 20o-.. recorded 20-.. from 20 supersedes 10.10.0
    "#]],
    );
    // Equally sure is open, and a conflict that was open is decided by what is said next.
    check(
        "10 20 is a\n20 20 is b strongest\n30 20 is a latest",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a   a|b     a
                    30     -     a   a|b     a
                    40     -     a   a|b     a
                    50     -     a   a|b     a
                    60     -     a   a|b     a
          10 add first_known
          20 conflict equal_time
          30 update supersedes
    "#]],
    );
}

#[test]
fn record_of_the_same_author_replaces_and_of_another_opens_a_conflict() {
    check(
        "10 20 is a by=crm\n20 30 is b by=crm\n30 40 is c by=ann\n40 50 is c by=crm",
        expect![[r#"
            valid\recorded     0    10    20    30    40
                         0     -     -     -     -     -
                        10     -     -     -     -     -
                        20     -     a     a     a     a
                        30     -     a     b     b     b
                        40     -     a     b   b|c   b|c
                        50     -     a     b   b|c     c
                        60     -     a     b   b|c     c
              10 add first_known
              20 update supersedes
              30 conflict beside
              40 update supersedes
        "#]],
    );
}

#[test]
fn record_of_a_side_replaces_its_own_side_only() {
    check(
        "10 20 is a by=crm\n20 30 is b by=ann\n30 40 is c by=crm\n40 50 is d by=bot/crm",
        expect![[r#"
            valid\recorded     0    10    20    30    40
                         0     -     -     -     -     -
                        10     -     -     -     -     -
                        20     -     a     a     a     a
                        30     -     a   a|b   a|b   a|b
                        40     -     a   a|b   b|c   b|c
                        50     -     a   a|b   b|c b|c|d
                        60     -     a   a|b   b|c b|c|d
              10 add first_known
              20 conflict beside
              30 conflict beside
              40 conflict beside
        "#]],
    );
}

#[test]
fn record_of_another_actor_with_the_same_source_replaces() {
    check("10 20 is a by=crm/hub\n20 30 is b by=bot/hub", expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     -
                    20     -     a     a
                    30     -     a     b
                    40     -     a     b
                    50     -     a     b
                    60     -     a     b
          10 add first_known
          20 update supersedes
    "#]]);
}

#[test]
fn record_after_plain_words_replaces_them() {
    check("10 20 is a\n20 30 is b by=crm\n30 40 is c", expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     -     -     -
                    20     -     a     a     a
                    30     -     a     b     b
                    40     -     a     b     c
                    50     -     a     b     c
                    60     -     a     b     c
          10 add first_known
          20 update supersedes
          30 update supersedes
    "#]]);
}

#[test]
fn record_conflict_is_settled_where_the_scope_says_how() {
    check("10 20 is a by=crm\n20 30 is b by=ann latest", expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     -
                    20     -     a     a
                    30     -     a     b
                    40     -     a     b
                    50     -     a     b
                    60     -     a     b
          10 add first_known
          20 update supersedes
    "#]]);
}

#[test]
fn record_conflict_is_gone_without_the_record_of_the_other_author() {
    let inputs = script("10 20 is a by=crm\n20 30 is b by=ann");
    let gone = std::collections::BTreeSet::from([AssertionId { offset: 10, ordinal: 0 }]);
    let (track, _) = without(&inputs, &gone);
    let point = AsOf { valid: valid(40), recorded: recorded(40) };
    assert_eq!(show_known(at(track.pieces(), point)), "b");
}
