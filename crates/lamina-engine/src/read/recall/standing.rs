//! What applies whatever is asked: instructions and preferences of the scope and what is above it.
//!
//! They are no answer, so they stand in a section of their own and count for nothing: not for relevance, not for the
//! order of events. What is among the best answers is not repeated, and of two that say nearly the same, or set the same
//! otherwise, the later one stands. What was taken back, or is known to be over, does not apply.

use std::sync::Arc;

use lamina_core::read::prompt::RecordAuthor;
use lamina_core::read::tokens::estimate;
use lamina_core::write::injected::blank;
use lamina_core::write::standing;
use lamina_store::view::EventRow;
use lamina_types::recall::{PackView, StandingChoice};
use lamina_types::{EventId, FactId, ScopePath, ValidAt};

use super::Recalled;
use super::authority::{Authority, AuthorityReader, StandingOffices};
use super::authors::AuthorReader;
use super::fates::Knowledge;
use super::plan::Frame;
use crate::Error;
use crate::derive;
use crate::derive::revoked::INSTRUCTION;
use crate::engine::Inner;
use crate::read::beliefs::Ground;
use crate::read::facts::FactRecord;

/// Sections of a pack that are shown.
const SHOWN_MAX: usize = 8;
/// Instructions of one scope that are heard, the last first...
const HEARD_MAX: usize = 32;
/// ...and events that are looked at for them, so that those of others push none out.
const LOOKED_AT_MAX: usize = 1_024;
/// Tokens of all of them together...
const TOKENS_MAX: u64 = 400;
/// ...and the share of what a pack may have.
const TOKENS_SHARE: u64 = 5;
/// Events at the top of a pack that are taken to answer, if they have a word of the question.
const ANSWERS: usize = 3;

/// What applies to a question.
#[derive(Debug, Default)]
pub(in crate::read) struct Applying {
    /// What does.
    pub(in crate::read) found: Vec<Applies>,
    /// The tokens it takes.
    pub(super) tokens: u64,
    /// Events that said what applied once and was taken back, or set otherwise.
    pub(super) over: Vec<EventId>,
}

/// Something that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applies {
    /// The event that says it.
    pub id: EventId,
    /// Its scope.
    pub scope: ScopePath,
    /// Who said it, and through which caller.
    pub author: RecordAuthor,
    /// When it was said.
    pub observed_at: ValidAt,
    /// The sentences that say it.
    pub text: String,
}

/// An event that says what applies, or takes it back.
#[derive(Debug)]
struct Instruction {
    observed_at: ValidAt,
    rule: Arc<Rule>,
    /// The filter of the question admits the event. What it ends is over in any case.
    is_admitted: bool,
    author: RecordAuthor,
    authority: Authority,
}

impl Instruction {
    /// Whether it revokes or replaces an earlier one: that is for its author, and for an owner.
    fn ends(&self, earlier: &Instruction) -> bool {
        let may = self.authority == Authority::Owner || self.author.actor == earlier.author.actor;
        may && self.rule.said.ends(&earlier.rule.said)
    }
}

/// Tells whose instructions stand, and who ends them.
struct Judge<'a> {
    authors: AuthorReader<'a>,
    authority: AuthorityReader<'a>,
    knowledge: Knowledge,
}

impl Judge<'_> {
    /// Whether any of these events ends an instruction of an author by right.
    fn may_any_end(
        &mut self,
        scope: &ScopePath,
        author: &RecordAuthor,
        events: &[EventId],
    ) -> Result<bool, Error> {
        for event in events {
            let Some(other) = self.authors.read(*event)? else { continue };
            match self.authority.standing_authority(scope, &other)? {
                Some(Authority::Owner) => return Ok(true),
                Some(Authority::Own) if other.actor == author.actor => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }
}

/// What of a text applies, whatever is asked.
#[derive(Debug)]
pub(crate) struct Rule {
    said: standing::Rule,
    /// Tokens that its sentences take.
    tokens: u64,
}

impl Rule {
    pub(super) fn of(text: &str) -> Rule {
        let said = standing::Rule::of(text);
        Rule { tokens: super::pack::FRAME_TOKENS + estimate(&said.text), said }
    }
}

impl Inner {
    /// What applies to a question.
    pub(in crate::read) fn applying(
        &self,
        frame: &Frame<'_>,
        offices: &StandingOffices,
    ) -> Result<Applying, Error> {
        let question = frame.question;
        let shows =
            matches!(question.view, PackView::Holistic | PackView::Granular | PackView::Descend);
        if !shows || question.query.is_empty() || question.standing == StandingChoice::None {
            return Ok(Applying::default());
        }
        let budget =
            question.tokens_max.map_or(TOKENS_MAX, |max| TOKENS_MAX.min(max / TOKENS_SHARE));
        let up = match question.view {
            PackView::Holistic => question.scope.self_and_ancestors(),
            _ => vec![question.scope.clone()],
        };
        let mut applying = Applying::default();
        let mut later: Vec<Instruction> = Vec::new();
        let mut judge = Judge {
            authors: AuthorReader::new(self, frame),
            authority: AuthorityReader::new(self, frame, offices),
            knowledge: self.knowledge(frame),
        };
        let looked_at = if judge.authority.is_everybodys() { HEARD_MAX } else { LOOKED_AT_MAX };
        for scope in up.iter().filter(|scope| frame.reach.covers(scope)) {
            let Some(ordinal) = self.views.scope_ordinal(frame.tenant, scope)? else { continue };
            let place = (frame.tenant, ordinal);
            let events = derive::standing::of_scope(&self.views, place, frame.recorded, looked_at)?;
            let mut heard = 0;
            for event in events {
                let found = self.applies(frame, scope, event, &mut judge)?;
                let Some(instruction) = found else { continue };
                heard += 1;
                let rule = &instruction.rule;
                let fits = applying.tokens + rule.tokens <= budget;
                if rule.said.text.is_empty() || later.iter().any(|one| one.ends(&instruction)) {
                    applying.over.push(event);
                } else if instruction.is_admitted
                    && fits
                    && !self.is_over(&mut judge, scope, event, &instruction.author)?
                {
                    applying.tokens += rule.tokens;
                    applying.found.push(Applies {
                        id: event,
                        scope: scope.clone(),
                        author: instruction.author.clone(),
                        observed_at: instruction.observed_at,
                        text: rule.said.text.clone(),
                    });
                }
                later.push(instruction);
                if applying.found.len() == SHOWN_MAX {
                    return Ok(applying);
                }
                if heard == HEARD_MAX {
                    break;
                }
            }
        }
        Ok(applying)
    }

    /// Whether something is known because of an instruction, none of it is so any more, and somebody ended it who may.
    fn is_over(
        &self,
        judge: &mut Judge<'_>,
        scope: &ScopePath,
        event: EventId,
        author: &RecordAuthor,
    ) -> Result<bool, Error> {
        let fates = self.fates(&judge.knowledge, event)?;
        if fates.is_empty() || fates.iter().any(|fate| fate.stands) {
            return Ok(false);
        }
        for fate in &fates {
            if !fate.by.is_empty() && !judge.may_any_end(scope, author, &fate.by)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What an event of a scope says that applies, if the question knows of it and its author may say so.
    fn applies(
        &self,
        frame: &Frame<'_>,
        scope: &ScopePath,
        id: EventId,
        judge: &mut Judge<'_>,
    ) -> Result<Option<Instruction>, Error> {
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
        let read = frame.readable(&row, self.rule(frame, &row))?;
        let Some((rule, is_admitted)) = read else { return Ok(None) };
        let says = !rule.said.text.is_empty() || rule.said.revokes();
        if !says || !frame.reach.covers(scope) {
            return Ok(None);
        }
        let Some(author) = judge.authors.read(id)? else { return Ok(None) };
        let authority = judge.authority.standing_authority(scope, &author)?;
        let stands = |authority| Instruction { observed_at, rule, is_admitted, author, authority };
        Ok(authority.map(stands))
    }

    /// What of an event applies, from before if it was read and nothing else of it is asked for; and whether the filter
    /// admits the event.
    fn rule(&self, frame: &Frame<'_>, row: &EventRow) -> Result<(Arc<Rule>, bool), Error> {
        let asked = match self.shared.texts.rule(row.offset) {
            Ok(rule) if frame.question.filter.is_open() => return Ok((rule, true)),
            Ok(rule) => return Ok((rule, frame.admits(&self.record(row)?))),
            Err(asked) => asked,
        };
        let event = self.record(row)?;
        let rule = Arc::new(Rule::of(&blank(event.experience.content.text())));
        self.shared.texts.put_rule(row.offset, asked, &rule);
        Ok((rule, frame.admits(&event)))
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

/// Leaves out what is only known, or believed, because of an instruction that applies no more.
pub(super) fn but_over(recalled: &mut Recalled, over: &[EventId]) {
    if over.is_empty() || recalled.plan.wants_history() {
        return;
    }
    let is_over = |fact: &FactRecord| {
        fact.predicate == INSTRUCTION && fact.supports.iter().all(|event| over.contains(event))
    };
    let facts = recalled.facts.iter().filter(|fact| is_over(&fact.record));
    let gone: Vec<FactId> = facts.map(|fact| fact.record.id).collect();
    recalled.facts.retain(|fact| !gone.contains(&fact.record.id));
    for belief in recalled.beliefs.iter().filter(|one| one.record.predicate == INSTRUCTION) {
        let is_gone = |ground: &Ground| match ground {
            Ground::Fact(fact) => gone.contains(fact),
            Ground::Event(event) => over.contains(event),
        };
        if belief.record.supports.iter().all(|support| is_gone(&support.id)) {
            recalled.refuted.insert(belief.record.id);
        }
    }
    for fact in gone {
        recalled.citations.remove(&fact.to_string());
    }
}
