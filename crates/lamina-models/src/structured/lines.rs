//! A document as lines that a person reads: each scalar under its path, a triple as it would be said. What an answer
//! tells of a document is this; it is in no event as it stands, so it is never put between quotation marks.

use super::scan::{Leaf, Scalar, Step, scan};
use super::text_at;

/// The scalars of a JSON document, each as `customer.plan: gold`; none if it is not JSON.
pub fn json_lines(text: &str) -> Vec<String> {
    let leaves = scan(text).unwrap_or_default();
    leaves.iter().map(|leaf| format!("{}: {}", path(&leaf.path), scalar(&leaf.value))).collect()
}

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
