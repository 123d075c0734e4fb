//! The parts of `check` that can be wrong without a build noticing.

use std::path::PathBuf;
use std::time::Duration;

use super::steps::executable_in;
use super::summary::{Row, table};
use super::{Outcome, STEPS};

#[test]
fn the_table_shows_every_step_and_the_verdict() {
    let rows = [
        Row::of("format", &Outcome::Done, Duration::from_millis(1_240)),
        Row::of("simulator", &Outcome::Skipped("absent".to_owned()), Duration::ZERO),
    ];
    let text = table(&rows, Duration::from_secs(2));
    assert_eq!(
        text,
        "format           ok           1.2 s\n\
         simulator        skipped      0.0 s\n\
         together         partly       2.0 s"
    );
    let failed = table(&[Row::failed("tests", Duration::ZERO)], Duration::ZERO);
    assert!(failed.ends_with("together         FAILED       0.0 s"), "{failed}");
}

#[test]
fn the_binary_is_found_among_the_messages_of_cargo() {
    let messages = r#"{"reason":"compiler-artifact","target":{"name":"lamina-types"},"executable":null}
{"reason":"compiler-artifact","target":{"name":"lamina"},"executable":"/t/release/lamina"}
{"reason":"build-finished","success":true}"#;
    assert_eq!(executable_in(messages), Some(PathBuf::from("/t/release/lamina")));
    assert_eq!(executable_in("{\"reason\":\"build-finished\"}\nnot json"), None);
}

#[test]
fn every_step_says_what_to_do() {
    for step in STEPS {
        assert!(step.remedy.len() > 20, "{} has no remedy", step.name);
    }
}
