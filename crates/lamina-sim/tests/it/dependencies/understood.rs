//! Understanding: concepts stand on sealed episodes and on facts, and lose what is withdrawn.

use expect_test::expect;

use super::story::check;

#[test]
fn a_concept_that_loses_its_support_is_hidden() {
    check(
        "
        say asked 2025-03-01 in s1: Today Acme asked for the renewal.
        say talks 2025-03-02 in s2: Today Priya negotiates the renewal for Acme.
        say signed 2025-03-03 in s3: The renewal of Acme is signed, says Priya.
        seal
        keep renewal concept Acme
        look
        cancel signed
        look
        read renewal
        look known=signed
        look known=sealed
        cancel talks
        look
        ",
        expect![[r#"
            @ now
              events    asked talks signed
              episodes  [asked] [talks] [signed]
              facts     renewal of Acme status signed 2025-03-03.. 0.90 (signed)
              beliefs   renewal of Acme status signed supported 0.66 +1-0
              concepts  Acme + Priya + renewal 3e1f
              conflicts -
            > cancel signed
            @ now
              events    asked talks
              episodes  [asked] [talks]
              facts     -
              beliefs   -
              concepts  Acme + Priya + renewal 2e0f deprecated
              conflicts -
            read renewal: Acme + Priya + renewal 2e0f deprecated
            @ known=signed
              events    asked talks
              episodes  [asked] [talks]
              facts     -
              beliefs   -
              concepts  -
              conflicts -
            @ known=sealed
              events    asked talks
              episodes  [asked] [talks]
              facts     -
              beliefs   -
              concepts  Acme + Priya + renewal 2e0f deprecated
              conflicts -
            > cancel talks
            @ now
              events    asked
              episodes  [asked]
              facts     -
              beliefs   -
              concepts  Acme + renewal 1e0f deprecated
              conflicts -
        "#]],
    );
}

#[test]
fn a_concept_with_enough_left_stays() {
    check(
        "
        say one 2025-03-01 in s1: Today Acme asked for the renewal.
        say two 2025-03-02 in s2: Today Acme asked for the renewal again.
        say three 2025-03-03 in s3: Today Acme called about the renewal.
        say four 2025-03-04 in s4: Today Acme wrote about the renewal.
        say five 2025-03-05 in s5: Today Acme thought about the renewal.
        seal
        keep renewal concept Acme
        look
        cancel one
        look
        read renewal
        cancel two
        read renewal
        cancel three
        read renewal
        look
        look known=sealed
        look valid=2025-02-28
        ",
        expect![[r#"
            @ now
              events    one two three four five
              episodes  [one] [two] [three] [four] [five]
              facts     -
              beliefs   -
              concepts  Acme + renewal 5e0f
              conflicts -
            > cancel one
            @ now
              events    two three four five
              episodes  [two] [three] [four] [five]
              facts     -
              beliefs   -
              concepts  Acme + renewal 4e0f
              conflicts -
            read renewal: Acme + renewal 4e0f
            > cancel two
            read renewal: Acme + renewal 3e0f
            > cancel three
            read renewal: Acme + renewal 2e0f deprecated
            @ now
              events    four five
              episodes  [four] [five]
              facts     -
              beliefs   -
              concepts  Acme + renewal 2e0f deprecated
              conflicts -
            @ known=sealed
              events    four five
              episodes  [four] [five]
              facts     -
              beliefs   -
              concepts  Acme + renewal 2e0f deprecated
              conflicts -
            @ valid=2025-02-28
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
fn a_fact_that_is_replaced_supports_no_concept() {
    check(
        "
        say one 2025-03-01 in s1: The checkout uses Stripe.
        say two 2025-03-02 in s2: Today the checkout had trouble with Stripe.
        say three 2025-03-03 in s3: Today Stripe answered about the checkout.
        seal
        look
        say over 2025-04-01 in s4: The checkout no longer uses Stripe.
        look
        look known=three
        look known=sealed
        cancel over
        look
        ",
        expect![[r#"
            @ now
              events    one two three
              episodes  [one] [two] [three]
              facts     checkout uses Stripe 2025-03-01.. 0.90 (one)
              beliefs   checkout uses Stripe supported 0.66 +1-0
              concepts  Stripe + checkout 3e1f
              conflicts -
            @ now
              events    one two three over
              episodes  [one] [two] [three] [over]
              facts     -
              beliefs   checkout uses Stripe supported 0.66 +1-1 revision_in_progress
              concepts  Stripe + checkout 3e0f
              conflicts -
            @ known=three
              events    one two three
              episodes  [one] [two] [three]
              facts     checkout uses Stripe 2025-03-01.. 0.90 (one)
              beliefs   checkout uses Stripe supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=sealed
              events    one two three
              episodes  [one] [two] [three]
              facts     checkout uses Stripe 2025-03-01.. 0.90 (one)
              beliefs   checkout uses Stripe supported 0.66 +1-0
              concepts  Stripe + checkout 3e1f
              conflicts -
            > cancel over
            @ now
              events    one two three
              episodes  [one] [two] [three]
              facts     checkout uses Stripe 2025-03-01.. 0.90 (one)
              beliefs   checkout uses Stripe supported 0.66 +1-0
              concepts  Stripe + checkout 3e1f
              conflicts -
        "#]],
    );
}

#[test]
fn a_term_names_what_is_said_later_and_not_what_was() {
    check(
        "
        say before 2025-01-10: Acme has 200 seats.
        vocabulary count:seats means seat_count
        say after 2025-02-10: Acme has 300 seats.
        look
        look known=before
        look valid=2025-01-20
        cancel after
        look
        ",
        expect![[r#"
            > vocabulary count:seats means seat_count
            @ now
              events    before after
              episodes  [before] [after]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (before)
                        Acme seat_count 300 2025-02-10.. 0.90 (after)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
                        Acme seat_count 300 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=before
              events    before
              episodes  [before]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (before)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-01-20
              events    before
              episodes  [before]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (before)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel after
            @ now
              events    before
              episodes  [before]
              facts     Acme count:seats 200 2025-01-10.. 0.90 (before)
              beliefs   Acme count:seats 200 supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}
