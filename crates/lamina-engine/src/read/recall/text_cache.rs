//! Texts that were looked at: what a question asks of a text is found out once, not once for every question.
//!
//! A text is kept as the numbers of its words, and what it is like: who speaks, whether it asks, names a
//! time, gives a rule. Answers of the extractor are kept as they were read. All of it is made from the log
//! and never changes; when anything is erased all of it is forgotten, so that no word outlives what it was
//! taken from. Where whole scopes are hidden before their words go, only what is kept of those entries is forgotten with
//! them, and words that nothing else has when the erasure is through: questions elsewhere need not begin anew.

use std::sync::Arc;

use lamina_core::read::rerank::{Manner, asks, manner, telling};
use lamina_core::read::tokens::estimate;
use lamina_index::Lexicon;
use lamina_store::codec::answer::Answer;
use lamina_store::view::Tag;
use lamina_types::stdx::quick::Map;
use lamina_types::{ActorId, Content, EventRecord, ScopePath};
use parking_lot::Mutex;

use super::standing::Rule;
use crate::index::document::{parts, readable, speaker};

/// Parts of one text that are looked at.
const PARTS_MAX: usize = 8;
/// Bytes of texts that are kept in each of two generations, roughly.
const TEXTS_BYTES_MAX: usize = 32 * 1_024 * 1_024;
/// Answers that are kept in each of two generations: about a kilobyte each.
const ANSWERS_MAX: usize = 6_000;

/// Texts that say how things are to be done that are kept in each of two generations: some hundred bytes each.
const RULES_MAX: usize = 4_096;

/// Paths of scopes that are kept.
const PATHS_MAX: usize = 20_000;

/// What a text is like.
#[derive(Debug, Clone)]
pub(crate) struct Digest {
    pub(super) parts: Vec<Words>,
    pub(super) speaker: String,
    pub(super) role: &'static str,
    /// It ends by asking.
    pub(super) asks: bool,
    /// It names a time.
    pub(super) dates: bool,
    /// It says how things are to be done.
    pub(super) instructs: bool,
    /// It says that something changed.
    pub(super) changes: bool,
    /// It has one part.
    pub(super) is_short: bool,
    /// Tokens that it takes in a pack.
    pub(super) tokens: u64,
}

/// The words of a part of a text.
#[derive(Debug, Clone)]
pub(super) struct Words {
    /// Numbers in a lexicon, ascending.
    pub(super) numbers: Box<[u32]>,
    /// How many carry something.
    pub(super) length: usize,
}

impl Digest {
    pub(super) fn of(event: &EventRecord, lexicon: &Lexicon) -> Digest {
        let content = &event.experience.content;
        let readable = readable(content);
        let parts = parts(&readable);
        let words = |part: &str| {
            let mut words = String::with_capacity(part.len());
            let length = telling(part, &mut |word| {
                words.push_str(word);
                words.push('\n');
            });
            Words { numbers: lexicon.numbers(words.split_terminator('\n')), length }
        };
        let text = content.text();
        let Manner { instructs, changes, dates } = manner(text);
        Digest {
            is_short: parts.len() == 1,
            parts: parts.into_iter().take(PARTS_MAX).map(words).collect(),
            speaker: speaker(event.experience.observed_actor.id.as_str()),
            role: match content {
                Content::Message { role, .. } => role.as_str(),
                _ => "user",
            },
            asks: asks(text),
            tokens: estimate(text),
            dates,
            instructs,
            changes,
        }
    }

    fn bytes(&self) -> usize {
        let words = self.parts.iter().map(|part| 4 * part.numbers.len() + size_of::<Words>());
        words.sum::<usize>() + self.speaker.len() + size_of::<Digest>() + 64
    }
}

/// What an answer gives names: the keyed hash of each, in order, and which it is of those that are named.
pub(crate) type Named = Box<[(Tag, usize)]>;

/// An answer with who spoke.
pub(crate) type Answered = (Answer, Option<ActorId>);

/// Texts and answers that were read lately, by the offsets of their entries.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    lexicon: Arc<Lexicon>,
    recent: Map<u64, Arc<Digest>>,
    older: Map<u64, Arc<Digest>>,
    /// Of the recent ones.
    bytes: usize,
    answers: Map<u64, Arc<Answered>>,
    older_answers: Map<u64, Arc<Answered>>,
    /// What answers give names, by the offsets of these.
    named: Map<u64, Arc<Named>>,
    older_named: Map<u64, Arc<Named>>,
    /// What of texts applies, whatever is asked.
    rules: Map<u64, Arc<Rule>>,
    older_rules: Map<u64, Arc<Rule>>,
    /// Scopes by tenant and ordinal: an ordinal never means another path.
    paths: Map<(u32, u64), ScopePath>,
    /// Grows when anything is erased: what was read before that is not kept after it.
    erased: u64,
}

/// One question's look at texts: the lexicon that their words are numbered by.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) lexicon: Arc<Lexicon>,
    erased: u64,
}

impl Texts {
    pub(super) fn look(&self) -> Look {
        let mut kept = self.kept.lock();
        if kept.lexicon.is_full() {
            kept.lexicon = Arc::default();
            (kept.recent, kept.older, kept.bytes) = (Map::default(), Map::default(), 0);
        }
        Look { lexicon: Arc::clone(&kept.lexicon), erased: kept.erased }
    }

    /// A text that was looked at before.
    pub(super) fn get(&self, look: &Look, offset: u64) -> Option<Arc<Digest>> {
        let mut kept = self.kept.lock();
        if !Arc::ptr_eq(&kept.lexicon, &look.lexicon) {
            return None;
        }
        if let Some(found) = kept.recent.get(&offset) {
            return Some(Arc::clone(found));
        }
        let found = kept.older.remove(&offset)?;
        kept.put(offset, &found);
        Some(found)
    }

    /// Keeps a text, unless something was erased since it was read.
    pub(super) fn put(&self, look: &Look, offset: u64, digest: &Arc<Digest>) {
        let mut kept = self.kept.lock();
        if kept.erased == look.erased && Arc::ptr_eq(&kept.lexicon, &look.lexicon) {
            kept.put(offset, digest);
        }
    }

    /// An answer that was read before; otherwise, when it is asked.
    pub(crate) fn answer(&self, offset: u64) -> Result<Arc<Answered>, u64> {
        let mut kept = self.kept.lock();
        if let Some(found) = kept.answers.get(&offset) {
            return Ok(Arc::clone(found));
        }
        let found = kept.older_answers.remove(&offset).ok_or(kept.erased)?;
        kept.put_answer(offset, &found);
        Ok(found)
    }

    /// Keeps an answer, unless something was erased since it was asked for.
    pub(crate) fn put_answer(&self, offset: u64, asked: u64, said: &Arc<Answered>) {
        let mut kept = self.kept.lock();
        if kept.erased == asked {
            kept.put_answer(offset, said);
        }
    }

    /// What an answer gives names, if it was read before; otherwise, when it is asked.
    pub(crate) fn named(&self, offset: u64) -> Result<Arc<Named>, u64> {
        let mut kept = self.kept.lock();
        if let Some(found) = kept.named.get(&offset) {
            return Ok(Arc::clone(found));
        }
        let found = kept.older_named.remove(&offset).ok_or(kept.erased)?;
        kept.put_named(offset, &found);
        Ok(found)
    }

    /// Keeps what an answer gives names, unless something was erased since it was asked for.
    pub(crate) fn put_named(&self, offset: u64, asked: u64, named: &Arc<Named>) {
        let mut kept = self.kept.lock();
        if kept.erased == asked {
            kept.put_named(offset, named);
        }
    }

    /// What applies of a text that was read before; otherwise, when it is asked.
    pub(super) fn rule(&self, offset: u64) -> Result<Arc<Rule>, u64> {
        let mut kept = self.kept.lock();
        if let Some(found) = kept.rules.get(&offset) {
            return Ok(Arc::clone(found));
        }
        let found = kept.older_rules.remove(&offset).ok_or(kept.erased)?;
        kept.put_rule(offset, &found);
        Ok(found)
    }

    /// Keeps what applies of a text, unless something was erased since it was asked for.
    pub(super) fn put_rule(&self, offset: u64, asked: u64, rule: &Arc<Rule>) {
        let mut kept = self.kept.lock();
        if kept.erased == asked {
            kept.put_rule(offset, rule);
        }
    }

    /// The path of a scope that was read before; otherwise, when it is asked.
    pub(crate) fn path(&self, tenant: u32, ordinal: u64) -> Result<ScopePath, u64> {
        let kept = self.kept.lock();
        kept.paths.get(&(tenant, ordinal)).cloned().ok_or(kept.erased)
    }

    /// Keeps a path, unless something was erased since it was asked for.
    pub(crate) fn put_path(&self, tenant: u32, ordinal: u64, asked: u64, path: &ScopePath) {
        let mut kept = self.kept.lock();
        if kept.paths.len() >= PATHS_MAX {
            kept.paths.clear();
        }
        if kept.erased == asked {
            kept.paths.insert((tenant, ordinal), path.clone());
        }
    }

    /// Forgets everything: it may have been erased.
    pub(crate) fn forget(&self) {
        let mut kept = self.kept.lock();
        *kept = Kept { erased: kept.erased + 1, ..Kept::default() };
    }

    /// Forgets what is kept of these entries.
    pub(crate) fn forget_some(&self, offsets: &[u64]) {
        let mut kept = self.kept.lock();
        kept.erased += 1;
        for offset in offsets {
            kept.remove(*offset);
        }
    }

    /// Forgets the paths of scopes, and all words that no text has which is kept.
    pub(crate) fn renew(&self) {
        let (lexicon, erased, generations) = {
            let mut kept = self.kept.lock();
            kept.paths.clear();
            kept.erased += 1;
            let generations = [&kept.recent, &kept.older].map(Map::clone);
            (Arc::clone(&kept.lexicon), kept.erased, generations)
        };
        let texts = generations.iter().flat_map(Map::values);
        let parts = texts.flat_map(|text| &text.parts);
        let (fresh, numbers) = lexicon.only(parts.flat_map(|part| part.numbers.iter().copied()));
        let [recent, older] = generations.map(|texts| renumbered(texts, &numbers));
        let mut kept = self.kept.lock();
        if kept.erased == erased && Arc::ptr_eq(&kept.lexicon, &lexicon) {
            // What was put meanwhile is read again.
            let bytes = recent.values().map(|text| text.bytes()).sum();
            kept.lexicon = Arc::new(fresh);
            (kept.recent, kept.older, kept.bytes) = (recent, older, bytes);
        } else {
            // Something else was erased: nothing is left of what there was.
            let erased = kept.erased + 1;
            *kept = Kept { erased, ..Kept::default() };
        }
    }
}

/// The same texts with other numbers for their words.
fn renumbered(texts: Map<u64, Arc<Digest>>, numbers: &[u32]) -> Map<u64, Arc<Digest>> {
    let of = |number: &u32| numbers.get(*number as usize).copied();
    let again = |part: &Words| Words {
        numbers: part.numbers.iter().filter_map(of).collect(),
        length: part.length,
    };
    let text = |(offset, text): (u64, Arc<Digest>)| {
        let parts = text.parts.iter().map(again).collect();
        (offset, Arc::new(Digest { parts, ..Digest::clone(&text) }))
    };
    texts.into_iter().map(text).collect()
}

impl Kept {
    fn remove(&mut self, offset: u64) {
        if let Some(text) = self.recent.remove(&offset) {
            self.bytes = self.bytes.saturating_sub(text.bytes());
        }
        self.older.remove(&offset);
        for answers in [&mut self.answers, &mut self.older_answers] {
            answers.remove(&offset);
        }
        for named in [&mut self.named, &mut self.older_named] {
            named.remove(&offset);
        }
        for rules in [&mut self.rules, &mut self.older_rules] {
            rules.remove(&offset);
        }
    }

    fn put(&mut self, offset: u64, digest: &Arc<Digest>) {
        if self.bytes + digest.bytes() > TEXTS_BYTES_MAX {
            (self.older, self.bytes) = (std::mem::take(&mut self.recent), 0);
        }
        if self.recent.insert(offset, Arc::clone(digest)).is_none() {
            self.bytes += digest.bytes();
        }
    }

    fn put_answer(&mut self, offset: u64, said: &Arc<Answered>) {
        if self.answers.len() >= ANSWERS_MAX {
            self.older_answers = std::mem::take(&mut self.answers);
        }
        self.answers.insert(offset, Arc::clone(said));
    }

    fn put_named(&mut self, offset: u64, named: &Arc<Named>) {
        if self.named.len() >= ANSWERS_MAX {
            self.older_named = std::mem::take(&mut self.named);
        }
        self.named.insert(offset, Arc::clone(named));
    }

    fn put_rule(&mut self, offset: u64, rule: &Arc<Rule>) {
        if self.rules.len() >= RULES_MAX {
            self.older_rules = std::mem::take(&mut self.rules);
        }
        self.rules.insert(offset, Arc::clone(rule));
    }
}

#[cfg(test)]
mod tests;
