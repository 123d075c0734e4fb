//! A tenant's words for stretches of time: which are in force.

use lamina_store::codec::control::PhrasesSet;
use lamina_store::entry::Entry;
use lamina_types::recall::Phrase;

/// Words that may stand before a phrase and say nothing.
const BEFORE: &[&str] = &["in", "during", "over", "within", "for", "the"];

/// The phrases of one tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrases {
    all: Vec<Phrase>,
    /// Their entry.
    offset: u64,
}

impl Phrases {
    /// Those that an entry sets.
    pub(crate) fn of(entry: &Entry) -> Phrases {
        let set = entry.what.live().and_then(|bytes| PhrasesSet::decode(bytes).ok());
        let all = set.map(|set| set.phrases).unwrap_or_default();
        Phrases { all, offset: entry.head.offset }
    }

    /// All of them, by name.
    pub fn all(&self) -> &[Phrase] {
        &self.all
    }

    /// The entry that set them.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The one that a text names, by its pattern or its name; case and spaces do not matter.
    pub(crate) fn named(&self, text: &str) -> Option<&Phrase> {
        let said = folded(text);
        let mut bare = said.as_str();
        loop {
            let is =
                |phrase: &&Phrase| folded(&phrase.pattern) == bare || folded(&phrase.name) == bare;
            if let Some(found) = self.all.iter().find(is) {
                return Some(found);
            }
            let (first, rest) = bare.split_once(' ')?;
            bare = BEFORE.contains(&first).then_some(rest)?;
        }
    }

    /// The one that stands in a question.
    pub(crate) fn spoken(&self, question: &str) -> Option<&Phrase> {
        let said = format!(" {} ", folded(question));
        self.all.iter().find(|phrase| said.contains(&format!(" {} ", folded(&phrase.pattern))))
    }
}

fn folded(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || "?!,;".contains(c));
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests;
