//! Instructions that an event takes back, or sets otherwise: found in the words before its answer is appended, and named
//! in it. The fold ends what is named and reads no words.
//!
//! Earlier instructions of the scope are read from the answers that found them. What was said so recently that the
//! views do not have it yet is remembered here.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use lamina_core::write::standing::Rule;
use lamina_store::codec::answer::{Answer, Revoked};
use lamina_store::log::LogReader;
use lamina_store::view::{ViewError, Views};
use lamina_types::ValidAt;
use lamina_types::layer::{Effect, Object};

use crate::derive::answer::Draft;
use crate::derive::read::{answer_row, answers_to};
use crate::derive::standing::before;
use crate::derive::words::value_outside;

/// What an instruction is found under.
pub(crate) const INSTRUCTION: &str = "instruction";
/// Events of a scope that are looked at, the last first.
const LOOKED_AT_MAX: usize = 32;
/// Instructions that are remembered because the views may not have them yet.
const RECENT_MAX: usize = 256;

/// Knows which instructions were given.
#[derive(Debug)]
pub(crate) struct Instructions {
    views: Arc<Views>,
    reader: Arc<dyn LogReader>,
    recent: Mutex<VecDeque<Given>>,
}

/// An instruction that was given.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Given {
    tenant: u32,
    scope: u64,
    /// The offset of the event.
    event: u64,
    observed: ValidAt,
    said: Object,
}

impl Instructions {
    /// Over these views.
    pub(crate) fn new(views: Arc<Views>, reader: Arc<dyn LogReader>) -> Instructions {
        Instructions { views, reader, recent: Mutex::default() }
    }

    /// Decides which instructions an answer ends. Without the views it ends none.
    pub(crate) fn decide(&self, draft: &mut Draft) {
        let ends = |rule: &&Rule| rule.can_end() && !draft.answer.asked.no_supersede;
        if let Some(rule) = draft.rule.as_ref().filter(ends) {
            match self.revoked(draft, rule) {
                Ok(revoked) => draft.answer.revoked = revoked,
                Err(error) => {
                    tracing::warn!(%error, "earlier instructions cannot be read; none is ended");
                }
            }
        }
        self.remember(draft);
    }

    fn revoked(&self, draft: &Draft, rule: &Rule) -> Result<Vec<Revoked>, ViewError> {
        let mut revoked: Vec<Revoked> = Vec::new();
        let is_before =
            |given: &Given| given.event < draft.event && given.observed <= draft.answer.observed_at;
        for given in self.earlier(draft)?.into_iter().filter(is_before) {
            let Object::Text(text) = &given.said else { continue };
            if !rule.overrules(&Rule::said(text)) {
                continue;
            }
            let value = value_outside(&self.views, draft.tenant, &given.said)?;
            let event = self.views.event_at(given.event)?;
            if let (Some(value), Some((_, event))) = (value, event) {
                revoked.push(Revoked { event, value });
            }
        }
        revoked.sort_unstable();
        revoked.dedup();
        Ok(revoked)
    }

    /// The instructions that were given in the scope of an answer.
    fn earlier(&self, draft: &Draft) -> Result<Vec<Given>, ViewError> {
        let (tenant, scope) = (draft.tenant, draft.scope);
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let here = recent.iter().filter(|given| (given.tenant, given.scope) == (tenant, scope));
        let mut earlier: Vec<Given> = here.cloned().collect();
        drop(recent);
        for event in before(&self.views, (tenant, scope), draft.event, LOOKED_AT_MAX)? {
            let Some(row) = self.views.event(tenant, event)? else { continue };
            let Some(last) = answers_to(&self.views, tenant, row.offset)?.pop() else { continue };
            let Some(answered) = answer_row(&self.views, tenant, last)? else { continue };
            // Words that are just being erased are no instruction any more.
            let Ok(entry) = self.reader.entry(last, answered.place) else { continue };
            let answer = entry.what.live().and_then(|bytes| Answer::decode(bytes).ok());
            earlier.extend(answer.iter().flat_map(|answer| {
                let observed = answer.observed_at;
                let told = instructions(answer);
                told.map(move |said| Given { tenant, scope, event: row.offset, observed, said })
            }));
        }
        Ok(earlier)
    }

    fn remember(&self, draft: &Draft) {
        let &Draft { tenant, scope, event, ref answer, .. } = draft;
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        for said in instructions(answer) {
            if recent.len() == RECENT_MAX {
                recent.pop_front();
            }
            recent.push_back(Given { tenant, scope, event, observed: answer.observed_at, said });
        }
    }
}

/// What an answer says is to be done.
fn instructions(answer: &Answer) -> impl Iterator<Item = Object> + '_ {
    let claims = answer.extraction.claims.iter().zip(0_u16..);
    let told = claims.filter(|(claim, at)| {
        // A vocabulary may have another name for it.
        let mapped = answer.mapped.iter().find(|mapped| mapped.claim == *at);
        let predicate = mapped.map_or(&claim.predicate, |mapped| &mapped.predicate);
        let holds = matches!(claim.effect, Effect::Holds | Effect::Corrects);
        predicate == INSTRUCTION && holds && answer.is_believed(*at)
    });
    told.map(|(claim, _)| claim.object.clone())
}
