//! Which phrase a text names.

use lamina_types::recall::Phrase;
use lamina_types::{Micros, ValidAt};

use super::Phrases;

fn phrases() -> Phrases {
    let phrase = |name: &str, pattern: &str, from: i64| Phrase {
        name: name.to_owned(),
        pattern: pattern.to_owned(),
        from: ValidAt(Micros(from)),
        to: ValidAt(Micros(from + 1)),
    };
    let all = vec![phrase("fiscal_q3", "fiscal Q3", 1), phrase("sprint", "the big sprint", 2)];
    Phrases { all, offset: 7 }
}

#[test]
fn case_spaces_and_prepositions_do_not_matter() {
    let known = phrases();
    let named = |text: &str| known.named(text).map(|phrase| phrase.name.as_str());
    for text in ["fiscal Q3", " Fiscal  q3.", "in fiscal Q3", "during the fiscal q3", "fiscal_q3"] {
        assert_eq!(named(text), Some("fiscal_q3"), "{text}");
    }
    assert_eq!(named("the big sprint"), Some("sprint"), "also if it begins with such a word");
    for text in ["", "Q3", "fiscal Q3 2025", "the"] {
        assert_eq!(named(text), None, "{text}");
    }
}

#[test]
fn a_question_may_speak_of_one() {
    let known = phrases();
    let spoken = |text: &str| known.spoken(text).map(|phrase| phrase.name.as_str());
    assert_eq!(spoken("What did we decide in fiscal Q3?"), Some("fiscal_q3"));
    assert_eq!(spoken("What did we decide in fiscal Q31?"), None);
}
