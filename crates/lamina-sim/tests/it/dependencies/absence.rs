//! What was never said is not known: no neighbour, no guess and no earlier value stands in for it.

use expect_test::expect;

use super::story::check;

#[test]
fn the_job_of_somebody_else_is_no_answer() {
    check(
        "
        say bob 2025-01-10: Bob works at Acme.
        say eva 2025-01-11: Eva lives in Rome.
        ask Eva works_at
        ask Bob lives_in
        ask Eva lives_in
        ask Nobody works_at
        look
        look known=bob
        look valid=2024-12-31
        ",
        expect![[r#"
            ask Eva works_at? nothing
            ask Bob lives_in? nothing
            ask Eva lives_in? Rome
            ask Nobody works_at? nothing
            @ now
              events    bob eva
              episodes  [bob] [eva]
              facts     Bob works_at Acme 2025-01-10.. 0.90 (bob)
                        Eva lives_in Rome 2025-01-11.. 0.90 (eva)
              beliefs   Bob works_at Acme supported 0.66 +1-0
                        Eva lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=bob
              events    bob
              episodes  [bob]
              facts     Bob works_at Acme 2025-01-10.. 0.90 (bob)
              beliefs   Bob works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2024-12-31
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn questions_and_hypotheses_say_nothing() {
    check(
        "
        say asked 2025-01-10: Does Bob live in Oslo?
        say would 2025-01-11: If Bob lived in Oslo, he would ski.
        say wish 2025-01-12: I wish Bob lived in Oslo.
        say maybe 2025-01-13: Bob might move to Oslo.
        ask Bob lives_in
        look
        look later
        look valid=2025-06-01 known=would
        ",
        expect![[r#"
            ask Bob lives_in? nothing
            @ now
              events    asked would wish maybe
              episodes  [asked] [would] [wish] [maybe]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ later
              events    asked would wish maybe
              episodes  [asked] [would] [wish] [maybe]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ valid=2025-06-01 known=would
              events    asked would
              episodes  [asked] [would]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn hearsay_does_not_replace_what_was_said() {
    check(
        "
        say rome 2025-01-10: Bob lives in Rome.
        say heard 2025-03-01: I heard that Bob moved to Oslo.
        say rumour 2025-03-02: Apparently Bob quit his job.
        ask Bob lives_in
        ask Bob works_at
        look
        look valid=2025-04-01 known=rumour
        cancel heard
        look later
        ",
        expect![[r#"
            ask Bob lives_in? Rome
            ask Bob works_at? nothing
            @ now
              events    rome heard rumour
              episodes  [rome] [heard] [rumour]
              facts     Bob lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-04-01 known=rumour
              events    rome heard rumour
              episodes  [rome] [heard] [rumour]
              facts     Bob lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel heard
            @ later
              events    rome rumour
              episodes  [rome] [rumour]
              facts     Bob lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn before_anything_was_said_nothing_was_known() {
    check(
        "
        say rome 2025-01-10: I live in Rome since 2023.
        look valid=2022-06-01
        look valid=2023-06-01
        say tea 2025-02-10: I like tea.
        look known=rome
        look valid=2025-01-20
        timeline user:local lives_in known=rome
        timeline user:local likes known=rome
        ",
        expect![[r#"
            @ valid=2022-06-01
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ valid=2023-06-01
              events    -
              episodes  -
              facts     user:local lives_in Rome 2023-01-01.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=rome
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2023-01-01.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-01-20
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2023-01-01.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            timeline user:local lives_in known=rome
              user:local lives_in Rome 2023-01-01.. 0.90 (rome)
            timeline user:local likes known=rome
              -
        "#]],
    );
}

#[test]
fn after_an_ending_the_value_before_is_no_answer() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say oslo 2025-04-01: I live in Oslo.
        say gone 2025-08-01: I no longer live in Oslo.
        ask user:local lives_in
        look
        look valid=2025-09-01
        look valid=2025-05-01
        look known=oslo
        look later
        ",
        expect![[r#"
            ask user:local lives_in? nothing
            @ now
              events    rome oslo gone
              episodes  [rome] [oslo] [gone]
              facts     -
              beliefs   user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ valid=2025-09-01
              events    rome oslo gone
              episodes  [rome] [oslo] [gone]
              facts     -
              beliefs   user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ valid=2025-05-01
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-04-01..2025-08-01 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-1 revision_in_progress
              concepts  -
              conflicts -
            @ known=oslo
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-04-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    rome oslo gone
              episodes  [rome] [oslo] [gone]
              facts     -
              beliefs   user:local lives_in Oslo uncertain 0.50 +1-1
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_denial_names_no_other_value() {
    check(
        "
        say not 2025-01-10: I don't live in Rome.
        ask user:local lives_in
        look
        look later
        say oslo 2025-02-10: I live in Oslo.
        look
        look known=not
        look valid=2025-01-20
        ",
        expect![[r#"
            ask user:local lives_in? not Rome
            @ now
              events    not
              episodes  [not]
              facts     user:local lives_in not Rome 2025-01-10.. 0.90 (not)
              beliefs   user:local lives_in Rome contradicted 0.66 +0-1
              concepts  -
              conflicts -
            @ later
              events    not
              episodes  [not]
              facts     user:local lives_in not Rome 2025-01-10.. 0.90 (not)
              beliefs   user:local lives_in Rome contradicted 0.66 +0-1
              concepts  -
              conflicts -
            @ now
              events    not oslo
              episodes  [not] [oslo]
              facts     user:local lives_in Oslo 2025-02-10.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome contradicted 0.66 +0-2 revision_in_progress
              concepts  -
              conflicts -
            @ known=not
              events    not
              episodes  [not]
              facts     user:local lives_in not Rome 2025-01-10.. 0.90 (not)
              beliefs   user:local lives_in Rome contradicted 0.66 +0-1
              concepts  -
              conflicts -
            @ valid=2025-01-20
              events    not
              episodes  [not]
              facts     user:local lives_in not Rome 2025-01-10..2025-02-10 0.90 (not)
              beliefs   user:local lives_in Rome contradicted 0.66 +0-2 revision_in_progress
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn the_words_of_an_assistant_are_no_evidence() {
    check(
        "
        say guess 2025-01-10 role=assistant: You live in Rome and Bob works at Acme.
        look
        say tea 2025-01-11: I like tea.
        look
        look known=guess
        look valid=2025-01-10T12:00
        ",
        expect![[r#"
            @ now
              events    guess
              episodes  [guess]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ now
              events    guess tea
              episodes  [guess] [tea]
              facts     user:local likes tea 2025-01-11.. 0.90 (tea)
              beliefs   user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=guess
              events    guess
              episodes  [guess]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ valid=2025-01-10T12:00
              events    guess
              episodes  [guess]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_name_that_is_nearly_the_same_is_somebody_else() {
    check(
        "
        say ann 2025-01-10: Ann works at Acme.
        say anna 2025-01-11: Anna lives in Rome.
        ask Ann lives_in
        ask Anna works_at
        look
        look valid=2025-01-10T12:00 known=ann
        cancel anna
        ask Anna lives_in
        look
        ",
        expect![[r#"
            ask Ann lives_in? nothing
            ask Anna works_at? nothing
            @ now
              events    ann anna
              episodes  [ann] [anna]
              facts     Ann works_at Acme 2025-01-10.. 0.90 (ann)
                        Anna lives_in Rome 2025-01-11.. 0.90 (anna)
              beliefs   Ann works_at Acme supported 0.66 +1-0
                        Anna lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-01-10T12:00 known=ann
              events    ann
              episodes  [ann]
              facts     Ann works_at Acme 2025-01-10.. 0.90 (ann)
              beliefs   Ann works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel anna
            ask Anna lives_in? nothing
            @ now
              events    ann
              episodes  [ann]
              facts     Ann works_at Acme 2025-01-10.. 0.90 (ann)
              beliefs   Ann works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_question_over_two_steps_stops_where_nothing_is_known() {
    check(
        "
        say boss 2025-01-10: Bob reports to Eva.
        ask Bob reports_to works_at
        ask Bob reports_to
        say job 2025-02-10: Karl works at Acme.
        ask Bob reports_to works_at
        look
        look known=boss
        look valid=2025-02-01
        ",
        expect![[r#"
            ask Bob reports_to works_at? nothing
            ask Bob reports_to? Eva
            ask Bob reports_to works_at? nothing
            @ now
              events    boss job
              episodes  [boss] [job]
              facts     Bob reports_to Eva 2025-01-10.. 0.90 (boss)
                        Karl works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob reports_to Eva supported 0.66 +1-0
                        Karl works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=boss
              events    boss
              episodes  [boss]
              facts     Bob reports_to Eva 2025-01-10.. 0.90 (boss)
              beliefs   Bob reports_to Eva supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-02-01
              events    boss
              episodes  [boss]
              facts     Bob reports_to Eva 2025-01-10.. 0.90 (boss)
              beliefs   Bob reports_to Eva supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}
