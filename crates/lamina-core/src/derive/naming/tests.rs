//! Which spellings are the same, and how far apart others are.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&words(text).join(" "));
}

#[test]
fn spelling_is_folded() {
    check("Acme Corp.", expect!["acme corp"]);
    check("  O'Neil & Söhne, GmbH ", expect!["oneil and sohne gmbh"]);
    check("U.S.A.", expect!["usa"]);
    check("Zürich-Nord", expect!["zurich nord"]);
    check("Łódź", expect!["lodz"]);
    check("Stra\u{df}e", expect!["strasse"]);
    check("Jose\u{301}", expect!["jose"]);
    check("İstanbul", expect!["istanbul"]);
    check("ＡＣＭＥ　１２", expect!["acme 12"]);
    check("東京タワー", expect!["東京タワー"]);
    check("...", expect![""]);
    check("", expect![""]);
}

#[test]
fn long_names_are_cut() {
    for (length, kept) in
        [(0, 0), (1, 1), (NAME_CHARS_MAX, NAME_CHARS_MAX), (NAME_CHARS_MAX + 1, NAME_CHARS_MAX)]
    {
        assert_eq!(words(&"x".repeat(length)).concat().len(), kept);
    }
}

#[test]
fn slips_are_few() {
    let table = [
        ("kubernetes", "kubernets"),
        ("kubernetes", "kubenretes"),
        ("kubernetes", "kubrnts"),
        ("postgres", "postgers"),
        ("iran", "iraq"),
        ("austria", "australia"),
        ("berlin", "merlin"),
        ("boeing737", "boeing747"),
        ("acme", "acme"),
    ];
    let shown: String = table
        .iter()
        .map(|(one, other)| format!("{one} {other} {:?}\n", slips(one, other)))
        .collect();
    expect![[r#"
        kubernetes kubernets Some(1)
        kubernetes kubenretes Some(1)
        kubernetes kubrnts None
        postgres postgers Some(1)
        iran iraq None
        austria australia None
        berlin merlin None
        boeing737 boeing747 None
        acme acme Some(0)
    "#]]
    .assert_eq(&shown);
}

/// Slow and obviously right: by definition, on whole prefixes.
fn oracle(one: &[char], other: &[char]) -> usize {
    let (Some((a, one_rest)), Some((b, other_rest))) = (one.split_last(), other.split_last())
    else {
        return one.len().max(other.len());
    };
    let mut best = (oracle(one_rest, other_rest) + usize::from(a != b))
        .min(oracle(one_rest, other) + 1)
        .min(oracle(one, other_rest) + 1);
    if let (Some((a2, one_rest)), Some((b2, other_rest))) =
        (one_rest.split_last(), other_rest.split_last())
        && (a, a2) == (b2, b)
    {
        best = best.min(oracle(one_rest, other_rest) + 1);
    }
    best
}

proptest! {
    #[test]
    fn distance_agrees_with_the_oracle(one in "[abc]{0,6}", other in "[abc]{0,6}", most in 0..7usize) {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        let expected = oracle(&letters(&one), &letters(&other));
        prop_assert_eq!(distance(&one, &other, most), (expected <= most).then_some(expected));
        prop_assert_eq!(distance(&one, &other, most), distance(&other, &one, most));
    }

    #[test]
    fn folding_folded_words_changes_nothing(text in "\\PC{0,40}") {
        let once = words(&text);
        prop_assert_eq!(words(&once.join(" ")), once);
    }
}
