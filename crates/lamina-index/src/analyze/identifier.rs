//! Names of code: where `camelCase`, `HTTPServer` and `iPhone15` are cut.

/// Parts that a name is cut into at most; what has more is not made of words (`a1b2c3d4e5`).
const PARTS_MAX: usize = 8;

/// The words that a run of letters and digits is made of; itself, if it has no inner structure.
pub(super) fn humps(run: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut letters = run.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, letter)) = letters.next() {
        let after = letters.peek().map(|(_, letter)| *letter);
        if let Some(before) = before
            && is_border(before, letter, after)
        {
            parts.extend(run.get(start..at));
            start = at;
        }
        before = Some(letter);
    }
    parts.extend(run.get(start..));
    // A border next to every letter is noise, not structure.
    if parts.len() > PARTS_MAX || (parts.len() > 2 && run.len() < parts.len() * 2) {
        return vec![run];
    }
    parts
}

/// Whether a new word begins at `letter`.
fn is_border(before: char, letter: char, after: Option<char>) -> bool {
    let humps = before.is_lowercase() && letter.is_uppercase();
    // The last capital of a run belongs to what follows: `HTTP|Server`.
    let acronym = before.is_uppercase()
        && letter.is_uppercase()
        && after.is_some_and(|after| after.is_lowercase() && after != 's');
    let digits = before.is_alphabetic() && letter.is_numeric();
    let ends_digits = before.is_numeric() && letter.is_alphabetic() && after.is_some();
    humps || acronym || digits || ends_digits
}
