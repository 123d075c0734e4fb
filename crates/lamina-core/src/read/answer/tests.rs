//! Sentences that answer, and those that only look like it.

use super::{Kind, Meaning, Said, Sentence, judge, quoted, sentences};

/// Words that mean the same in these tests.
struct Alike(&'static [(&'static str, &'static str)]);

impl Meaning for Alike {
    fn words(&mut self, one: &str, other: &str) -> f64 {
        let alike = |(a, b): &(&str, &str)| (*a, *b) == (one, other) || (*b, *a) == (one, other);
        if self.0.iter().any(alike) { 0.8 } else { 0.0 }
    }

    fn question(&mut self, _: &str) -> f64 {
        0.3
    }
}

fn said(text: &str) -> Said<'_> {
    Said {
        text,
        speaker: "",
        score: 0.8,
        after: None,
        known: Vec::new(),
        claims: Vec::new(),
        in_lines: false,
    }
}

/// What is quoted.
fn answer<'a>(question: &str, said: &[Said<'a>], meaning: &mut Alike) -> Vec<&'a str> {
    let sentences: Vec<Sentence<'a>> = sentences(said);
    let judged = judge(question, said, &sentences, meaning);
    let quoted = quoted(&judged, &sentences, 1);
    quoted.iter().map(|one| sentences[one.sentence].text).collect()
}

#[test]
fn the_sentence_with_the_words_of_the_question_is_quoted() {
    let all = [
        said("It rained. The roof of the barn leaks above the hayloft. We were wet."),
        said("Our cat caught three mice."),
    ];
    let nothing = &mut Alike(&[]);
    assert_eq!(
        answer("Where does the roof leak?", &all, nothing),
        ["The roof of the barn leaks above the hayloft."]
    );
    assert_eq!(
        answer("How many mice did the cat catch?", &all, nothing),
        ["Our cat caught three mice."]
    );
    assert!(answer("Who repaired the motorcycle in Lisbon?", &all, nothing).is_empty());
}

#[test]
fn words_of_the_same_meaning_count() {
    let all = [said("Anna adopted a puppy called Biscuit.")];
    let question = "What is the name of Anna's dog?";
    assert!(!answer(question, &all, &mut Alike(&[("dog", "puppy")])).is_empty());
}

#[test]
fn a_question_is_no_answer_but_what_follows_it_is() {
    let mut all = vec![said("What did you name the puppy?"), said("Biscuit, of course!")];
    let question = "What did Anna name the puppy?";
    assert!(!answer(question, &all, &mut Alike(&[])).contains(&"What did you name the puppy?"));
    all[1].after = Some(0);
    assert_eq!(answer("What is the puppy?", &all, &mut Alike(&[])), ["Biscuit, of course!"]);
}

#[test]
fn a_number_is_asked_for_and_a_sentence_without_one_loses() {
    let all = [said("Acme has bought many seats."), said("Acme has 200 seats.")];
    assert_eq!(answer("How many seats has Acme?", &all, &mut Alike(&[])), ["Acme has 200 seats."]);
}

#[test]
fn sentences_end_where_they_end() {
    let text = "Dr. Lee paid 3.50 at St. Mary. Then J. R. left!\nReally? Yes.";
    let all = [said(text)];
    let cut: Vec<&str> = sentences(&all).iter().map(|sentence| sentence.text).collect();
    assert_eq!(cut, ["Dr. Lee paid 3.50 at St. Mary.", "Then J. R. left!", "Really?", "Yes."]);
    let unspaced = [said("\u{732b}\u{304c}\u{3044}\u{308b}\u{3002}\u{72ac}\u{3082}\u{3002}")];
    assert_eq!(sentences(&unspaced).len(), 2);
    assert!(sentences(&[said(" ... ")]).is_empty());
}

#[test]
fn what_a_question_asks_for() {
    for (question, kind) in [
        ("When does it start?", Kind::Time),
        ("On which day do we rehearse?", Kind::Time),
        ("How much is the rent?", Kind::Count),
        ("Who lent us the car?", Kind::Person),
        ("Where is it?", Kind::Place),
        ("What is it?", Kind::Thing),
    ] {
        assert_eq!(Kind::of(question), kind, "{question}");
    }
}
