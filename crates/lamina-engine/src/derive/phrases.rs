//! A tenant's words for stretches of time: where the newest are, and which are in force.

use lamina_store::codec::CodecError;
use lamina_store::codec::control::PhrasesSet;
use lamina_store::entry::{Entry, Place};
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::recall::Phrase;

use crate::derive::fold::section;
use crate::derive::key;
use crate::derive::read::row;

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

/// Notes where the newest phrases of a tenant are.
pub(super) fn set(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let at = key::phrases(entry.head.tenant);
    if section(entry, &entry.what, PhrasesSet::decode)?.is_none() {
        rows.delete(Space::Sources, at);
        return Ok(());
    }
    let mut row = entry.head.offset.to_be_bytes().to_vec();
    row.extend_from_slice(&entry.place.0.to_be_bytes());
    rows.put(Space::Sources, at, row);
    Ok(())
}

/// The words of an entry are erased: if it set the phrases, there are none.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, tenant: u32, offset: u64) -> Result<(), ViewError> {
    let at = key::phrases(tenant);
    let row = rows.get(Space::Sources, &at)?;
    if row.is_some_and(|row| row.starts_with(&offset.to_be_bytes())) {
        rows.delete(Space::Sources, at);
    }
    Ok(())
}

/// Where the phrases of a tenant are.
pub(crate) fn place(views: &Views, tenant: u32) -> Result<Option<(u64, Place)>, ViewError> {
    row(views, Space::Sources, &key::phrases(tenant), |value| {
        let (offset, place) = value.split_first_chunk::<8>().ok_or(CodecError::Truncated)?;
        let place = place.try_into().map_err(|_| CodecError::Truncated)?;
        Ok((u64::from_be_bytes(*offset), Place(u64::from_be_bytes(place))))
    })
}

#[cfg(test)]
mod tests;
