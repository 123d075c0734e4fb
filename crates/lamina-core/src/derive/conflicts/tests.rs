//! What is listed as a conflict, and when.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use lamina_types::Micros;
use lamina_types::layer::extraction::Confidence;

use super::*;
use crate::derive::facts::{Assertion, Input, Saying, Track, ValueKey};

fn id(offset: u64) -> AssertionId {
    AssertionId { offset, ordinal: 0 }
}

fn at(micros: u64) -> RecordedAt {
    RecordedAt(Micros(i64::try_from(micros).unwrap()))
}

fn value(letter: u8) -> ValueKey {
    ValueKey([letter; 16])
}

fn said(offset: u64, observed: i64, saying: Saying) -> Input {
    Input::Said(Assertion {
        source: id(offset),
        kept: None,
        recorded: at(offset),
        observed: ValidAt(Micros(observed)),
        saying,
        valid_from: None,
        valid_to: None,
        confidence: Confidence::FULL,
        no_supersede: false,
        settles: None,
        author: None,
    })
}

fn is(offset: u64, observed: i64, letter: u8) -> Input {
    said(offset, observed, Saying::Holds(value(letter)))
}

fn decided(offset: u64, point: i64, action: Action) -> Input {
    let at_valid = ValidAt(Micros(point));
    Input::Resolved(Resolution { source: id(offset), recorded: at(offset), at: at_valid, action })
}

/// The list after each recorded instant.
fn check(inputs: &[Input], expected: Expect) {
    let track = Track::fold(inputs);
    let resolutions: Vec<Resolution> = inputs
        .iter()
        .filter_map(|input| match input {
            Input::Resolved(resolution) => Some(resolution.clone()),
            Input::Said(_) => None,
        })
        .collect();
    let mut out = String::new();
    for input in inputs {
        let now = input.recorded();
        let list: Vec<String> = conflicts(track.pieces(), &resolutions, now)
            .iter()
            .map(|conflict| {
                let status = match conflict.status {
                    Status::Open => "open".to_owned(),
                    Status::Resolved { by, action, .. } => {
                        let action = format!("{action:?}");
                        let word = action.split(['(', ' ']).next().unwrap().to_owned();
                        format!("{word} by {}", by.offset)
                    }
                    Status::Overtaken { at } => format!("overtaken at {}", at.0.0),
                };
                format!(
                    "{} of {} from {} detected {} {status}",
                    conflict.id.offset,
                    conflict.sides.len(),
                    conflict.from.0.0,
                    conflict.detected_at.0.0
                )
            })
            .collect();
        let list = if list.is_empty() { "none".to_owned() } else { list.join("; ") };
        writeln!(out, "{}: {list}", now.0.0).unwrap();
    }
    expected.assert_eq(&out);
}

#[test]
fn a_conflict_is_listed_until_it_is_decided() {
    check(
        &[
            is(10, 5, b'a'),
            is(20, 5, b'b'),
            is(30, 5, b'c'),
            decided(40, 7, Action::Pick(Value::Is(value(b'a')))),
            is(50, 8, b'b'),
        ],
        expect![[r#"
            10: none
            20: 20 of 2 from 5 detected 20 open
            30: 20 of 3 from 5 detected 20 open
            40: 20 of 3 from 5 detected 20 Pick by 40
            50: 20 of 3 from 5 detected 20 Pick by 40
        "#]],
    );
}

#[test]
fn a_later_value_leaves_the_conflict_about_the_past_open() {
    check(
        &[is(10, 5, b'a'), is(20, 5, b'b'), is(30, 9, b'c'), decided(40, 5, Action::Dismiss)],
        expect![[r#"
            10: none
            20: 20 of 2 from 5 detected 20 open
            30: 20 of 2 from 5 detected 20 open
            40: 20 of 2 from 5 detected 20 Dismiss by 40
        "#]],
    );
}

#[test]
fn a_correction_overtakes_a_conflict() {
    check(
        &[is(10, 5, b'a'), is(20, 5, b'b'), said(30, 7, Saying::Corrects(value(b'c')))],
        expect![[r#"
            10: none
            20: 20 of 2 from 5 detected 20 open
            30: 20 of 2 from 5 detected 20 overtaken at 30
        "#]],
    );
}
