//! What can be asked of beliefs, and what is refused.

use expect_test::{Expect, expect};

use super::*;

fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn check(query: &str, expected: Expect) {
    let text = match BeliefsQuery::parse(&pairs(query)) {
        Ok(query) => format!(
            "{:?} {:?} {:?} {:?} {} {}",
            query.about,
            query.stance,
            query.times.as_of_valid.map(|at| at.0.0),
            query.times.as_of_recorded.map(|at| at.0.0),
            query.min_confidence,
            query.include_superseded,
        ),
        Err(error) => format!("{:?} {:?}", error.code, error.field()),
    };
    expected.assert_eq(&text);
}

#[test]
fn questions() {
    check("scope=user:a", expect!["None None None None 0 false"]);
    check("scope=user:a&subject=Bob", expect![[r#"Some("Bob") None None None 0 false"#]]);
    check(
        "scope=user:a&about=Acme&stance=contradicted&min_confidence=0.6",
        expect![[r#"Some("Acme") Some("contradicted") None None 0.6 false"#]],
    );
    check(
        "scope=user:a&as_of=1970-01-01T00:00:01Z&known_as_of=1970-01-01T00:00:02Z",
        expect!["None None Some(1000000) Some(2000000) 0 false"],
    );
    check(
        "scope=user:a&stance=deprecated",
        expect![[r#"None Some("deprecated") None None 0 true"#]],
    );
    check("scope=user:a&include_deprecated=true", expect!["None None None None 0 true"]);
}

#[test]
fn what_is_refused_is_named() {
    for (query, expected) in [
        ("view=local", "MissingRequiredField Some(\"scope\")"),
        ("scope=user:a&stance=sure", "InvalidParameter Some(\"stance\")"),
        ("scope=user:a&min_confidence=1.01", "InvalidParameter Some(\"min_confidence\")"),
        ("scope=user:a&min_confidence=-0.1", "InvalidParameter Some(\"min_confidence\")"),
        ("scope=user:a&min_confidence=NaN", "InvalidParameter Some(\"min_confidence\")"),
        ("scope=user:a&limit=1001", "InvalidParameter Some(\"limit\")"),
        ("scope=user:a&as_of=noon", "InvalidTimestamp Some(\"as_of\")"),
    ] {
        let error = BeliefsQuery::parse(&pairs(query)).unwrap_err();
        assert_eq!(format!("{:?} {:?}", error.code, error.field()), expected, "{query}");
    }
    let long = format!("scope=user:a&about={}", "x".repeat(513));
    assert_eq!(BeliefsQuery::parse(&pairs(&long)).unwrap_err().field(), Some("about"));
    let fits = format!("scope=user:a&about={}", "x".repeat(512));
    assert!(BeliefsQuery::parse(&pairs(&fits)).is_ok());
}

#[test]
fn one_belief_needs_its_id() {
    let id = format!("belief_{}", "0".repeat(32));
    assert!(one(&pairs(&format!("belief_id={id}"))).is_ok());
    let error = one(&pairs("scope=user:a")).unwrap_err();
    assert_eq!((error.code, error.field()), (ErrorCode::MissingRequiredField, Some("belief_id")));
    let error = one(&pairs("belief_id=fact_1")).unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidId);
}
