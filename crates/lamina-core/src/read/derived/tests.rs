//! Shares of derived records.

use proptest::prelude::*;

use super::{INHERITED, QuestionWords};
use crate::read::words::stems;

#[test]
fn record_with_every_word_of_the_question_has_the_whole_score() {
    let asked = stems("seats Acme");
    let words = QuestionWords(&asked);
    assert!((words.share("Acme has 200 seats") - 1.0).abs() < 1e-9);
    assert!((words.share("the roof leaks") - INHERITED).abs() < 1e-9);
    assert!(words.touches("Acme grew") && !words.touches("the roof leaks"));
}

proptest! {
    #[test]
    fn share_stays_between_the_inherited_part_and_one(question in "[a-z ]{0,40}", said in "[a-z ]{0,40}") {
        let asked = stems(&question);
        let share = QuestionWords(&asked).share(&said);
        prop_assert!((INHERITED..=1.0).contains(&share));
    }
}
