//! What applies whatever is asked: instructions and preferences of the scope and what is above it.
//!
//! They are no answer, so they stand in a section of their own and count for nothing: not for relevance, not for the
//! order of events. What is among the best answers is not repeated, and of two that say nearly the same the later one
//! stands.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_core::read::tokens::estimate;
use lamina_core::read::words::{is_empty_word, stem, words};
use lamina_core::write::standing;
use lamina_store::view::EventRow;
use lamina_types::recall::PackView;
use lamina_types::{EventId, ScopePath, ValidAt};

use super::{Frame, Recalled};
use crate::Error;
use crate::derive;
use crate::engine::Inner;

/// Sections of a pack that are shown.
const SHOWN_MAX: usize = 8;
/// Events of one scope that are looked at, the last first.
const LOOKED_AT_MAX: usize = 32;
/// Tokens of all of them together...
const TOKENS_MAX: u64 = 400;
/// ...and the share of what a pack may have.
const TOKENS_SHARE: u64 = 5;
/// Events at the top of a pack that are taken to answer, if they have a word of the question.
const ANSWERS: usize = 3;
/// Words that two have in common if one stands for the other.
const SAME_SHARE: f64 = 0.6;

/// Something that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applies {
    /// The event that says it.
    pub id: EventId,
    /// Its scope.
    pub scope: ScopePath,
    /// When it was said.
    pub observed_at: ValidAt,
    /// The sentences that say it.
    pub text: String,
}

/// What of a text applies, whatever is asked.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The sentences that say it; nothing if none does.
    text: String,
    /// What they speak of.
    matter: BTreeSet<String>,
    /// Tokens that they take.
    tokens: u64,
}

impl Rule {
    pub(super) fn of(text: &str) -> Rule {
        let text = standing::standing(text).join(" ");
        Rule { matter: matter(&text), tokens: super::pack::FRAME_TOKENS + estimate(&text), text }
    }
}

impl Inner {
    /// What applies to a question; with the tokens it takes.
    pub(super) fn applying(&self, frame: &Frame<'_>) -> Result<(Vec<Applies>, u64), Error> {
        let question = frame.question;
        let shows =
            matches!(question.view, PackView::Holistic | PackView::Granular | PackView::Descend);
        if !shows || question.query.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let budget =
            question.tokens_max.map_or(TOKENS_MAX, |max| TOKENS_MAX.min(max / TOKENS_SHARE));
        let up = match question.view {
            PackView::Holistic => question.scope.self_and_ancestors(),
            _ => vec![question.scope.clone()],
        };
        let (mut found, mut said, mut tokens): (Vec<Applies>, Vec<Arc<Rule>>, u64) =
            (Vec::new(), Vec::new(), 0);
        for scope in up.iter().filter(|scope| frame.reach.covers(scope)) {
            let Some(ordinal) = self.views.scope_ordinal(frame.tenant, scope)? else { continue };
            let place = (frame.tenant, ordinal);
            let events =
                derive::standing::of_scope(&self.views, place, frame.recorded, LOOKED_AT_MAX)?;
            for event in events {
                let Some((observed_at, rule)) = self.applies(frame, scope, event)? else {
                    continue;
                };
                let is_said = said.iter().any(|later| is_same(&rule.matter, &later.matter));
                if is_said || tokens + rule.tokens > budget {
                    continue;
                }
                tokens += rule.tokens;
                let (scope, text) = (scope.clone(), rule.text.clone());
                found.push(Applies { id: event, scope, observed_at, text });
                said.push(rule);
                if found.len() == SHOWN_MAX {
                    return Ok((found, tokens));
                }
            }
        }
        Ok((found, tokens))
    }

    /// What an event of a scope says that applies, and when it was said, if it may be shown.
    fn applies(
        &self,
        frame: &Frame<'_>,
        scope: &ScopePath,
        id: EventId,
    ) -> Result<Option<(ValidAt, Arc<Rule>)>, Error> {
        let row = self.views.event_again(frame.tenant, id)?.filter(|row| !self.is_hidden(row));
        let Some(row) = row else { return Ok(None) };
        let Some(observed_at) = row.listed().map(|facets| facets.observed_at) else {
            return Ok(None);
        };
        // What was said before a time goes on in it.
        let begun = frame.window.and_then(|window| window.to).is_none_or(|to| observed_at < to);
        let during = frame.question.temporal.recorded_during;
        let known = during.is_none_or(|(from, to)| from <= row.recorded_at && row.recorded_at < to);
        if !begun || !known || row.recorded_at > frame.recorded {
            return Ok(None);
        }
        let rule = match self.rule(frame, &row) {
            Ok(rule) => rule.filter(|rule| !rule.text.is_empty()),
            Err(Error::Deleted) => None,
            Err(error) => return Err(error),
        };
        Ok(rule.filter(|_| frame.reach.covers(scope)).map(|rule| (observed_at, rule)))
    }

    /// What of an event applies, from before if it was read and nothing else of it is asked for; `None` if
    /// the question does not admit it.
    fn rule(&self, frame: &Frame<'_>, row: &EventRow) -> Result<Option<Arc<Rule>>, Error> {
        let asked = match self.shared.texts.rule(row.offset) {
            Ok(rule) if frame.question.filter.is_open() => {
                return Ok(Some(rule));
            }
            Ok(rule) => {
                let event = self.record(row)?;
                return Ok(frame.admits(&event).then_some(rule));
            }
            Err(asked) => asked,
        };
        let event = self.record(row)?;
        let rule = Arc::new(Rule::of(event.experience.content.text()));
        self.shared.texts.put_rule(row.offset, asked, &rule);
        Ok(frame.admits(&event).then_some(rule))
    }
}

/// Leaves out what is among the best answers. What only stands beside them is none.
pub(super) fn but_answers(recalled: &mut Recalled) {
    let found = |id: &EventId| {
        let mut considered = recalled.considered.iter();
        considered.any(|one| one.id == *id && one.lexical.is_some())
    };
    let best = recalled.events.iter().take(ANSWERS).map(|event| event.record.id);
    let answers: Vec<EventId> = best.filter(found).collect();
    recalled.standing.retain(|one| !answers.contains(&one.id));
}

fn matter(text: &str) -> BTreeSet<String> {
    words(text).iter().filter(|word| !is_empty_word(word)).map(|word| stem(word)).collect()
}

/// Whether a later one says what an earlier one says.
fn is_same(earlier: &BTreeSet<String>, later: &BTreeSet<String>) -> bool {
    let both = earlier.intersection(later).count() as f64;
    both >= SAME_SHARE * earlier.len().max(later.len()) as f64
}

#[cfg(test)]
mod tests;
