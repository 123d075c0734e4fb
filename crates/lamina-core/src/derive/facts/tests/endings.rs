//! What is over, what is not so, and what can be said of the time before.

use super::*;

#[test]
fn an_ending_leaves_nothing() {
    check(
        "10 10 is a\n20 20 is b\n30 40 ends b",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     b     b
                    30     -     a     b     b
                    40     -     a     b     -
                    50     -     a     b     -
                    60     -     a     b     -
          10 add first_known
          20 update supersedes
          30 end ends_known
    "#]],
    );
    versions(
        "10 10 is a\n20 20 is b\n30 40 ends b",
        expect![[r#"
        10.10.0  a          valid 10o-.. recorded 10-20 from 10 superseded_by 20.20.0
        10.20.0  a          valid 10o-20o recorded 20-.. from 10 supersedes 10.10.0
        20.20.0  b          valid 20o-.. recorded 20-30 from 20 supersedes 10.10.0 superseded_by 30.30.0
        20.30.0  b          valid 20o-40o recorded 30-.. from 20 supersedes 20.20.0
        30.30.0  ended b    valid 40o-.. recorded 30-.. from 20,30 supersedes 20.20.0
    "#]],
    );
}

#[test]
fn an_ending_of_something_else_changes_nothing() {
    check(
        "10 10 is a\n20 20 is b\n30 40 ends a",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     b     b
                    30     -     a     b     b
                    40     -     a     b     b
                    50     -     a     b     b
                    60     -     a     b     b
          10 add first_known
          20 update supersedes
          30 noop compatible
    "#]],
    );
}

#[test]
fn an_ending_without_a_name_ends_what_there_is() {
    check(
        "10 10 is a\n20 30 ends",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     a     -
                    40     -     a     -
                    50     -     a     -
                    60     -     a     -
          10 add first_known
          20 end ends_known
    "#]],
    );
}

#[test]
fn an_ending_of_something_unknown_is_remembered_without_a_date() {
    check(
        "10 30 ends a",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     -
                    20     -     -
                    30     -     -
                    40     -     -
                    50     -     -
                    60     -     -
          10 end ends_unknown
    "#]],
    );
    versions(
        "10 30 ends a\n20 40 ends a",
        expect![[r#"
        10.10.0  ended a    valid 30o-.. recorded 10-.. from 10,20
        10.10.65535 a          valid ..-30o recorded 10-.. from 10
    "#]],
    );
}

#[test]
fn used_to_beside_a_known_value_is_remembered_too() {
    check(
        "10 20 is b\n20 30 ends a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     -
                    20     -     b     b
                    30     -     b     b
                    40     -     b     b
                    50     -     b     b
                    60     -     b     b
          10 add first_known
          20 end ends_unknown
    "#]],
    );
    versions(
        "10 20 is b\n20 30 ends a",
        expect![[r#"
        10.10.0  b          valid 20o-.. recorded 10-.. from 10
        20.20.65535 a          valid ..-30o recorded 20-.. from 20
    "#]],
    );
}

#[test]
fn until_said_afterwards_is_an_ending() {
    check(
        "10 10 is a\n20 50 is a to=30",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     a     -
                    40     -     a     -
                    50     -     a     -
                    60     -     a     -
          10 add first_known
          20 end ends_known
    "#]],
    );
}

#[test]
fn an_ending_with_both_dates_tells_when_it_was() {
    check(
        "10 60 ends a from=20 to=40",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     -
                    20     -     a
                    30     -     a
                    40     -     -
                    50     -     -
                    60     -     -
          10 end ends_unknown
    "#]],
    );
}

#[test]
fn a_late_beginning_stops_at_an_ending_that_is_known() {
    check(
        "10 40 ends a\n20 10 is a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     a
                    20     -     -     a
                    30     -     -     a
                    40     -     -     -
                    50     -     -     -
                    60     -     -     -
          10 end ends_unknown
          20 add late_report
    "#]],
    );
}

#[test]
fn another_value_is_not_stopped_by_an_ending_of_something_unknown() {
    check(
        "10 40 ends a\n20 10 is b",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     b
                    20     -     -     b
                    30     -     -     b
                    40     -     -     b
                    50     -     -     b
                    60     -     -     b
          10 end ends_unknown
          20 add late_report
    "#]],
    );
}

#[test]
fn what_ended_can_begin_again() {
    check(
        "10 10 is a\n20 20 ends a\n30 40 is a",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     -     -
                    30     -     a     -     -
                    40     -     a     -     a
                    50     -     a     -     a
                    60     -     a     -     a
          10 add first_known
          20 end ends_known
          30 add first_known
    "#]],
    );
}

#[test]
fn moving_ends_one_and_begins_the_other_in_either_order() {
    check(
        "10 10 is rome\n20 30 is oslo\n21 30 ends rome",
        expect![[r#"
        valid\recorded     0    10    20    21
                     0     -     -     -     -
                    10     -  rome  rome  rome
                    20     -  rome  rome  rome
                    30     -  rome  oslo  oslo
                    40     -  rome  oslo  oslo
                    50     -  rome  oslo  oslo
                    60     -  rome  oslo  oslo
          10 add first_known
          20 update supersedes
          21 noop compatible
    "#]],
    );
    check(
        "10 10 is rome\n20 30 ends rome\n21 30 is oslo",
        expect![[r#"
        valid\recorded     0    10    20    21
                     0     -     -     -     -
                    10     -  rome  rome  rome
                    20     -  rome  rome  rome
                    30     -  rome     -  oslo
                    40     -  rome     -  oslo
                    50     -  rome     -  oslo
                    60     -  rome     -  oslo
          10 add first_known
          20 end ends_known
          21 add first_known
    "#]],
    );
}

#[test]
fn a_negation_is_a_value_of_its_own() {
    check(
        "10 20 not a",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     -
                    20     -    !a
                    30     -    !a
                    40     -    !a
                    50     -    !a
                    60     -    !a
          10 add first_known
    "#]],
    );
}

#[test]
fn a_negation_supersedes_what_it_denies() {
    check(
        "10 10 is a\n20 30 not a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     a    !a
                    40     -     a    !a
                    50     -     a    !a
                    60     -     a    !a
          10 add first_known
          20 update supersedes
    "#]],
    );
}

#[test]
fn a_negation_of_something_else_is_compatible() {
    check(
        "10 10 is a\n20 30 not b\n30 20 not c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     a     a
                    30     -     a     a     a
                    40     -     a     a     a
                    50     -     a     a     a
                    60     -     a     a     a
          10 add first_known
          20 noop compatible
          30 noop compatible
    "#]],
    );
}

#[test]
fn a_value_tells_more_than_a_negation() {
    check(
        "10 30 not b\n20 10 is a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     a
                    20     -     -     a
                    30     -    !b     a
                    40     -    !b     a
                    50     -    !b     a
                    60     -    !b     a
          10 add first_known
          20 update supersedes
    "#]],
    );
}
