//! Words against words.

use super::{CHANCE, Lexicon};

fn numbers(lexicon: &Lexicon, words: &[&str]) -> Box<[u32]> {
    lexicon.numbers(words.iter().copied())
}

#[test]
fn the_same_word_is_nearest_and_kin_is_nearer_than_strangers() {
    let lexicon = Lexicon::default();
    let texts = [&["our", "marriage"][..], &["wedding"], &["screwdriver"]];
    let texts = texts.map(|words| numbers(&lexicon, words));
    let mut focus = lexicon.focus(["marriage", "boat"]);
    let [same, kin, strange] = texts.map(|text| focus.nearest(&text));
    assert!((same[0] - 1.0).abs() < 0.02, "{same:?}");
    assert!(kin[0] > strange[0] + 0.1, "{kin:?} {strange:?}");
    assert!(kin.iter().chain(&strange).all(|near| (0.0..=1.0).contains(near)));
}

#[test]
fn nothing_is_near_to_no_words() {
    let lexicon = Lexicon::default();
    let (once, twice) =
        (numbers(&lexicon, &["ship", "sea"]), numbers(&lexicon, &["sea", "ship", "sea"]));
    assert_eq!(once, twice, "order and repetition do not matter");
    let mut focus = lexicon.focus(["boat", ""]);
    assert!(focus.knows(0) && !focus.knows(1) && !focus.knows(2));
    assert_eq!(focus.nearest(&[]), vec![0.0, 0.0]);
    assert_eq!(focus.nearest(&[9_999]), vec![0.0, 0.0], "a number of no word");
    assert!(focus.nearest(&once)[0] > 0.0);
}

#[test]
fn it_comes_to_the_same_as_comparing_the_words() {
    let lexicon = Lexicon::default();
    let words = ["river", "bank", "loan", "2026", "the", "qzxv", ""];
    let known = numbers(&lexicon, &words);
    let embedder = crate::StaticEmbedder::new();
    let asked = ["money", "water", "\u{6c34}"];
    let near = lexicon.focus(asked).nearest(&known);
    for (asked, near) in asked.iter().zip(near) {
        let vectors = words.iter().filter_map(|word| embedder.embed_one(word));
        let best = embedder.embed_one(asked).map_or(0.0, |asked| {
            vectors.map(|word| asked.cosine(&word).clamp(0.0, 1.0)).fold(0.0, f32::max)
        });
        let best = if best > CHANCE { best } else { 0.0 };
        assert_eq!(near, best, "{asked}");
    }
}

#[test]
fn what_was_asked_before_comes_to_the_same_and_knows_new_words() {
    let lexicon = Lexicon::default();
    let first = numbers(&lexicon, &["river", "bank", "loan"]);
    let before = lexicon.focus(["money", "water"]).nearest(&first);
    let all = numbers(&lexicon, &["river", "bank", "loan", "cash", "lake", "pond"]);
    let fresh = Lexicon::default();
    let known = numbers(&fresh, &["river", "bank", "loan", "cash", "lake", "pond"]);
    // One of them was asked for, one was not, and their places have changed.
    let again = lexicon.focus(["lake", "money"]).nearest(&all);
    assert_eq!(again, fresh.focus(["lake", "money"]).nearest(&known));
    assert!(again[0] > 0.9 && again[1] > before[0], "{before:?} {again:?}");
    assert_eq!(lexicon.focus(["money", "water"]).nearest(&first), before);
}

/// More words than are compared together, and more that are asked for than are kept.
#[test]
fn however_often_it_is_asked_it_comes_to_the_same() {
    let lexicon = Lexicon::default();
    let embedder = crate::StaticEmbedder::new();
    let all: Vec<String> = (0..2_500).map(|number| format!("{}sea{number}", number % 7)).collect();
    let asked = ["ocean", "boat", "seven", "ocean"];
    for known in [700, 1_100, 2_500, 2_500] {
        let words = || all.iter().take(known).map(String::as_str);
        let numbers = lexicon.numbers(words());
        let near = lexicon.focus(asked).nearest(&numbers);
        for (asked, near) in asked.iter().zip(near) {
            let asked = embedder.embed_one(asked).unwrap();
            let vectors = words().filter_map(|word| embedder.embed_one(word));
            let best = vectors.map(|word| asked.cosine(&word).min(1.0)).fold(0.0, f32::max);
            assert_eq!(near, if best > CHANCE { best } else { 0.0 }, "{known}");
        }
    }
}
