//! Records answer with the field that is asked for, the last record of a thing first.

use super::super::{QuestionTime, Said};
use super::answer_from_fields;

fn record(at: i64, text: &str) -> Said<'_> {
    Said {
        text,
        speaker: "crm",
        score: 1.0,
        after: None,
        known: Vec::new(),
        claims: Vec::new(),
        at,
        in_lines: true,
        is_asker: false,
    }
}

fn check(question: &str, time: QuestionTime, expected: Option<(&str, Option<bool>)>) {
    let all = [
        record(1, "deal: Acme Corp\nstage: proposal\namount_eur: 500\nowner: Ada"),
        record(5, "deal: Acme Corp\nstage: closed_won\namount_eur: 700\nowner: Ben"),
        record(6, "deal: Borealis\nstage: closed_lost\namount_eur: 90\nowner: Cy"),
        record(2, "suite: parser-e2e\nresult: failed\nfailed_tests: 3"),
        record(7, "suite: parser-e2e\nresult: passed\nfailed_tests: 0"),
        record(7, "flag: dark-mode\nenabled: true\nrollout_percent: 40"),
        record(3, "item: flour\nshop: Leith\nkg: 12"),
    ];
    let found = answer_from_fields(question, &all, time);
    let found = found.as_ref().map(|one| (one.text.as_str(), one.verdict));
    assert_eq!(found, expected, "{question}");
}

#[test]
fn answer_from_fields_takes_the_field_of_the_last_record() {
    let now = QuestionTime { now: Some(9), until: None };
    check("What stage is Acme in?", now, Some(("Acme Corp: stage closed_won", None)));
    check("How much is the Acme deal worth?", now, Some(("Acme Corp: amount_eur 700", None)));
    check("Who owns the Acme deal?", now, Some(("Acme Corp: owner Ben", None)));
    check("What happened to the Borealis deal?", now, Some(("Borealis: stage closed_lost", None)));
    check("How much flour is there in Leith?", now, Some(("flour: kg 12", None)));
    check(
        "What percentage is dark-mode rolled out to?",
        now,
        Some(("dark-mode: rollout_percent 40", None)),
    );
}

#[test]
fn answer_from_fields_says_yes_and_no() {
    let now = QuestionTime { now: Some(9), until: None };
    check("Is dark mode switched on?", now, Some(("dark-mode: enabled true", Some(true))));
    check(
        "Is the parser-e2e suite still failing?",
        now,
        Some(("parser-e2e: result passed", Some(false))),
    );
    check("parser-e2e green?", now, Some(("parser-e2e: result passed", Some(true))));
}

#[test]
fn answer_from_fields_tells_the_value_of_its_time() {
    let then = QuestionTime { now: Some(9), until: Some(4) };
    check("How much was the Acme deal worth?", then, Some(("Acme Corp: amount_eur 500", None)));
    let early = QuestionTime { now: Some(4), until: None };
    check("Who owns the Acme deal?", early, Some(("Acme Corp: owner Ada", None)));
}

#[test]
fn answer_from_fields_is_silent_about_what_no_record_names() {
    let now = QuestionTime { now: Some(9), until: None };
    check("How much is the Umbrella deal worth?", now, None);
    check("Which colour does Acme paint its new delivery vans in Bergen?", now, None);
    check("When was the Acme contract signed?", now, None);
}
