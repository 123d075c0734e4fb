//! Something is withdrawn: what stood on it goes or is marked, at every point in time, and nothing else.

use expect_test::expect;

use super::story::check;

#[test]
fn everything_that_one_event_said_goes_with_it() {
    check(
        "
        say much 2025-01-10: Bob lives in Rome. Bob works at Acme. I like tea.
        say tea 2025-01-11: I like tea.
        look
        cancel much
        look
        look known=much
        look valid=2025-01-10T12:00
        ",
        expect![[r#"
            @ now
              events    much tea
              episodes  [much] [tea]
              facts     Bob lives_in Rome 2025-01-10.. 0.90 (much)
                        Bob works_at Acme 2025-01-10.. 0.90 (much)
                        user:local likes tea 2025-01-10.. 0.90 (much tea)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
                        Bob works_at Acme supported 0.66 +1-0
                        user:local likes tea supported 0.66 +1-0 revision_in_progress
              concepts  -
              conflicts -
            > cancel much
            @ now
              events    tea
              episodes  [tea]
              facts     user:local likes tea 2025-01-11.. 0.90 (tea)
              beliefs   user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=much
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ valid=2025-01-10T12:00
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
fn an_episode_without_events_is_gone() {
    check(
        "
        say one 2025-01-10T10:00 in s1: The audit begins.
        say two 2025-01-10T10:05 in s1: The audit of Acme goes on.
        say other 2025-01-10T10:06 in s2: Lunch is at noon.
        look
        cancel one
        look
        look known=one
        cancel two
        look
        look valid=2025-01-11
        look known=other
        ",
        expect![[r#"
            @ now
              events    one two other
              episodes  [one two] [other]
              facts     Lunch scheduled_for 2025-01-10T12:00 2025-01-10.. 0.90 (other)
              beliefs   Lunch scheduled_for 2025-01-10T12:00 supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel one
            @ now
              events    two other
              episodes  [two] [other]
              facts     Lunch scheduled_for 2025-01-10T12:00 2025-01-10.. 0.90 (other)
              beliefs   Lunch scheduled_for 2025-01-10T12:00 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=one
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            > cancel two
            @ now
              events    other
              episodes  [other]
              facts     Lunch scheduled_for 2025-01-10T12:00 2025-01-10.. 0.90 (other)
              beliefs   Lunch scheduled_for 2025-01-10T12:00 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-01-11
              events    other
              episodes  [other]
              facts     Lunch scheduled_for 2025-01-10T12:00 2025-01-10.. 0.90 (other)
              beliefs   Lunch scheduled_for 2025-01-10T12:00 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=other
              events    other
              episodes  [other]
              facts     Lunch scheduled_for 2025-01-10T12:00 2025-01-10.. 0.90 (other)
              beliefs   Lunch scheduled_for 2025-01-10T12:00 supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_sealed_episode_loses_what_is_withdrawn() {
    check(
        "
        say one 2025-01-10T10:00 in s1: Acme has 200 seats.
        say two 2025-01-10T10:05 in s1: Acme has 300 seats.
        seal
        look
        cancel two
        look
        look known=two
        look valid=2025-01-10T10:03
        ",
        expect![[r#"
            @ now
              events    one two
              episodes  [one two]
              facts     Acme count:seats 300 2025-01-10.. 0.90 (two)
              beliefs   Acme count:seats 300 supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel two
            @ now
              events    one
              episodes  [one]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (one)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=two
              events    one
              episodes  [one]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (one)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-01-10T10:03
              events    one
              episodes  [one]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (one)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn the_same_words_again_after_a_withdrawal_are_new() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        keep first belief Rome
        cancel rome
        look
        say again 2025-03-10: I live in Rome.
        look
        look known=rome
        look valid=2025-02-01
        read first
        ",
        expect![[r#"
            > cancel rome
            @ now
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ now
              events    again
              episodes  [again]
              facts     user:local lives_in Rome 2025-03-10.. 0.90 (again)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=rome
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ valid=2025-02-01
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            read first: 410 RESOURCE_DELETED
        "#]],
    );
}

#[test]
fn a_withdrawn_denial_denies_nothing() {
    check(
        "
        say jazz 2025-01-10: I like jazz.
        say not 2025-02-10: I don't like jazz.
        look later
        cancel not
        look
        look later
        look known=not
        look valid=2025-03-01
        ",
        expect![[r#"
            @ later
              events    jazz not
              episodes  [jazz] [not]
              facts     user:local dislikes jazz 2025-02-10.. 0.90 (not)
              beliefs   user:local dislikes jazz supported 0.66 +1-0
                        user:local likes jazz uncertain 0.50 +1-1
              concepts  -
              conflicts -
            > cancel not
            @ now
              events    jazz
              episodes  [jazz]
              facts     user:local likes jazz 2025-01-10.. 0.90 (jazz)
              beliefs   user:local likes jazz supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    jazz
              episodes  [jazz]
              facts     user:local likes jazz 2025-01-10.. 0.90 (jazz)
              beliefs   user:local likes jazz supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=not
              events    jazz
              episodes  [jazz]
              facts     user:local likes jazz 2025-01-10.. 0.90 (jazz)
              beliefs   user:local likes jazz supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    jazz
              episodes  [jazz]
              facts     user:local likes jazz 2025-01-10.. 0.90 (jazz)
              beliefs   user:local likes jazz supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_bounded_statement_is_withdrawn_from_the_middle() {
    check(
        "
        say rome 2025-01-10: I live in Rome.
        say trip 2025-02-01: I live in Oslo from 3 March 2025 to 30 April 2025.
        timeline user:local lives_in
        look valid=2025-04-01
        look valid=2025-06-01
        cancel trip
        timeline user:local lives_in
        look valid=2025-04-01
        look known=trip
        ",
        expect![[r#"
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10..2025-03-03 0.90 (rome)
              user:local lives_in Oslo 2025-03-03..2025-05-01 0.90 (trip)
              user:local lives_in Rome 2025-05-01.. 0.90 (rome)
            @ valid=2025-04-01
              events    rome trip
              episodes  [rome] [trip]
              facts     user:local lives_in Oslo 2025-03-03..2025-05-01 0.90 (trip)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
                        user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-06-01
              events    rome trip
              episodes  [rome] [trip]
              facts     user:local lives_in Rome 2025-05-01.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel trip
            timeline user:local lives_in
              user:local lives_in Rome 2025-01-10.. 0.90 (rome)
            @ valid=2025-04-01
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=trip
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}
