//! What applies, and what ends it: when something later takes it back, sets it otherwise, or says it again.

use std::collections::BTreeSet;

use super::{Setting, revoked, settings, standing};
use crate::read::words::{is_empty_word, stem, words};

/// Words that two have in common if one stands for the other.
const SAME_SHARE: f64 = 0.6;
/// Words of what is taken back that have to be in what it is taken from.
const REVOKED_SHARE: f64 = 0.6;
/// Words that only say since when.
const NOW: &[&str] = &["now", "anymore", "longer", "actually", "instead", "today"];
/// How an instruction begins that forbids something.
const FORBIDS: &[&str] = &["never", "not", "don", "avoid", "stop"];
/// Words at its beginning among which that stands: `from now on, do not ...`.
const FORBIDS_WITHIN: usize = 5;

/// What of a text applies, whatever is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The sentences that say it; nothing if none does.
    pub text: String,
    /// What they speak of.
    matter: BTreeSet<String>,
    /// What they set that can be set one way only.
    settings: BTreeSet<Setting>,
    /// What the text takes back, each as what that speaks of.
    revoked: Vec<BTreeSet<String>>,
}

impl Rule {
    /// What of a text applies, and what it takes back.
    pub fn of(text: &str) -> Rule {
        let revoked = revoked(text);
        Rule { revoked, ..Rule::said(&standing(text).join(" ")) }
    }

    /// An instruction that is known to be one, however it is put.
    pub fn said(text: &str) -> Rule {
        let (matter, settings) = (matter(text), settings(text));
        Rule { text: text.to_owned(), matter, settings, revoked: Vec::new() }
    }

    /// Whether it takes anything back.
    pub fn revokes(&self) -> bool {
        !self.revoked.is_empty()
    }

    /// Whether it can end an instruction: it takes something back, or sets something.
    pub fn can_end(&self) -> bool {
        self.revokes() || !self.settings.is_empty()
    }

    /// Whether an earlier one does not apply any more: it is taken back, set otherwise, or said again.
    pub fn ends(&self, earlier: &Rule) -> bool {
        self.takes_back(earlier)
            || self.sets_again(earlier)
            || is_same(&earlier.matter, &self.matter)
    }

    /// Whether an earlier instruction is not one any more. Who is told to stop what is forbidden is told the same
    /// once more, and so is who is told it in other words.
    pub fn overrules(&self, earlier: &Rule) -> bool {
        (self.takes_back(earlier) && !earlier.forbids()) || self.sets_again(earlier)
    }

    fn takes_back(&self, earlier: &Rule) -> bool {
        let names = |taken: &BTreeSet<String>| {
            let both = taken.intersection(&earlier.matter).count() as f64;
            both >= REVOKED_SHARE * taken.len() as f64
        };
        // One word alone may be of something else: then they have to speak of the same otherwise.
        let fits = |taken: &BTreeSet<String>| {
            names(taken)
                && (taken.len() > 1
                    || earlier.matter.len() == 1
                    || self.text.is_empty()
                    || self.matter.intersection(&earlier.matter).any(|stem| !taken.contains(stem)))
        };
        self.revoked.iter().any(fits)
    }

    fn sets_again(&self, earlier: &Rule) -> bool {
        self.settings.intersection(&earlier.settings).next().is_some()
    }

    fn forbids(&self) -> bool {
        let first = words(&self.text.replace(['\'', '\u{2019}'], " "));
        first.iter().take(FORBIDS_WITHIN).any(|word| FORBIDS.contains(&word.as_str()))
    }
}

fn matter(text: &str) -> BTreeSet<String> {
    let counts = |word: &&String| !is_empty_word(word) && !NOW.contains(&word.as_str());
    // Twice: `answering` and `answer` are one.
    words(text).iter().filter(counts).map(|word| stem(&stem(word))).collect()
}

/// Whether a later one says what an earlier one says.
fn is_same(earlier: &BTreeSet<String>, later: &BTreeSet<String>) -> bool {
    let both = earlier.intersection(later).count() as f64;
    both >= SAME_SHARE * earlier.len().max(later.len()) as f64
}

#[cfg(test)]
mod tests;
