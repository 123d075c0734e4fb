//! Beliefs: what weighs less, is marked or is gone when something under it is withdrawn.

use expect_test::expect;

use super::story::check;

#[test]
fn two_said_so_and_one_is_withdrawn() {
    check(
        "
        say first 2025-01-10 by ann: Bob lives in Rome.
        say second 2025-02-10 by joe: Bob lives in Rome.
        keep rome belief Rome
        look
        look later
        cancel first
        look
        look later
        look known=second
        look valid=2025-01-20
        read rome
        cancel second
        look
        read rome
        ",
        expect![[r#"
            @ now
              events    first second
              episodes  [first] [second]
              facts     Bob lives_in Rome 2025-01-10.. 0.90 (first second)
              beliefs   Bob lives_in Rome supported 0.66 +1-0 revision_in_progress
              concepts  -
              conflicts -
            @ later
              events    first second
              episodes  [first] [second]
              facts     Bob lives_in Rome 2025-01-10.. 0.90 (first second)
              beliefs   Bob lives_in Rome supported 0.74 +1-0
              concepts  -
              conflicts -
            > cancel first
            @ now
              events    second
              episodes  [second]
              facts     Bob lives_in Rome 2025-02-10.. 0.90 (second)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    second
              episodes  [second]
              facts     Bob lives_in Rome 2025-02-10.. 0.90 (second)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=second
              events    second
              episodes  [second]
              facts     Bob lives_in Rome 2025-02-10.. 0.90 (second)
              beliefs   Bob lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-01-20
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            read rome: Bob lives_in Rome supported 0.66 +1-0
            > cancel second
            @ now
              events    -
              episodes  -
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            read rome: 410 RESOURCE_DELETED
        "#]],
    );
}

#[test]
fn a_belief_below_its_floor_is_gone_and_comes_back_with_its_evidence() {
    check(
        "
        say rome 2025-01-10 floor=0.62: I live in Rome.
        keep rome belief Rome
        look
        say oslo 2025-06-01: I moved to Oslo.
        look later
        read rome later
        look known=rome
        cancel oslo
        look later
        read rome
        ",
        expect![[r#"
            @ now
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    rome oslo
              episodes  [rome] [oslo]
              facts     user:local lives_in Oslo 2025-06-01.. 0.90 (oslo)
              beliefs   user:local lives_in Oslo supported 0.66 +1-0
              concepts  -
              conflicts -
            read rome: 410 RESOURCE_DELETED
            @ known=rome
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel oslo
            @ later
              events    rome
              episodes  [rome]
              facts     user:local lives_in Rome 2025-01-10.. 0.90 (rome)
              beliefs   user:local lives_in Rome supported 0.66 +1-0
              concepts  -
              conflicts -
            read rome: user:local lives_in Rome supported 0.66 +1-0
        "#]],
    );
}

#[test]
fn a_declared_belief_says_that_its_ground_is_gone() {
    check(
        "
        say seats 2025-01-10: Acme has 200 seats.
        declare renews 2025-02-01 about Acme renewal on seats: likely
        look
        cancel seats
        look
        read renews
        look known=renews
        look valid=2025-03-01
        ",
        expect![[r#"
            @ now
              events    seats
              episodes  [seats]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (seats)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme renewal likely supported 0.80 +1-0
              concepts  -
              conflicts -
            > cancel seats
            @ now
              events    -
              episodes  -
              facts     -
              beliefs   Acme renewal likely uncertain 0.40 +0-0 supporting_evidence_redacted
              concepts  -
              conflicts -
            read renews: Acme renewal likely uncertain 0.40 +0-0 supporting_evidence_redacted
            @ known=renews
              events    -
              episodes  -
              facts     -
              beliefs   Acme renewal likely uncertain 0.40 +0-0 supporting_evidence_redacted
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    -
              episodes  -
              facts     -
              beliefs   Acme renewal likely uncertain 0.40 +0-0 supporting_evidence_redacted
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_declaration_closes_another_and_stays_when_its_ground_goes() {
    check(
        "
        say seats 2025-01-10: Acme has 200 seats.
        say calls 2025-02-10: Acme uses Postgres.
        declare likely 2025-02-11 about Acme renewal on seats: likely
        declare unsure 2025-03-11 about Acme renewal on calls: unsure
        look
        look valid=2025-02-20
        cancel calls
        look
        look valid=2025-02-20
        look known=likely
        ",
        expect![[r#"
            @ now
              events    seats calls
              episodes  [seats] [calls]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (seats)
                        Acme uses Postgres 2025-02-10.. 0.90 (calls)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme renewal unsure supported 0.80 +1-0
                        Acme uses Postgres supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-02-20
              events    seats calls
              episodes  [seats] [calls]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (seats)
                        Acme uses Postgres 2025-02-10.. 0.90 (calls)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme renewal likely supported 0.80 +1-0
                        Acme uses Postgres supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel calls
            @ now
              events    seats
              episodes  [seats]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (seats)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme renewal unsure uncertain 0.40 +0-0 supporting_evidence_redacted
              concepts  -
              conflicts -
            @ valid=2025-02-20
              events    seats
              episodes  [seats]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (seats)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme renewal likely supported 0.80 +1-0
              concepts  -
              conflicts -
            @ known=likely
              events    seats
              episodes  [seats]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (seats)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme renewal likely supported 0.80 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn a_belief_with_a_life_is_over_when_it_is_over() {
    check(
        "
        say snow 2025-01-10 ttl=PT30M: I like snow.
        say tea 2025-01-10: I like tea.
        keep snow belief snow
        look
        look later
        cancel tea
        look later
        look known=tea
        ",
        expect![[r#"
            @ now
              events    snow tea
              episodes  [snow tea]
              facts     user:local likes snow 2025-01-10.. 0.90 (snow)
                        user:local likes tea 2025-01-10.. 0.90 (tea)
              beliefs   user:local likes snow supported 0.66 +1-0
                        user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            @ later
              events    snow tea
              episodes  [snow tea]
              facts     user:local likes snow 2025-01-10.. 0.90 (snow)
                        user:local likes tea 2025-01-10.. 0.90 (tea)
              beliefs   user:local likes tea supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel tea
            @ later
              events    snow
              episodes  [snow]
              facts     user:local likes snow 2025-01-10.. 0.90 (snow)
              beliefs   -
              concepts  -
              conflicts -
            @ known=tea
              events    snow
              episodes  [snow]
              facts     user:local likes snow 2025-01-10.. 0.90 (snow)
              beliefs   user:local likes snow supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}
