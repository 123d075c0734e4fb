//! What is known, drawn: rows are the world, columns are knowledge. A cell shows the value, `!x` for
//! "not x", `a|b` for an open conflict, `-` for unknown.

mod stories;
mod endings;
mod disagreement;
mod oracle;
mod laws;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use lamina_types::layer::Settling;
use lamina_types::layer::extraction::Confidence;
use lamina_types::{AsOf, Micros, RecordedAt, ValidAt};

use super::*;

fn valid(at: i64) -> ValidAt {
    ValidAt(Micros(at))
}

fn recorded(at: i64) -> RecordedAt {
    RecordedAt(Micros(at))
}

fn key(word: &str) -> ValueKey {
    let mut bytes = [0; 16];
    bytes[..word.len()].copy_from_slice(word.as_bytes());
    ValueKey(bytes)
}

fn word(key: ValueKey) -> String {
    String::from_utf8(key.0.iter().copied().filter(|byte| *byte != 0).collect()).unwrap()
}

fn show_value(value: &Value) -> String {
    match value {
        Value::Is(key) => word(*key),
        Value::IsNot(key) => format!("!{}", word(*key)),
    }
}

fn show_known(known: Known<'_>) -> String {
    match known {
        Known::Unknown => "-".to_owned(),
        Known::Value(piece) | Known::Conflict(piece) => show_content(&piece.content),
    }
}

fn show_content(content: &Content) -> String {
    match content {
        Content::One(value) => show_value(value),
        Content::Ended(_) => "-".to_owned(),
        Content::Conflict(sides) => sides.iter().map(show_value).collect::<Vec<String>>().join("|"),
    }
}

/// `recorded observed verb value [from=N] [to=N] [beside] [by=A/S]`, or `recorded at=N pick|split|new|dismiss …`.
fn parse(line: &str) -> Input {
    let words: Vec<&str> = line.split_whitespace().collect();
    let number = |text: &str| text.parse::<i64>().unwrap();
    let option = |name: &str| {
        words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('=')).map(number)
    };
    let at = number(words[0]);
    let source = AssertionId { offset: at.unsigned_abs(), ordinal: 0 };
    let plain = |index: usize| words.get(index).filter(|word| !word.contains('=')).copied();
    if let Some(point) = option("at") {
        let side = |index: usize| match words[index].strip_prefix('!') {
            Some(word) => Value::IsNot(key(word)),
            None => Value::Is(key(words[index])),
        };
        let action = match words[2] {
            "pick" => Action::Pick(side(3)),
            "split" => Action::Split {
                boundary: valid(number(words[3])),
                earlier: side(4),
                later: side(5),
            },
            "new" => Action::NewInformation(NewInformation {
                value: key(words[3]),
                valid_from: option("from").map(valid),
                valid_to: option("to").map(valid),
            }),
            "dismiss" => Action::Dismiss,
            other => panic!("{other}"),
        };
        return Input::Resolved(Resolution {
            source,
            recorded: recorded(at),
            at: valid(point),
            action,
        });
    }
    let value = plain(3).map(key);
    let saying = match words[2] {
        "is" => Saying::Holds(value.unwrap()),
        "not" => Saying::Negated(value.unwrap()),
        "actually" => Saying::Corrects(value.unwrap()),
        "ends" => Saying::Ends(value),
        other => panic!("{other}"),
    };
    Input::Said(Assertion {
        source,
        kept: None,
        recorded: recorded(at),
        observed: valid(number(words[1])),
        saying,
        valid_from: option("from").map(valid),
        valid_to: option("to").map(valid),
        confidence: Confidence::new(
            option("sure").map_or(8_000, |sure| u16::try_from(sure).unwrap()),
        ),
        no_supersede: words.contains(&"beside"),
        settles: Settling::ALL
            .into_iter()
            .zip(["band", "latest", "strongest"])
            .find(|(_, word)| words.contains(word))
            .map(|(way, _)| way),
        author: words.iter().find_map(|word| word.strip_prefix("by=")).map(author),
    })
}

/// `actor` or `actor/source`.
fn author(text: &str) -> RecordSource {
    let (actor, source) = text.split_once('/').map_or((text, None), |(a, b)| (a, Some(b)));
    RecordSource { actor: key(actor).0, source: source.map(|source| key(source).0) }
}

fn script(text: &str) -> Vec<Input> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(parse).collect()
}

fn table(track: &Track, columns: &[i64], rows: &[i64]) -> String {
    let mut out = format!("{:>14}", "valid\\recorded");
    for column in columns {
        write!(out, "{column:>6}").unwrap();
    }
    for row in rows {
        write!(out, "\n{row:>14}").unwrap();
        for column in columns {
            let point = AsOf { valid: valid(*row), recorded: recorded(*column) };
            write!(out, "{:>6}", show_known(at(track.pieces(), point))).unwrap();
        }
    }
    out.push('\n');
    out
}

/// Draws the track after each input, and says what each was decided to be.
fn check(text: &str, expected: Expect) {
    let inputs = script(text);
    let mut track = Track::default();
    let mut decisions = String::new();
    for input in &inputs {
        let outcome = track.push(input);
        writeln!(
            decisions,
            "{:>4} {} {}",
            input.recorded().0.0,
            outcome.decision.as_str(),
            outcome.reason.as_str()
        )
        .unwrap();
    }
    let mut columns = vec![0];
    columns.extend(inputs.iter().map(|input| input.recorded().0.0));
    columns.dedup();
    let rows: Vec<i64> = (0..=6).map(|row| row * 10).collect();
    expected.assert_eq(&(table(&track, &columns, &rows) + &decisions));
}

/// Lists every version: value, validity with the basis of its bounds, knowledge, evidence, links.
fn versions(text: &str, expected: Expect) {
    let track = Track::fold(&script(text));
    let mut out = String::new();
    let name = |id: PieceId| format!("{}.{}.{}", id.fact.offset, id.by.offset, id.part);
    for piece in track.pieces() {
        let basis = |basis: Option<Basis>| match basis {
            Some(Basis::Stated) => "s",
            Some(Basis::Observed) => "o",
            None => "",
        };
        let bound = |bound: Option<i64>| bound.map_or("..".to_owned(), |at| at.to_string());
        let content = match &piece.content {
            Content::Ended(value) => format!("ended {}", value.map_or("any".to_owned(), word)),
            other => show_content(other),
        };
        let supports: Vec<String> =
            piece.supports.iter().map(|support| support.source.offset.to_string()).collect();
        let late = recorded(i64::MAX);
        writeln!(
            out,
            "{:<8} {:<10} valid {}{}-{}{} recorded {}-{} from {}{}{}",
            name(piece.id),
            content,
            bound(piece.from().map(|at| at.0.0)),
            basis(piece.from_basis(late)),
            bound(piece.to().map(|at| at.0.0)),
            basis(piece.to_basis()),
            piece.recorded_from.0.0,
            bound(piece.recorded_to.map(|at| at.0.0)),
            supports.join(","),
            piece.supersedes.map_or(String::new(), |id| format!(" supersedes {}", name(id))),
            piece.superseded_by.map_or(String::new(), |id| format!(" superseded_by {}", name(id))),
        )
        .unwrap();
    }
    expected.assert_eq(&out);
}
