//! The table of relations and the page that documents it agree.

use lamina_types::layer::extraction::Cardinality;

use super::{RELATIONS, cardinality, relation};

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
