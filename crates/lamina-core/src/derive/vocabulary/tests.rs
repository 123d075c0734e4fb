//! Predicates against a small vocabulary of a sales team.

use super::*;
use expect_test::{Expect, expect};

fn term(id: &str, datatype: Datatype) -> Term {
    Term {
        id: id.to_owned(),
        label: None,
        synonyms: Vec::new(),
        datatype: Some(datatype),
        values: Vec::new(),
        cardinality: None,
    }
}

fn sales() -> Vocabulary {
    let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    Vocabulary {
        name: "sales".to_owned(),
        terms: vec![
            Term {
                label: Some("Stage of the deal".to_owned()),
                synonyms: list(&["pipeline status"]),
                values: list(&["intro", "poc", "closed-won"]),
                ..term("deal_stage", Datatype::String)
            },
            term("seat_count", Datatype::Integer),
            term("contact_at", Datatype::Entity),
            Term { synonyms: list(&["lead"]), ..term("owner", Datatype::String) },
            Term { synonyms: list(&["lead"]), ..term("manager", Datatype::String) },
        ],
    }
}

fn other() -> Vocabulary {
    Vocabulary { name: "other".to_owned(), terms: vec![term("seat_count", Datatype::Integer)] }
}

fn number(value: &str) -> Object {
    Object::Number { value: value.to_owned(), unit: None }
}

fn text(value: &str) -> Object {
    Object::Text(value.to_owned())
}

fn check(predicate: &str, object: Object, expected: Expect) {
    let lexicons = [Lexicon::new(sales()), Lexicon::new(other())];
    let shown = match map(predicate, Some(&object), &lexicons) {
        Mapping::Mapped { vocabulary, term, value, confidence, how } => format!(
            "{vocabulary}/{}{} {how:?} {}",
            term.id,
            value.map_or(String::new(), |value| format!("={value}")),
            confidence.get()
        ),
        Mapping::Free(why) => format!("free {why:?}"),
    };
    expected.assert_eq(&shown);
}

#[test]
fn predicates_are_mapped_with_confidence() {
    check("seat_count", number("200"), expect!["sales/seat_count Id 10000"]);
    check("seatCount", number("200"), expect!["sales/seat_count Id 10000"]);
    check("Seat Count", number("200"), expect!["sales/seat_count Id 10000"]);
    check("count:seats", number("200"), expect!["sales/seat_count Words 8000"]);
    check("deal stages", text("POC"), expect!["sales/deal_stage=poc Words 8000"]);
    check(
        "stage of the deal",
        text("Closed won"),
        expect!["sales/deal_stage=closed-won Label 9500"],
    );
    check("pipeline status", text("intro"), expect!["sales/deal_stage=intro Label 9500"]);
    check("pipelin status", text("intro"), expect!["sales/deal_stage=intro NearSpelling 7000"]);
    check("manger", text("Bob"), expect!["sales/manager NearSpelling 7000"]);
}

#[test]
fn what_does_not_fit_stays_free() {
    check("favorite:color", text("green"), expect!["free NoTerm"]);
    check("", text("x"), expect!["free NoTerm"]);
    check("of the", text("x"), expect!["free NoTerm"]);
    check("seat_count", text("many"), expect!["free Datatype"]);
    check("seat_count", number("2.5"), expect!["free Datatype"]);
    check("contact_at", text("Acme"), expect!["free Datatype"]);
    check("deal_stage", text("lost"), expect!["free Value"]);
    check("deal_stage", number("3"), expect!["free Value"]);
    check("lead", text("Bob"), expect!["free Ambiguous"]);
}

#[test]
fn without_a_vocabulary_everything_is_free() {
    assert_eq!(map("seat_count", Some(&number("1")), []), Mapping::Free(Unmapped::NoTerm));
}
