//! Sentences that answer, and those that only look like it.

use super::{Claimed, Kind, Meaning, Said, Sentence, judge, quoted, sentences};

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
        at: 0,
        in_lines: false,
        is_asker: false,
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

fn claim(text: &str, words: &str) -> Claimed {
    let subject = words.split(' ').next().unwrap_or_default().to_owned();
    let bytes = (0, text.len());
    Claimed {
        bytes,
        is_own: subject == "local",
        subject,
        words: words.to_owned(),
        ..Claimed::default()
    }
}

#[test]
fn what_ended_gives_way_to_what_ended_it() {
    let nothing = &mut Alike(&[]);
    let mut all = vec![said("I work at Acme."), said("I quit Acme."), said("I start at Umbrella.")];
    all[0].claims = vec![Claimed { by: vec![1, 2], ..claim(all[0].text, "local works at Acme") }];
    all[1].claims = vec![Claimed { by: vec![2], ..claim(all[1].text, "local works at Acme") }];
    all[2].claims = vec![Claimed { stands: true, ..claim(all[2].text, "local works at Umbrella") }];
    assert_eq!(answer("Where do I work now?", &all, nothing), ["I start at Umbrella."]);
    // Nothing has begun since: that it is over is the answer.
    all.truncate(2);
    all[1].claims[0].stands = true;
    assert_eq!(answer("Where do I work now?", &all, nothing), ["I quit Acme."]);
    // Without what ended it, it is not quoted either.
    all.truncate(1);
    assert!(answer("Where do I work now?", &all, nothing).is_empty());
    all[0].claims[0].stands = true;
    assert_eq!(answer("Where do I work now?", &all, nothing), ["I work at Acme."]);
}

#[test]
fn a_sentence_without_claims_ends_with_what_it_names() {
    let nothing = &mut Alike(&[]);
    let mut all = vec![said("My car is a Tesla."), said("I sold my Tesla.")];
    all[1].at = 1;
    let ends = Some("Tesla".to_owned());
    all[1].claims = vec![Claimed { ends, stands: true, ..claim(all[1].text, "local owns Tesla") }];
    assert_eq!(answer("What car do I have?", &all, nothing), ["I sold my Tesla."]);
    // What was said later is another one.
    all[0].at = 2;
    assert_eq!(answer("What car do I have?", &all, nothing), ["My car is a Tesla."]);
}

#[test]
fn what_would_be_answers_nothing_and_hearsay_gives_way() {
    let nothing = &mut Alike(&[]);
    let unreal = [said("If I lived in Paris I would bike every day.")];
    assert!(answer("Where do I live?", &unreal, nothing).is_empty());
    let both = [said("I heard that Kevin works at Hooli."), said("Kevin works at Initech.")];
    assert_eq!(answer("Where does Kevin work?", &both, nothing), ["Kevin works at Initech."]);
    assert_eq!(answer("Where does Kevin work?", &both[..1], nothing).len(), 1);
}

#[test]
fn a_sentence_about_the_same_person_needs_the_kind_of_thing_that_is_asked_for() {
    let nothing = &mut Alike(&[]);
    for (question, sentence, answers) in [
        ("How old is Clara?", "Clara works at Initech in Graz.", false),
        ("How old is Clara?", "Clara is nine and plays the cello.", true),
        ("How old is Clara?", "Clara turned 40 last week.", true),
        ("What is Dana's email?", "Bob is married to Dana.", false),
        ("What is Dana's email?", "Dana writes from dana@example.org mostly.", true),
        ("What is Bob's phone number?", "Bob signed on 30 June 2027.", false),
        ("What is Bob's phone number?", "Bob can be reached at +39 333 1234567.", true),
        ("How many dogs do I have?", "I have two cats, Miso and Tofu.", false),
        ("How many cats do I have?", "I have two cats, Miso and Tofu.", true),
        ("Is Carlos married?", "Carlos thinks that Acme will renew.", false),
        ("Is Carlos married?", "Carlos is divorced.", true),
        ("Where does Eve live?", "Eve divorced Frank in 2019.", false),
        ("Why did I quit Acme?", "I quit Acme.", false),
        ("Why did I quit Acme?", "I quit Acme because of the commute.", true),
        ("What is the password of the server?", "The server is at port 8443.", false),
        ("What is Carla's surname?", "Carla is divorced.", false),
        ("What is Carla's surname?", "Carla Mendes is divorced.", true),
    ] {
        let all = [said(sentence)];
        assert_eq!(!answer(question, &all, nothing).is_empty(), answers, "{question} {sentence}");
    }
}

#[test]
fn a_company_ends_no_sentence() {
    let text =
        "ACME, Inc. has 200 seats. He lives in the U.S. now. We met Jones Ltd. Then we left.";
    let all = [said(text)];
    let cut: Vec<&str> = sentences(&all).iter().map(|sentence| sentence.text).collect();
    assert_eq!(
        cut,
        [
            "ACME, Inc. has 200 seats.",
            "He lives in the U.S. now.",
            "We met Jones Ltd.",
            "Then we left."
        ]
    );
}
