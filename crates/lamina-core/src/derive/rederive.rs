//! What a second reading of an event changes: its claims then and now, compared.
//!
//! Where a claim stands in the text and by which rule it was found is not compared: that is evidence,
//! and no fact changes with it.

use lamina_types::layer::Claim;

/// One thing that is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference<'a> {
    /// It was not found before.
    Added(&'a Claim),
    /// It is found otherwise now.
    Changed {
        /// As it was.
        before: &'a Claim,
        /// As it is.
        after: &'a Claim,
    },
    /// It is not found any more.
    Lost(&'a Claim),
}

/// How two claims are taken to be the same one, the closest first.
const ALIKE: [fn(&Claim, &Claim) -> bool; 4] = [
    equal,
    // The same, but of another time or not as sure.
    |a, b| a.subject == b.subject && a.predicate == b.predicate && a.object == b.object,
    // Something else is said of it.
    |a, b| a.subject == b.subject && a.predicate == b.predicate,
    // The same relation has another name.
    |a, b| a.subject == b.subject && a.object == b.object,
];

/// What changed between two readings, in the order of the earlier one; what was added comes last.
pub fn differences<'a>(before: &[&'a Claim], after: &[&'a Claim]) -> Vec<Difference<'a>> {
    let mut found: Vec<Option<&'a Claim>> = vec![None; before.len()];
    let mut left: Vec<Option<&'a Claim>> = after.iter().copied().map(Some).collect();
    for alike in ALIKE {
        for (claim, found) in before.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
            let same = left.iter_mut().find(|other| other.is_some_and(|other| alike(claim, other)));
            *found = same.and_then(Option::take);
        }
    }
    let kept = before.iter().zip(found).filter_map(|(before, after)| match after {
        None => Some(Difference::Lost(before)),
        Some(after) if equal(before, after) => None,
        Some(after) => Some(Difference::Changed { before, after }),
    });
    kept.chain(left.into_iter().flatten().map(Difference::Added)).collect()
}

/// Whether two claims say the same of the same time, and as surely.
fn equal(a: &Claim, b: &Claim) -> bool {
    let Claim {
        subject,
        predicate,
        object,
        effect,
        valid_from,
        valid_to,
        cardinality,
        confidence,
        span: _,
        normaliser: _,
        clause: _,
    } = a;
    *subject == b.subject
        && *predicate == b.predicate
        && *object == b.object
        && *effect == b.effect
        && *valid_from == b.valid_from
        && *valid_to == b.valid_to
        && *cardinality == b.cardinality
        && *confidence == b.confidence
}

#[cfg(test)]
mod tests;
