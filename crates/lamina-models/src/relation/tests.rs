//! The table of relations and the page that documents it agree.

use lamina_types::layer::extraction::Cardinality;

use super::{NOUNS, RELATIONS, STATES, cardinality, relation, sentence};

const PAGE: &str = include_str!("../../../../docs/RELATIONS.md");

#[test]
fn the_page_has_a_row_for_every_relation() {
    let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = RELATIONS
        .iter()
        .map(|relation| {
            let name = match relation.predicate.strip_suffix(':') {
                Some(family) => format!("{family}:…"),
                None => relation.predicate.to_owned(),
            };
            let card = match relation.cardinality {
                Cardinality::One => "one",
                Cardinality::Many => "many",
            };
            format!("| `{name}` | {card} | {} | {} |", relation.object.as_str(), relation.said_as)
        })
        .collect();
    assert_eq!(rows.join("\n"), expected.join("\n"));
}

#[test]
fn claims_are_told_in_sentences() {
    for (predicate, object, expected) in [
        ("count:seats", "200", "Acme has 200 seats"),
        ("favorite:colour", "green", "Acme's favorite colour is green"),
        ("owner", "Maria", "Acme's owner is Maria"),
        ("works_at", "Initech", "Acme works at Initech"),
        ("located_in", "Oslo", "Acme is located in Oslo"),
        ("is_a", "bank", "Acme is a bank"),
        ("feeds_on", "plankton", "Acme feeds on plankton"),
        ("odd:", "x", "Acme odd: x"),
    ] {
        assert_eq!(sentence("Acme", predicate, object), expected);
    }
    assert!(NOUNS.is_sorted());
    let known = NOUNS.iter().chain(STATES.iter().map(|(known, _)| known));
    for predicate in known {
        assert!(relation(predicate).is_some(), "{predicate}");
    }
}

#[test]
fn families_are_found_by_their_head() {
    assert_eq!(cardinality("count:seats"), Some(Cardinality::One));
    assert_eq!(cardinality("likes"), Some(Cardinality::Many));
    assert_eq!(cardinality("count:"), None);
    assert_eq!(cardinality("count"), None);
    assert_eq!(cardinality("unheard_of"), None);
    assert_eq!(relation("favorite:color").map(|relation| relation.predicate), Some("favorite:"));
}

#[test]
fn no_relation_is_listed_twice() {
    for (at, relation) in RELATIONS.iter().enumerate() {
        assert!(
            RELATIONS.iter().skip(at + 1).all(|other| other.predicate != relation.predicate),
            "{relation:?}"
        );
    }
}

#[test]
fn invented_relation_has_one_value_unless_its_words_tell_of_several() {
    for one in [
        "deal_stage",
        "seat_count",
        "moved_to_seat_count",
        "is_active",
        "plan.tier",
        "assigned_to",
        "reports_to",
        "runs_on",
        "capital",
        "address",
        "basis",
        "renewal_date",
    ] {
        assert_eq!(super::invented_cardinality(one), Cardinality::One, "{one}");
    }
    for many in [
        "depends_on",
        "tags",
        "members",
        "related_to",
        "knows",
        "works_with",
        "has_skill",
        "part_of",
        "contains",
        "interested_in",
        "also_known_by",
        "other_contact",
    ] {
        assert_eq!(super::invented_cardinality(many), Cardinality::Many, "{many}");
    }
}
