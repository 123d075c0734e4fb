//! What is kept of texts, and when it goes.

use std::sync::Arc;

use lamina_index::Lexicon;

use super::{Digest, Rule, Texts, Words};

fn digest(lexicon: &Lexicon, words: usize) -> Arc<Digest> {
    let said: Vec<String> = ["river", "bank"].map(str::to_owned).into();
    let part = Words { numbers: lexicon.numbers(said.iter().map(String::as_str)), length: words };
    Arc::new(Digest {
        parts: vec![part],
        speaker: "ada".to_owned(),
        role: "user",
        asks: false,
        dates: false,
        instructs: false,
        changes: false,
        is_short: true,
        tokens: 9,
    })
}

#[test]
fn a_text_is_kept_for_those_who_number_words_alike() {
    let texts = Texts::default();
    let look = texts.look();
    texts.put(&look, 7, &digest(&look.lexicon, 2));
    assert_eq!(texts.get(&look, 7).map(|text| text.parts[0].length), Some(2));
    assert!(texts.get(&look, 8).is_none());
    let words: Vec<String> = (0..70_000).map(|number| format!("w{number}")).collect();
    look.lexicon.numbers(words.iter().map(String::as_str));
    let other = texts.look();
    assert!(!Arc::ptr_eq(&look.lexicon, &other.lexicon), "a full one is given up");
    assert!(texts.get(&look, 7).is_none() && texts.get(&other, 7).is_none());
    texts.put(&look, 7, &digest(&look.lexicon, 2));
    assert!(texts.get(&other, 7).is_none(), "its numbers mean other words");
}

#[test]
fn nothing_is_kept_that_was_read_before_an_erasure() {
    let texts = Texts::default();
    let look = texts.look();
    let text = digest(&look.lexicon, 2);
    texts.put(&look, 7, &text);
    let asked = texts.answer(3).expect_err("no answer is known");
    let rule = Arc::new(Rule::of("Always answer in English."));
    let read = texts.rule(5).expect_err("it was not read");
    texts.put_rule(5, read, &rule);
    assert!(texts.rule(5).is_ok());
    texts.forget();
    texts.put_rule(5, read, &rule);
    assert!(texts.rule(5).is_err(), "what applied was read before");
    assert!(texts.get(&look, 7).is_none());
    texts.put(&look, 7, &text);
    assert!(texts.get(&texts.look(), 7).is_none(), "it was read before");
    let again = texts.answer(3).expect_err("no answer is known");
    assert_ne!(asked, again, "an answer that was asked for before is not kept");
}

#[test]
fn what_was_hidden_before_it_went_takes_nothing_else_with_it() {
    let texts = Texts::default();
    let look = texts.look();
    let other = |words: &[&str]| {
        let numbers = look.lexicon.numbers(words.iter().copied());
        let part = Words { numbers, length: 2 };
        Arc::new(Digest { parts: vec![part], ..Digest::clone(&digest(&look.lexicon, 2)) })
    };
    texts.put(&look, 7, &other(&["secret", "bank"]));
    texts.put(&look, 8, &other(&["garden", "river"]));
    let rule = Arc::new(Rule::of("Always answer in English."));
    let read = texts.rule(7).expect_err("it was not read");
    texts.put_rule(7, read, &rule);
    texts.put_rule(8, read, &rule);
    texts.forget_some(&[7, 9]);
    assert!(texts.get(&look, 7).is_none() && texts.rule(7).is_err());
    assert!(texts.get(&look, 8).is_some() && texts.rule(8).is_ok());
    texts.put(&look, 7, &other(&["secret", "bank"]));
    assert!(texts.get(&look, 7).is_none(), "it was read before");

    texts.renew();
    let after = texts.look();
    assert!(!Arc::ptr_eq(&look.lexicon, &after.lexicon));
    assert!(!format!("{:?}", after.lexicon).contains("secret"), "no text that is kept has it");
    let kept = texts.get(&after, 8).expect("its words were given other numbers");
    let nearest = after.lexicon.focus(["river", "bank"]).nearest(&kept.parts[0].numbers);
    assert_eq!(
        nearest,
        look.lexicon
            .focus(["river", "bank"])
            .nearest(&other(&["garden", "river"]).parts[0].numbers)
    );
    assert!(nearest[0] > 0.99, "{nearest:?}");
    texts.put(&look, 8, &kept);
    assert!(texts.get(&look, 8).is_none(), "numbers of before mean other words");
}
