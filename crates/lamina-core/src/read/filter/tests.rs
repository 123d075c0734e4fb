//! Filters: trees of conditions, and what a record does not have.

use lamina_types::recall::{Field, Filter, Test};

use super::{Facets, passes};

fn is_in(field: Field, wanted: &[&str]) -> Filter {
    Filter::Is(field, Test::In(wanted.iter().map(|text| (*text).to_owned()).collect()))
}

#[test]
fn trees_of_conditions() {
    let labels = ["work".to_owned(), "q3".to_owned()];
    let facets = Facets {
        observed_actor: Some("user:ada"),
        modality: Some("conversation"),
        labels: &labels,
        observed_at: Some(100),
        ..Facets::default()
    };
    let ada = is_in(Field::ObservedActor, &["user:ada", "user:ben"]);
    let home = is_in(Field::Labels, &["home"]);
    assert!(passes(&ada, &facets));
    assert!(!passes(&home, &facets));
    assert!(passes(&Filter::Any(vec![home.clone(), ada.clone()]), &facets));
    assert!(!passes(&Filter::All(vec![home.clone(), ada.clone()]), &facets));
    assert!(passes(&Filter::Not(Box::new(home)), &facets));
    assert!(passes(&Filter::Is(Field::ObservedAt, Test::AtLeast(100.0)), &facets));
    assert!(!passes(&Filter::Is(Field::ObservedAt, Test::Above(100.0)), &facets));
    assert!(passes(&Filter::default(), &facets), "nothing asked");
    assert!(!passes(&Filter::Any(Vec::new()), &facets), "none of nothing");
}

#[test]
fn what_a_record_does_not_have() {
    let none = Facets::default();
    assert!(passes(&Filter::Is(Field::Confidence, Test::AtLeast(0.9)), &none), "not held to it");
    assert!(!passes(&is_in(Field::Intent, &["buy"]), &none));
    let unwanted = Filter::Is(Field::Intent, Test::NotIn(vec!["buy".to_owned()]));
    assert!(passes(&unwanted, &none));
    let unsure = Facets { confidence: Some(0.5), ..Facets::default() };
    assert!(!passes(&Filter::Is(Field::Confidence, Test::AtLeast(0.9)), &unsure));
}
