//! Holding what a model wrote against the records that it was shown: a marker stays only where the record
//! it names speaks of what was said.

use super::Has;

/// A claim has at least this share of its words in the record that it cites.
const SUPPORT_MIN: f64 = 0.2;

/// What a model wrote, with the markers that hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verified {
    /// The text.
    pub text: String,
    /// Records that are cited, in order, each with how well it supports what it is cited for.
    pub cited: Vec<(usize, f64)>,
    /// Markers that were taken out.
    pub removed: Vec<String>,
}

/// Takes out the markers that stand for nothing: no such record, or one that says nothing of the kind.
/// Markers are a prefix and the number of a record, from 1, in brackets.
pub fn verify(said: &str, prefix: &str, records: &[&str]) -> Verified {
    let records: Vec<Has> = records.iter().map(|record| Has::of(record)).collect();
    let mut verified = Verified::default();
    let (mut claim, mut fresh) = (0, false);
    let mut rest = said;
    while let Some(open) = rest.find('[') {
        let (before, from) = rest.split_at_checked(open).unwrap_or((rest, ""));
        push(&mut verified.text, before, &mut claim, &mut fresh);
        let Some((marker, number)) = marker(from, prefix) else {
            push(&mut verified.text, "[", &mut claim, &mut fresh);
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        rest = from.get(marker.len()..).unwrap_or_default();
        fresh = true;
        let told = Has::of(verified.text.get(claim..).unwrap_or_default());
        let record = number.checked_sub(1);
        let support = record.and_then(|at| records.get(at)).map_or(0.0, |has| support(&told, has));
        match record.filter(|_| support >= SUPPORT_MIN) {
            Some(at) => {
                verified.text.push_str(marker);
                match verified.cited.iter_mut().find(|(known, _)| *known == at) {
                    Some((_, best)) => *best = best.max(support),
                    None => verified.cited.push((at, support)),
                }
            }
            None => {
                verified.removed.push(marker.to_owned());
                let kept = verified.text.trim_end_matches(' ').len();
                verified.text.truncate(kept);
            }
        }
    }
    push(&mut verified.text, rest, &mut claim, &mut fresh);
    verified
}

/// Adds text; the first words after markers begin another claim.
fn push(text: &mut String, piece: &str, claim: &mut usize, fresh: &mut bool) {
    if *fresh && piece.chars().any(char::is_alphanumeric) {
        *claim = text.len();
        *fresh = false;
    }
    text.push_str(piece);
}

/// The marker that a text begins with, and its number.
fn marker<'a>(text: &'a str, prefix: &str) -> Option<(&'a str, usize)> {
    let inner = text.strip_prefix('[')?.strip_prefix(prefix)?;
    let end = inner.find(']')?;
    let number = inner.get(..end).filter(|digits| digits.len() <= 4)?.parse().ok()?;
    Some((text.get(..prefix.len() + end + 2)?, number))
}

/// The share of a claim's words that a record has.
fn support(claim: &Has, record: &Has) -> f64 {
    let stems: Vec<String> = claim.words.iter().map(|word| super::rooted(word)).collect();
    let shared = stems.iter().filter(|stem| record.stems.contains(*stem)).count();
    if stems.is_empty() { 0.0 } else { shared as f64 / stems.len() as f64 }
}

#[cfg(test)]
mod tests;
