//! Tokens: contractions apart, shapes together, every byte where it was.

use expect_test::{Expect, expect};

use super::{TOKENS_MAX, Tokens};

fn check(text: &str, expect: Expect) {
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        let tokens = Tokens::of(line);
        let shown: Vec<String> = (0..tokens.len())
            .map(|at| {
                let token = tokens.at(at);
                assert!(tokens.text.get(token.start..token.end).is_some(), "{token:?}");
                format!("{:?}:{}", token.kind, token.fold)
            })
            .collect();
        out.push_str(&shown.join(" "));
        out.push('\n');
    }
    expect.assert_eq(&out);
}

#[test]
fn words_and_shapes() {
    check(
        "I'm Bob's friend, don't worry.
         im at www.example.org or bob@mail.example.com!
         v2.3 costs $1,200.50 at 8:15
         C++ and C# and node.js and R&D
         She said \"I live here\" and left
         it\u{2019}s \u{201c}fine\u{201d} 'ok' the '90s
         she/her +49 151 2345 gluten-free
         \u{6211}\u{559c}\u{6b22} :) \u{1f600}
         the parents' house",
        expect![[r#"
            Word:i Word:'m Word:bob Word:'s Word:friend Punct:, Word:do Word:n't Word:worry Punct:.
            Word:i Word:'m Word:at Url:www.example.org Word:or Email:bob@mail.example.com Punct:!
            Word:v2.3 Word:costs Punct:$ Number:1,200.50 Word:at Number:8:15
            Word:c++ Word:and Word:c# Word:and Word:node.js Word:and Word:r&d
            Word:she Word:said Quote:i live here Word:and Word:left
            Word:it Word:'s Quote:fine Quote:ok Word:the Punct:' Number:90s
            Word:she/her Number:+49 Number:151 Number:2345 Word:gluten-free
            Word:我 Word:喜 Word:欢 Punct:: Punct:) Punct:😀
            Word:the Word:parents Punct:' Word:house
        "#]],
    );
}

#[test]
fn lines_that_repeat_others_are_skipped() {
    check(
        "a\n> b c\nd",
        expect![[r#"
            Word:a

            Word:d
        "#]],
    );
    let tokens = Tokens::of("a\n> b c\n > e\nd");
    let words: Vec<&str> = (0..tokens.len()).map(|at| tokens.at(at).fold.as_str()).collect();
    assert_eq!(words, ["a", "\n", "d"]);
}

#[test]
fn there_is_a_limit() {
    let long = "word ".repeat(TOKENS_MAX + 10);
    assert_eq!(Tokens::of(&long).len(), TOKENS_MAX);
}
