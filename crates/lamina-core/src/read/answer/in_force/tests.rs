//! The sentence that is in force answers first and alone.

use super::super::{Meaning, Said, judge, quoted, sentences};
use super::{QuestionTime, put_in_force, without_time_clause};

struct Nothing;

impl Meaning for Nothing {
    fn words(&mut self, _: &str, _: &str) -> f64 {
        0.0
    }

    fn question(&mut self, _: &str) -> f64 {
        0.5
    }
}

fn said(at: i64, text: &str) -> Said<'_> {
    Said {
        text,
        speaker: "",
        score: 1.0,
        after: None,
        known: Vec::new(),
        claims: Vec::new(),
        at,
        in_lines: false,
        is_asker: false,
    }
}

/// What is quoted. A sentence with `1 April` begins at 100.
fn answer<'a>(question: &str, said: &[Said<'a>], time: QuestionTime) -> Vec<&'a str> {
    let sentences = sentences(said);
    let judged = judge(without_time_clause(question), said, &sentences, &mut Nothing);
    let begins =
        &mut |sentence: &super::Sentence<'_>| sentence.text.contains("1 April").then_some(100_i64);
    let judged = put_in_force(question, (said, &sentences), judged, time, begins);
    quoted(&judged, &sentences, 3).iter().map(|one| sentences[one.sentence].text).collect()
}

fn now(now: i64) -> QuestionTime {
    QuestionTime { now: Some(now), until: None }
}

#[test]
fn put_in_force_quotes_the_latest_value_alone() {
    let all = [said(1, "Rex's vet is Dr Moss."), said(2, "Rex's vet is now Dr Lund.")];
    assert_eq!(answer("Who is Rex's vet?", &all, now(9)), ["Rex's vet is now Dr Lund."]);
}

#[test]
fn put_in_force_waits_for_what_begins_later() {
    let all = [
        said(1, "Anna is shift lead in Leeds."),
        said(2, "Femi will be shift lead in Leeds from 1 April."),
    ];
    let asked = "Who is shift lead in Leeds?";
    assert_eq!(answer(asked, &all, now(50)), [all[0].text]);
    assert_eq!(answer(asked, &all, now(150)), [all[1].text]);
    let until = QuestionTime { now: Some(150), until: Some(90) };
    assert_eq!(answer("Who was shift lead in Leeds?", &all, until), [all[0].text]);
}

#[test]
fn put_in_force_finds_what_was_before_something() {
    let all = [
        said(1, "Our contact at the bank is Mrs Orr."),
        said(2, "Our contact at the bank is Colm."),
    ];
    assert_eq!(answer("Who was our contact at the bank before Colm?", &all, now(9)), [all[0].text]);
    assert_eq!(answer("Who was our first contact at the bank?", &all, now(9)), [all[0].text]);
}

#[test]
fn put_in_force_keeps_what_an_addition_stands_beside() {
    let all = [said(1, "Nora plays the cello."), said(2, "Nora also plays the harp.")];
    assert_eq!(answer("What does Nora play?", &all, now(9)).first(), Some(&all[0].text));
}

#[test]
fn put_in_force_takes_the_later_word_of_the_past_for_the_same_sentence() {
    let all =
        [said(1, "Blue Harbour was built by Acme."), said(2, "Blue Harbour was built by Initech.")];
    assert_eq!(answer("Who was Blue Harbour built by?", &all, now(9)), [all[1].text]);
    let all = [all[1].clone(), all[0].clone()];
    assert_eq!(answer("Who was Blue Harbour built by?", &all, now(9)), [all[0].text]);
}

#[test]
fn without_time_clause_keeps_short_questions() {
    assert_eq!(without_time_clause("Who led it before Colm?"), "Who led it");
    assert_eq!(without_time_clause("Who before Colm?"), "Who before Colm?");
}
