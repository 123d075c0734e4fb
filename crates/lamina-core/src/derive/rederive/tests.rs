//! Claims written as `subject predicate object confidence`, compared in one place.

use expect_test::{Expect, expect};
use lamina_types::layer::{
    ByteSpan, Cardinality, Confidence, Effect, EntityKind, Normaliser, Object, Term,
};
use proptest::prelude::*;

use super::*;

fn claim(line: &str) -> Claim {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [subject, predicate, object, rest @ ..] = words.as_slice() else { panic!("{line}") };
    let confidence = rest.first().map_or(9_000, |word| word.parse().unwrap());
    Claim {
        subject: Term::Named { name: (*subject).to_owned(), kind: EntityKind::Thing },
        predicate: (*predicate).to_owned(),
        object: Object::Text((*object).to_owned()),
        effect: Effect::Holds,
        valid_from: None,
        valid_to: None,
        cardinality: Some(Cardinality::Many),
        confidence: Confidence::new(confidence),
        span: ByteSpan { start: 0, end: u32::try_from(line.len()).unwrap() },
        normaliser: Normaliser::Identity,
        clause: ByteSpan::default(),
    }
}

fn claims(text: &str) -> Vec<Claim> {
    text.split(';').filter(|line| !line.trim().is_empty()).map(claim).collect()
}

fn line(claim: &Claim) -> String {
    let Term::Named { name, .. } = &claim.subject else { panic!("{claim:?}") };
    let Object::Text(object) = &claim.object else { panic!("{claim:?}") };
    format!("{name} {} {object} {}", claim.predicate, claim.confidence.get())
}

fn shown(before: &str, after: &str) -> String {
    let (before, after) = (claims(before), claims(after));
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let lines = differences(&before, &after).into_iter().map(|difference| match difference {
        Difference::Added(claim) => format!("+ {}\n", line(claim)),
        Difference::Lost(claim) => format!("- {}\n", line(claim)),
        Difference::Changed { before, after } => format!("~ {} -> {}\n", line(before), line(after)),
    });
    lines.collect()
}

fn check(before: &str, after: &str, expected: Expect) {
    expected.assert_eq(&shown(before, after));
}

#[test]
fn what_changes_is_told_from_what_comes_and_goes() {
    check("acme seats 200", "acme   seats 200", expect![""]);
    check(
        "",
        "acme seats 200",
        expect![[r#"
        + acme seats 200 9000
    "#]],
    );
    check(
        "acme seats 200",
        "",
        expect![[r#"
        - acme seats 200 9000
    "#]],
    );
    check(
        "acme seats 200",
        "acme seats 200 8000",
        expect![[r#"
        ~ acme seats 200 9000 -> acme seats 200 8000
    "#]],
    );
    check(
        "acme seats 20; acme owner bob",
        "acme owner bob; acme seats 200",
        expect![[r#"
        ~ acme seats 20 9000 -> acme seats 200 9000
    "#]],
    );
    check(
        "acme status poc",
        "acme deal_stage poc",
        expect![[r#"
        ~ acme status poc 9000 -> acme deal_stage poc 9000
    "#]],
    );
    check(
        "acme likes tea; acme likes milk",
        "acme likes milk; bob likes tea",
        expect![[r#"
        - acme likes tea 9000
        + bob likes tea 9000
    "#]],
    );
}

#[test]
fn what_is_equal_is_paired_before_what_is_alike() {
    check(
        "a likes tea; a likes milk",
        "a likes milk; a likes rum",
        expect![[r#"
        ~ a likes tea 9000 -> a likes rum 9000
    "#]],
    );
}

fn some_claims() -> impl Strategy<Value = Vec<Claim>> {
    let one = (0..3u8, 0..3u8, 0..3u8, 0..2u16)
        .prop_map(|(s, p, o, c)| claim(&format!("s{s} p{p} o{o} {}", 8_000 + c)));
    prop::collection::vec(one, 0..6)
}

proptest! {
    /// Every claim of either reading is equal to one of the other or in exactly one difference.
    #[test]
    fn nothing_is_dropped_and_nothing_is_told_twice(before in some_claims(), after in some_claims()) {
        let (old, new): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
        let found = differences(&old, &new);
        let (mut gone, mut come): (Vec<String>, Vec<String>) = Default::default();
        for difference in &found {
            match difference {
                Difference::Added(claim) => come.push(line(claim)),
                Difference::Lost(claim) => gone.push(line(claim)),
                Difference::Changed { before, after } => {
                    prop_assert_ne!(line(before), line(after));
                    gone.push(line(before));
                    come.push(line(after));
                }
            }
        }
        // What the first reading has without what is gone is what the second has without what came.
        let rest = |all: &[Claim], without: &[String]| {
            let mut rest: Vec<String> = all.iter().map(line).collect();
            for line in without {
                let at = rest.iter().position(|other| other == line);
                rest.remove(at.expect("told of a claim that is not there"));
            }
            rest.sort();
            rest
        };
        prop_assert_eq!(rest(&before, &gone), rest(&after, &come));
        // And equal readings differ in nothing.
        prop_assert!(differences(&old, &old).is_empty());
    }
}
