//! Questions over several steps: an answer stands on every step, and falls with any of them.

use expect_test::expect;

use super::story::check;

#[test]
fn where_bobs_wife_works_is_unknown_without_the_wife() {
    check(
        "
        say wife 2025-01-10: Bob's wife is Sara.
        say job 2025-02-10: Sara works at Acme.
        ask Bob spouse works_at
        look
        cancel wife
        ask Bob spouse works_at
        ask Sara works_at
        look
        look known=job
        ",
        expect![[r#"
            ask Bob spouse works_at? Acme
            @ now
              events    wife job
              episodes  [wife] [job]
              facts     Bob spouse Sara 2025-01-10.. 0.90 (wife)
                        Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob spouse Sara supported 0.66 +1-0
                        Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel wife
            ask Bob spouse works_at? nothing
            ask Sara works_at? Acme
            @ now
              events    job
              episodes  [job]
              facts     Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=job
              events    job
              episodes  [job]
              facts     Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn where_bobs_wife_works_follows_her_job() {
    check(
        "
        say wife 2025-01-10: Bob's wife is Sara.
        say job 2025-02-10: Sara works at Acme.
        say next 2025-06-10: Sara works at Initech now.
        ask Bob spouse works_at
        cancel next
        ask Bob spouse works_at
        cancel job
        ask Bob spouse works_at
        ask Bob spouse
        look
        look valid=2025-07-01 known=next
        ",
        expect![[r#"
            ask Bob spouse works_at? Initech
            > cancel next
            ask Bob spouse works_at? Acme
            > cancel job
            ask Bob spouse works_at? nothing
            ask Bob spouse? Sara
            @ now
              events    wife
              episodes  [wife]
              facts     Bob spouse Sara 2025-01-10.. 0.90 (wife)
              beliefs   Bob spouse Sara supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-07-01 known=next
              events    wife
              episodes  [wife]
              facts     Bob spouse Sara 2025-01-10.. 0.90 (wife)
              beliefs   Bob spouse Sara supported 0.66 +1-0
              concepts  -
              conflicts -
        "#]],
    );
}

#[test]
fn where_bobs_wife_works_is_unknown_once_they_are_divorced() {
    check(
        "
        say wife 2025-01-10: Bob is married to Sara.
        say job 2025-02-10: Sara works at Acme.
        say over 2025-06-10: Bob is no longer married to Sara.
        ask Bob spouse works_at
        look
        look valid=2025-03-01
        look known=job
        cancel over
        ask Bob spouse works_at
        ",
        expect![[r#"
            ask Bob spouse works_at? nothing
            @ now
              events    wife job over
              episodes  [wife] [job] [over]
              facts     Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob spouse Sara supported 0.66 +1-1 revision_in_progress
                        Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    wife job
              episodes  [wife] [job]
              facts     Bob spouse Sara 2025-01-10..2025-06-10 0.90 (wife)
                        Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob spouse Sara supported 0.66 +1-1 revision_in_progress
                        Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ known=job
              events    wife job
              episodes  [wife] [job]
              facts     Bob spouse Sara 2025-01-10.. 0.90 (wife)
                        Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob spouse Sara supported 0.66 +1-0
                        Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel over
            ask Bob spouse works_at? Acme
        "#]],
    );
}

#[test]
fn a_new_wife_does_not_inherit_the_job_of_the_old_one() {
    check(
        "
        say wife 2025-01-10: Bob is married to Sara.
        say job 2025-02-10: Sara works at Acme.
        say again 2025-06-10: Bob is married to Eva now.
        ask Bob spouse
        ask Bob spouse works_at
        look
        look valid=2025-03-01
        cancel again
        ask Bob spouse works_at
        ",
        expect![[r#"
            ask Bob spouse? Eva
            ask Bob spouse works_at? nothing
            @ now
              events    wife job again
              episodes  [wife] [job] [again]
              facts     Bob spouse Eva 2025-06-10.. 0.90 (again)
                        Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob spouse Eva supported 0.66 +1-0
                        Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            @ valid=2025-03-01
              events    wife job
              episodes  [wife] [job]
              facts     Bob spouse Sara 2025-01-10..2025-06-10 0.90 (wife)
                        Sara works_at Acme 2025-02-10.. 0.90 (job)
              beliefs   Bob spouse Sara supported 0.66 +1-1 revision_in_progress
                        Sara works_at Acme supported 0.66 +1-0
              concepts  -
              conflicts -
            > cancel again
            ask Bob spouse works_at? Acme
        "#]],
    );
}
