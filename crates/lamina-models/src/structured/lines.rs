//! A document as lines that a person reads: each scalar under its path, a triple as it would be said. What an answer
//! tells of a document is this; it is in no event as it stands, so it is never put between quotation marks.

use super::scan::{Leaf, Scalar, Step, scan};
use super::text_at;

/// The scalars of a JSON document, each as `customer.plan: gold`; none if it is not JSON.
pub fn json_lines(text: &str) -> Vec<String> {
    let leaves = scan(text).unwrap_or_default();
    leaves.iter().map(|leaf| format!("{}: {}", path(&leaf.path), scalar(&leaf.value))).collect()
}

/// A typed event: its kind, and the scalars of its payload by their paths. `None` if the document names no kind of two
/// words, such as `decision.made`.
pub fn typed_fields(text: &str) -> Option<(String, Vec<(String, String)>)> {
    let leaves = scan(text)?;
    let (kind, _) =
        ["type", "event_type", "kind"].iter().find_map(|key| text_at(&leaves, &[key]))?;
    let (noun, verb) = kind.split_once('.')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if noun.is_empty() || verb.is_empty() || !kind.chars().all(is_word) {
        return None;
    }
    let payload = ["payload", "data"].into_iter().find(|part| {
        leaves.iter().any(|leaf| {
            leaf.path.len() > 1 && matches!(leaf.path.first(), Some(Step::Key(key)) if key == part)
        })
    });
    let fields = leaves.iter().filter_map(|leaf| {
        let steps = match (payload, leaf.path.split_first()) {
            (Some(payload), Some((Step::Key(key), rest))) if key == payload => rest,
            (Some(_), _) => return None,
            // Beside the kind there are its own frame and the values.
            (None, Some((Step::Key(key), []))) if FRAME.contains(&key.as_str()) => return None,
            (None, _) => leaf.path.as_slice(),
        };
        Some((path(steps), scalar(&leaf.value)))
    });
    Some((kind.to_owned(), fields.collect()))
}

/// The scalars of a JSON object or array by their paths; none if the text is not one.
pub fn json_fields(text: &str) -> Vec<(String, String)> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Vec::new();
    }
    let leaves = scan(text).unwrap_or_default();
    leaves.iter().map(|leaf| (path(&leaf.path), scalar(&leaf.value))).collect()
}

/// Members of a typed event that are no values.
const FRAME: &[&str] = &["type", "event_type", "kind", "actor", "thread", "session_id"];

/// A triple as `Service A depends on Service B`; its scalars if it is none.
pub fn triple_lines(text: &str) -> Vec<String> {
    let leaves = scan(text).unwrap_or_default();
    let part = |part: &str| {
        let keys = ["name", "value", "id"];
        keys.iter().find_map(|key| value_at(&leaves, part, key))
    };
    let predicate = text_at(&leaves, &["predicate"]).map(|(predicate, _)| predicate);
    match (part("subject"), predicate, part("object")) {
        (Some(subject), Some(predicate), Some(object)) => {
            vec![format!("{subject} {} {object}", predicate.replace('_', " "))]
        }
        _ => json_lines(text),
    }
}

fn value_at(leaves: &[Leaf], part: &str, key: &str) -> Option<String> {
    let is_there = |leaf: &&Leaf| matches!(leaf.path.as_slice(), [Step::Key(one), Step::Key(other)] if one == part && other == key);
    leaves.iter().find(is_there).map(|leaf| scalar(&leaf.value))
}

fn path(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(key) if path.is_empty() => path.push_str(key),
            Step::Key(key) => path.extend([".", key]),
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// On one line.
fn scalar(value: &Scalar) -> String {
    match value {
        Scalar::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Scalar::Number(number) => number.clone(),
        Scalar::Bool(yes) => yes.to_string(),
    }
}

#[cfg(test)]
mod tests;
