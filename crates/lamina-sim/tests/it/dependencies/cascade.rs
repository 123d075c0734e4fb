//! A premise changes: what stood on it changes with it, and the past keeps its answers.

use expect_test::expect;

use super::story::check;

#[test]
fn what_is_replaced_keeps_its_past() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-06-01: I moved to Oslo.
        look
        look later
        look valid=2025-03-01
        look known=rome
        look valid=2025-07-01 known=rome
        timeline user:local lives_in
        ",
        expect![[r#"
            @ now
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10..2025-06-01 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ known=rome
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-07-01 known=rome
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10..2025-06-01 0.90 (rome)
              user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
        "#]],
    );
}

#[test]
fn a_successor_that_is_withdrawn_reopens_its_predecessor() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-06-01: I moved to Oslo.
        keep oslo belief Oslo
        keep rome belief Rome
        cancel oslo
        look
        look known=oslo
        look valid=2025-07-01
        read oslo
        read rome
        history user:local lives_in
        ",
        expect![[r#"
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
            @ valid=2025-07-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            read oslo: 410 RESOURCE_DELETED
            read rome: user:local lives_in Rome supported 0.66 +1-0
            history user:local lives_in
              Rome 2025-01-10.. active (rome)
        "#]],
    );
}

#[test]
fn the_middle_of_a_chain_is_withdrawn() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-04-01: I live in Oslo.
        say bern 2025-08-01: I live in Bern.
        timeline user:local lives_in
        cancel oslo
        timeline user:local lives_in
        look
        look valid=2025-05-01
        look known=oslo
        look later
        ",
        expect![[r#"
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10..2025-04-01 0.90 (rome)
              user:local lives_in Oslo 2025-04-01..2025-08-01 0.90 (oslo)
              user:local lives_in Bern 2025-08-01.. 0.90 (bern)
            > cancel oslo
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10..2025-08-01 0.90 (rome)
              user:local lives_in Bern 2025-08-01.. 0.90 (bern)
            @ now
              events    rome bern
              episodes  [rome] [bern]
              facts     user:local lives_in Bern 2025-08-01.. 0.90 (bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-05-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10..2025-08-01 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ known=oslo
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    rome bern
              episodes  [rome] [bern]
              facts     user:local lives_in Bern 2025-08-01.. 0.90 (bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn the_first_of_a_chain_is_withdrawn() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-04-01: I live in Oslo.
        say bern 2025-08-01: I live in Bern.
        cancel rome
        timeline user:local lives_in
        look valid=2025-02-01
        look valid=2025-05-01
        look known=rome
        look later
        ",
        expect![[r#"
            > cancel rome
            timeline user:local lives_in
              user:local lives_in Oslo 2025-04-01..2025-08-01 0.90 (oslo)
              user:local lives_in Bern 2025-08-01.. 0.90 (bern)
            @ valid=2025-02-01
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ valid=2025-05-01
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-04-01..2025-08-01 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ known=rome
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ later
              events    oslo bern
              episodes  [oslo] [bern]
              facts     user:local lives_in Bern 2025-08-01.. 0.90 (bern)
              beliefs   user:local lives_in Bern supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_correction_of_a_correction() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-02-01: Actually, I live in Oslo.
        say bern 2025-03-01: Actually, I live in Bern.
        timeline user:local lives_in
        look known=oslo
        cancel bern
        timeline user:local lives_in
        look later
        cancel oslo
        timeline user:local lives_in
        look
        look known=bern
        ",
        expect![[r#"
            timeline user:local lives_in
              user:local lives_in Bern 2025-01-10.. 0.90 (bern)
            @ known=oslo
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel bern
            timeline user:local lives_in
              user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
            @ later
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-01-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel oslo
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10.. 0.90 (rome)
            @ now
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=bern
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
fn a_late_report_fills_the_past_only_and_can_be_withdrawn() {
    check(
        "
        say oslo 2025-06-01: I live in Oslo.
        say rome 2025-01-10: I live in Rome.
        timeline user:local lives_in
        look
        look valid=2025-03-01
        look valid=2025-03-01 known=oslo
        cancel rome
        look valid=2025-03-01
        look
        ",
        expect![[r#"
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10..2025-06-01 0.90 (rome)
              user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
            @ now
              events    rome oslo
              episodes  [oslo] [rome]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10..2025-06-01 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01 known=oslo
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            > cancel rome
            @ valid=2025-03-01
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ now
              events    oslo
              episodes  [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn an_ending_that_is_withdrawn_ends_nothing() {
    check(
        "
        say job 2025-01-10: I work at Acme.
        say left 2025-05-01: I no longer work at Acme.
        look
        look later
        look valid=2025-03-01
        look valid=2025-06-01 known=job
        cancel left
        look
        look valid=2025-06-01 known=left
        timeline user:local works_at
        ",
        expect![[r#"
            @ now
              events    job left
              episodes  [job] [left]
              facts     -
              beliefs   user:local works_at Acme supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ later
              events    job left
              episodes  [job] [left]
              facts     -
              beliefs   user:local works_at Acme uncertain 0.50 +1-1
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    job
              episodes  [job]
              facts     user:local works_at Acme 2025-01-10..2025-05-01 0.90 (job)
              beliefs   user:local works_at Acme supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ valid=2025-06-01 known=job
              events    job
              episodes  [job]
              facts     user:local works_at Acme 2025-01-10.. 0.90 (job)
              beliefs   user:local works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel left
            @ now
              events    job
              episodes  [job]
              facts     user:local works_at Acme 2025-01-10.. 0.90 (job)
              beliefs   user:local works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-06-01 known=left
              events    job
              episodes  [job]
              facts     user:local works_at Acme 2025-01-10.. 0.90 (job)
              beliefs   user:local works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            timeline user:local works_at
              user:local works_at Acme 2025-01-10.. 0.90 (job)
        "#]],
    );
}

#[test]
fn one_of_many_values_ends_and_the_others_stay() {
    check(
        "
        say both 2025-01-10: I like jazz. I like tea.
        say over 2025-03-01: I no longer like jazz.
        look
        look later
        look valid=2025-02-01
        look known=both
        cancel over
        look
        ",
        expect![[r#"
            @ now
              events    both over
              episodes  [both] [over]
              facts     user:local likes tea 2025-01-10.. 0.90 (both)
              beliefs   user:local likes jazz supported 0.66 +1-1 revision_in_progress
                        user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    both over
              episodes  [both] [over]
              facts     user:local likes tea 2025-01-10.. 0.90 (both)
              beliefs   user:local likes jazz uncertain 0.50 +1-1
                        user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-02-01
              events    both
              episodes  [both]
              facts     user:local likes jazz 2025-01-10..2025-03-01 0.90 (both)
                        user:local likes tea 2025-01-10.. 0.90 (both)
              beliefs   user:local likes jazz supported 0.66 +1-1 revision_in_progress
                        user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=both
              events    both
              episodes  [both]
              facts     user:local likes jazz 2025-01-10.. 0.90 (both)
                        user:local likes tea 2025-01-10.. 0.90 (both)
              beliefs   user:local likes jazz supported 0.66 +1-0
                        user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel over
            @ now
              events    both
              episodes  [both]
              facts     user:local likes jazz 2025-01-10.. 0.90 (both)
                        user:local likes tea 2025-01-10.. 0.90 (both)
              beliefs   user:local likes jazz supported 0.66 +1-0
                        user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn nothing_of_this_is_lost_in_a_crash() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-06-01: I moved to Oslo.
        say bern 2025-08-01: I live in Bern.
        cancel bern
        look
        look known=oslo
        crash
        look
        look known=oslo
        cancel oslo
        look
        crash
        look
        timeline user:local lives_in
        ",
        expect![[r#"
            > cancel bern
            @ now
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=oslo
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            > crash
            @ now
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=oslo
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
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
            > crash
            @ now
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10.. 0.90 (rome)
        "#]],
    );
}

#[test]
fn what_is_disliked_is_liked_no_more_until_that_is_withdrawn() {
    check(
        "
        say likes 2025-01-10: I like jazz.
        say turned 2025-03-01: I don't like jazz.
        look valid=2025-02-01
        look
        cancel turned
        look
        say again 2025-05-01: I don't like jazz.
        say back 2025-06-01: I like jazz.
        look
        ",
        expect![[r#"
            @ valid=2025-02-01
              events    likes
              episodes  [likes]
              facts     user:local likes jazz 2025-01-10..2025-03-01 0.90 (likes)
              beliefs   user:local likes jazz supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ now
              events    likes turned
              episodes  [likes] [turned]
              facts     user:local dislikes jazz 2025-03-01.. 0.90 (turned)
              beliefs   user:local dislikes jazz supported 0.66 +1-0
                        user:local likes jazz supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            > cancel turned
            @ now
              events    likes
              episodes  [likes]
              facts     user:local likes jazz 2025-01-10.. 0.90 (likes)
              beliefs   user:local likes jazz supported 0.66 +1-0
              concepts  -
              conflicts -
            @ now
              events    likes again back
              episodes  [likes] [again] [back]
              facts     user:local likes jazz 2025-06-01.. 0.90 (back)
              beliefs   user:local dislikes jazz supported 0.66 +1-1 revision_in_progress
                        user:local likes jazz supported 0.66 +2-1 revision_in_progress
              concepts  -
              conflicts -
        "#]],
    );
}
