//! "Did you mean": a misspelt setting is worth one sentence more than "unknown".

/// The candidate nearest to what was written, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let near_enough = (written.len() / 3).max(2);
    candidates
        .into_iter()
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(distance, _)| *distance <= near_enough)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many insertions, deletions and replacements turn one text into the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    // One row of the usual table: distances of the prefix read so far to each prefix of `right`.
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.chars().enumerate() {
        let mut diagonal = index;
        let mut before = index + 1;
        let mut next = vec![before];
        for (to, above) in right.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(from != *to);
            before = replaced.min(above + 1).min(before + 1);
            diagonal = *above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
