//! Values that follow one another, come late, come back, or never were.

use super::*;

#[test]
fn a_first_value_holds_from_when_it_was_observed() {
    check(
        "10 20 is 200",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     -
                    20     -   200
                    30     -   200
                    40     -   200
                    50     -   200
                    60     -   200
          10 add first_known
    "#]],
    );
}

#[test]
fn a_later_value_supersedes_and_the_past_keeps_its_answer() {
    check(
        "10 10 is 100\n20 30 is 200",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -   100   100
                    20     -   100   100
                    30     -   100   200
                    40     -   100   200
                    50     -   100   200
                    60     -   100   200
          10 add first_known
          20 update supersedes
    "#]],
    );
}

#[test]
fn a_late_report_fills_the_past_but_not_the_present() {
    check(
        "10 20 is 200\n20 0 is 100",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -   100
                    10     -     -   100
                    20     -   200   200
                    30     -   200   200
                    40     -   200   200
                    50     -   200   200
                    60     -   200   200
          10 add first_known
          20 add late_report
    "#]],
    );
}

#[test]
fn a_late_report_in_between_is_clipped_on_both_sides() {
    check(
        "10 10 is a\n20 40 is c\n30 20 is b",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     a     b
                    30     -     a     a     b
                    40     -     a     c     c
                    50     -     a     c     c
                    60     -     a     c     c
          10 add first_known
          20 update supersedes
          30 update supersedes
    "#]],
    );
}

#[test]
fn a_late_report_does_not_reach_past_a_repetition() {
    check(
        "10 10 is a\n20 40 is a\n30 20 is b",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     a     b
                    30     -     a     a     b
                    40     -     a     a     a
                    50     -     a     a     a
                    60     -     a     a     a
          10 add first_known
          20 noop repeats
          30 update supersedes
    "#]],
    );
}

#[test]
fn a_stated_beginning_reaches_back_before_it_was_said() {
    check(
        "10 40 is a from=20",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     -
                    20     -     a
                    30     -     a
                    40     -     a
                    50     -     a
                    60     -     a
          10 add first_known
    "#]],
    );
}

#[test]
fn a_stated_end_is_the_end() {
    check(
        "10 10 is a to=30",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     a
                    20     -     a
                    30     -     -
                    40     -     -
                    50     -     -
                    60     -     -
          10 add first_known
    "#]],
    );
}

#[test]
fn a_bounded_statement_interrupts_and_does_not_end() {
    check(
        "10 10 is a\n20 20 is b from=20 to=40",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     b
                    30     -     a     b
                    40     -     a     a
                    50     -     a     a
                    60     -     a     a
          10 add first_known
          20 update supersedes
    "#]],
    );
}

#[test]
fn a_late_open_report_goes_on_after_a_bounded_one() {
    check(
        "10 20 is b from=20 to=40\n20 10 is a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     a
                    20     -     b     b
                    30     -     b     b
                    40     -     -     a
                    50     -     -     a
                    60     -     -     a
          10 add first_known
          20 add late_report
    "#]],
    );
}

#[test]
fn overlapping_stated_intervals_yield_to_the_later_beginning() {
    check(
        "10 60 is a from=10 to=40\n20 60 is b from=30 to=60",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     a     b
                    40     -     -     b
                    50     -     -     b
                    60     -     -     -
          10 add first_known
          20 update supersedes
    "#]],
    );
}

#[test]
fn an_enclosed_interval_is_cut_out_whichever_was_said_first() {
    check(
        "10 60 is b from=20 to=30\n20 60 is a from=10 to=50",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     -     a
                    20     -     b     b
                    30     -     -     a
                    40     -     -     a
                    50     -     -     -
                    60     -     -     -
          10 add first_known
          20 add late_report
    "#]],
    );
}

#[test]
fn the_same_again_is_evidence_and_no_new_version() {
    check(
        "10 10 is a\n20 30 is a",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     a     a
                    40     -     a     a
                    50     -     a     a
                    60     -     a     a
          10 add first_known
          20 noop repeats
    "#]],
    );
    versions(
        "10 10 is a\n20 30 is a",
        expect![[r#"
        10.10.0  a          valid 10o-.. recorded 10-.. from 10,20
    "#]],
    );
}

#[test]
fn the_same_value_for_longer_is_one_fact() {
    check(
        "10 10 is a from=10 to=30\n20 30 is a from=20 to=50",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -     a     a
                    20     -     a     a
                    30     -     -     a
                    40     -     -     a
                    50     -     -     -
                    60     -     -     -
          10 add first_known
          20 update extends
    "#]],
    );
    versions(
        "10 10 is a from=10 to=30\n20 30 is a from=20 to=50",
        expect![[r#"
        10.10.0  a          valid 10s-30s recorded 10-20 from 10 superseded_by 10.20.0
        10.20.0  a          valid 10s-50s recorded 20-.. from 10,20 supersedes 10.10.0
    "#]],
    );
}

#[test]
fn a_value_can_come_back() {
    check(
        "10 10 is a\n20 20 is b\n30 40 is a",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     b     b
                    30     -     a     b     b
                    40     -     a     b     a
                    50     -     a     b     a
                    60     -     a     b     a
          10 add first_known
          20 update supersedes
          30 update supersedes
    "#]],
    );
    versions(
        "10 10 is a\n20 20 is b\n30 40 is a",
        expect![[r#"
        10.10.0  a          valid 10o-.. recorded 10-20 from 10 superseded_by 20.20.0
        10.20.0  a          valid 10o-20o recorded 20-.. from 10 supersedes 10.10.0
        20.20.0  b          valid 20o-.. recorded 20-30 from 20 supersedes 10.10.0 superseded_by 30.30.0
        20.30.0  b          valid 20o-40o recorded 30-.. from 20 supersedes 20.20.0
        30.30.0  a          valid 40o-.. recorded 30-.. from 30 supersedes 20.20.0
    "#]],
    );
}

#[test]
fn a_correction_replaces_from_the_same_beginning() {
    check(
        "10 10 is 200\n20 30 actually 250",
        expect![[r#"
        valid\recorded     0    10    20
                     0     -     -     -
                    10     -   200   250
                    20     -   200   250
                    30     -   200   250
                    40     -   200   250
                    50     -   200   250
                    60     -   200   250
          10 add first_known
          20 update corrects
    "#]],
    );
    versions(
        "10 10 is 200\n20 30 actually 250",
        expect![[r#"
        10.10.0  200        valid 10o-.. recorded 10-20 from 10 superseded_by 20.20.0
        20.20.0  250        valid 10o-.. recorded 20-.. from 20,20 supersedes 10.10.0
    "#]],
    );
}

#[test]
fn a_correction_leaves_what_was_before_and_after() {
    check(
        "10 10 is a\n20 20 is b\n30 50 is c\n40 30 actually d",
        expect![[r#"
        valid\recorded     0    10    20    30    40
                     0     -     -     -     -     -
                    10     -     a     a     a     a
                    20     -     a     b     b     d
                    30     -     a     b     b     d
                    40     -     a     b     b     d
                    50     -     a     b     c     c
                    60     -     a     b     c     c
          10 add first_known
          20 update supersedes
          30 update supersedes
          40 update corrects
    "#]],
    );
}

#[test]
fn a_correction_of_the_beginning_gives_back_what_it_took() {
    check(
        "10 10 is a\n20 20 is b\n30 50 actually b from=40",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     b     a
                    30     -     a     b     a
                    40     -     a     b     b
                    50     -     a     b     b
                    60     -     a     b     b
          10 add first_known
          20 update supersedes
          30 update corrects
    "#]],
    );
}

#[test]
fn a_correction_of_the_beginning_can_take_more() {
    check(
        "10 10 is a\n20 40 is b\n30 50 actually b from=20",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     a
                    20     -     a     a     b
                    30     -     a     a     b
                    40     -     a     b     b
                    50     -     a     b     b
                    60     -     a     b     b
          10 add first_known
          20 update supersedes
          30 update corrects
    "#]],
    );
}

#[test]
fn a_correction_of_a_past_time_leaves_the_present() {
    check(
        "10 10 is a from=10 to=30\n20 30 is b\n30 60 actually c from=10 to=30",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     a     c
                    20     -     a     a     c
                    30     -     -     b     b
                    40     -     -     b     b
                    50     -     -     b     b
                    60     -     -     b     b
          10 add first_known
          20 add first_known
          30 update corrects
    "#]],
    );
}

#[test]
fn a_correction_of_nothing_is_a_statement() {
    check(
        "10 20 actually a",
        expect![[r#"
        valid\recorded     0    10
                     0     -     -
                    10     -     -
                    20     -     a
                    30     -     a
                    40     -     a
                    50     -     a
                    60     -     a
          10 add first_known
    "#]],
    );
}

#[test]
fn a_later_report_does_not_reach_past_a_correction() {
    check(
        "10 10 is a\n20 40 actually b\n30 20 is c",
        expect![[r#"
        valid\recorded     0    10    20    30
                     0     -     -     -     -
                    10     -     a     b     b
                    20     -     a     b     c
                    30     -     a     b     c
                    40     -     a     b     b
                    50     -     a     b     b
                    60     -     a     b     b
          10 add first_known
          20 update corrects
          30 update supersedes
    "#]],
    );
}
