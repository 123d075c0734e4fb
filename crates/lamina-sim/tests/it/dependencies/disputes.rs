//! Disagreements: both sides are shown until one is withdrawn, overtaken or decided against.

use expect_test::expect;

use super::story::check;

#[test]
fn a_side_that_is_withdrawn_leaves_the_other_and_no_conflict() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        keep dispute conflict
        look
        look known=rome
        cancel oslo
        look
        look known=oslo
        look valid=2025-02-01
        read dispute
        ",
        expect![[r#"
            @ now
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            @ known=rome
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel oslo
            @ now
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=oslo
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-02-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            read dispute: 410 RESOURCE_DELETED
        "#]],
    );
}

#[test]
fn three_sides_lose_one() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        say bern 2025-01-10: I live in Bern.
        keep dispute conflict
        look
        cancel rome
        look
        read dispute
        cancel bern
        look
        read dispute
        look known=bern
        ",
        expect![[r#"
            @ now
              events    rome oslo bern
              episodes  [rome oslo bern]
              facts     user:local lives_in Bern|Oslo|Rome 2025-01-10.. 0.90 (rome oslo bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
                        user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Bern|Oslo|Rome open
            > cancel rome
            @ now
              events    oslo bern
              episodes  [oslo bern]
              facts     user:local lives_in Bern|Oslo 2025-01-10.. 0.90 (oslo bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
                        user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Bern|Oslo open
            read dispute: user:local lives_in Bern|Oslo open
            > cancel bern
            @ now
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            read dispute: 410 RESOURCE_DELETED
            @ known=bern
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn what_was_picked_is_withdrawn() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        keep dispute conflict
        resolve pick Oslo
        look
        look known=oslo
        cancel oslo
        look
        read dispute
        look known=resolved
        ",
        expect![[r#"
            > resolve pick Oslo
            @ now
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 1.00 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts user:local lives_in Oslo|Rome manually_resolved
            @ known=oslo
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            > cancel oslo
            @ now
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            read dispute: 410 RESOURCE_DELETED
            @ known=resolved
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn what_was_not_picked_is_withdrawn() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        keep dispute conflict
        resolve pick Oslo
        cancel rome
        look
        read dispute
        look known=oslo
        look valid=2025-03-01
        ",
        expect![[r#"
            > resolve pick Oslo
            > cancel rome
            @ now
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            read dispute: 410 RESOURCE_DELETED
            @ known=oslo
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn new_information_that_is_withdrawn_decides_nothing() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        say bern 2025-06-01: I moved to Bern.
        keep dispute conflict
        resolve new Bern
        look
        look valid=2025-02-01
        look valid=2025-02-01 known=bern
        cancel bern
        look
        read dispute
        look valid=2025-02-01
        ",
        expect![[r#"
            > resolve new Bern
            @ now
              events    rome oslo bern
              episodes  [rome oslo] [bern]
              facts     user:local lives_in Bern 2025-01-10.. 1.00 (bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
              concepts  -
              conflicts user:local lives_in Oslo|Rome manually_resolved
            @ valid=2025-02-01
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Bern 2025-01-10.. 1.00 (bern)
              beliefs   -
              concepts  -
              conflicts user:local lives_in Oslo|Rome manually_resolved
            @ valid=2025-02-01 known=bern
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10..2025-06-01 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
                        user:local lives_in Rome supported 0.66 +1-2 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            > cancel bern
            @ now
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            read dispute: user:local lives_in Oslo|Rome open
            @ valid=2025-02-01
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
        "#]],
    );
}

#[test]
fn a_dismissed_conflict_whose_first_side_goes() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        keep dispute conflict
        resolve dismiss
        look
        cancel rome
        look
        read dispute
        look known=resolved
        ",
        expect![[r#"
            > resolve dismiss
            @ now
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Rome 2025-01-10.. 1.00 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome dismissed
            > cancel rome
            @ now
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            read dispute: 410 RESOURCE_DELETED
            @ known=resolved
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_correction_overtakes_a_conflict_and_its_withdrawal_opens_it_again() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-01-10: I live in Oslo.
        keep dispute conflict
        say bern 2025-01-10: Actually, I live in Bern.
        look
        read dispute
        cancel bern
        look
        read dispute
        look known=oslo
        ",
        expect![[r#"
            @ now
              events    rome oslo bern
              episodes  [rome oslo bern]
              facts     user:local lives_in Bern 2025-01-10.. 0.90 (bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
                        user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
                        user:local lives_in Rome supported 0.66 +1-2 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome overtaken
            read dispute: user:local lives_in Oslo|Rome overtaken
            > cancel bern
            @ now
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            read dispute: user:local lives_in Oslo|Rome open
            @ known=oslo
              events    rome oslo
              episodes  [rome oslo]
              facts     user:local lives_in Oslo|Rome 2025-01-10.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
        "#]],
    );
}

#[test]
fn what_stands_beside_is_withdrawn() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-06-01 beside: I live in Oslo.
        keep dispute conflict
        look
        look valid=2025-03-01
        cancel oslo
        look
        read dispute
        look known=oslo
        ",
        expect![[r#"
            @ now
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo|Rome 2025-06-01.. 0.90 (rome oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            @ valid=2025-03-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10..2025-06-01 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts user:local lives_in Oslo|Rome open
            > cancel oslo
            @ now
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            read dispute: 410 RESOURCE_DELETED
            @ known=oslo
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}
