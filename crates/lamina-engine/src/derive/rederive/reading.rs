//! One round of a run: events in the order of the log, the answer that stands for each, and the one that
//! would be given today.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lamina_store::codec::answer::{Answer, AnswerWho};
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::{EventRow, EventScan, ScanKey};

use super::ModelAnswers;
use super::tally::Told;
use crate::Error;
use crate::derive::answer::{Answerer, Draft};
use crate::derive::{key, read};
use crate::engine::Inner;

/// Events of one round; their answers are appended with one sync.
const ROUND_EVENTS: usize = if cfg!(test) { 2 } else { 256 };

/// How events are read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reading {
    /// Their words, once more.
    Again(ModelAnswers),
    /// The answer before that of the run which began here.
    Undo {
        /// The offset of the entry it began with.
        begun: u64,
    },
}

/// What a round came to.
#[derive(Debug)]
pub(super) struct Round {
    /// Answers that take the place of those that stand.
    pub(super) drafts: Vec<Draft>,
    /// Where the next round begins; `None` after the last.
    pub(super) next: Option<ScanKey>,
    pub(super) told: Vec<Told>,
}

/// An answer that stands, or stood.
struct Given {
    entry: Entry,
    answer: Answer,
}

impl Given {
    fn is_of(&self, begun: u64) -> bool {
        self.entry.head.causes.get(1) == Some(&begun)
    }
}

impl Inner {
    /// Looks at the next events of a scope.
    pub(super) fn round(
        &self,
        tenant: u32,
        scope: u64,
        reading: Reading,
        after: Option<ScanKey>,
    ) -> Result<Round, Error> {
        let answerer = self.answerer.as_ref().ok_or(Error::NotBuilt { what: "derivation" })?;
        let page = self.views.event_scan(&EventScan {
            after,
            ..EventScan::recorded(tenant, vec![scope], Direction::Forward, ROUND_EVENTS)
        })?;
        let mut round = Round { drafts: Vec::new(), next: page.next, told: Vec::new() };
        for row in &page.rows {
            let (told, draft) = match reading {
                Reading::Again(models) => self.read_again(answerer, row, models)?,
                Reading::Undo { begun } => self.read_former(row, begun)?,
            };
            round.told.push(told);
            round.drafts.extend(draft);
        }
        Ok(round)
    }

    fn read_again(
        &self,
        answerer: &Answerer,
        row: &EventRow,
        models: ModelAnswers,
    ) -> Result<(Told, Option<Draft>), Error> {
        let offsets = read::answers_to(&self.views, row.tenant, row.offset)?;
        let Some(before) = self.given(row, offsets.last().copied())? else {
            return Ok((Told::Unanswered, None));
        };
        if before.answer.cost.is_some() && models == ModelAnswers::Keep {
            return Ok((Told::OfModel(before.answer), None));
        }
        let entry = self.reader.entry(row.offset, row.place)?;
        // An extractor that stumbles over an event leaves its answer as it is.
        let draft = catch_unwind(AssertUnwindSafe(|| {
            answerer.draft_with(&entry, Some(before.answer.echoes.clone()))
        }));
        let Ok(Some(mut draft)) = draft else { return Ok((Told::Unanswered, None)) };
        // Where an episode ends was decided with the events before it, and stays decided.
        draft.answer.shifts_topic = before.answer.shifts_topic;
        answerer.takes_back(&mut draft);
        self.compared(row, before, draft)
    }

    fn read_former(&self, row: &EventRow, begun: u64) -> Result<(Told, Option<Draft>), Error> {
        let offsets = read::answers_to(&self.views, row.tenant, row.offset)?;
        let Some(standing) = self.given(row, offsets.last().copied())? else {
            return Ok((Told::Unanswered, None));
        };
        if !standing.is_of(begun) {
            let mut earlier = offsets.iter().rev().skip(1);
            let was = earlier.any(|offset| {
                matches!(self.given(row, Some(*offset)), Ok(Some(given)) if given.is_of(begun))
            });
            let told = if was { Told::AnsweredSince } else { Told::Unchanged };
            return Ok((told(standing.answer), None));
        }
        let former = self.given(row, offsets.iter().rev().nth(1).copied())?;
        let Some(former) = former else { return Ok((Told::Unanswered, None)) };
        let who = former.entry.who.live().and_then(|bytes| AnswerWho::decode(bytes).ok());
        let Some(who) = who else { return Ok((Told::Unanswered, None)) };
        let draft = Draft {
            tenant: row.tenant,
            scope: row.scope,
            event: row.offset,
            who,
            answer: former.answer,
            cue: false,
            rule: None,
        };
        self.compared(row, standing, draft)
    }

    /// What is to be said of an event whose answer is this, and would be that.
    fn compared(
        &self,
        row: &EventRow,
        before: Given,
        mut draft: Draft,
    ) -> Result<(Told, Option<Draft>), Error> {
        // Whoever waits for a model goes on waiting, and nobody else begins to.
        let awaits = key::awaits(row.tenant, row.scope, row.offset);
        draft.answer.awaits_model = read::get(&self.views, Space::Sources, &awaits)?.is_some();
        let Given { answer: before, .. } = before;
        if is_same(&before, &draft.answer) {
            return Ok((Told::Unchanged(before), None));
        }
        let after = Box::new(draft.answer.clone());
        let told = Told::Differs { event: row.id, before, after };
        Ok((told, Some(draft)))
    }

    /// An answer to an event; `None` if there is none, or its words are erased.
    fn given(&self, row: &EventRow, offset: Option<u64>) -> Result<Option<Given>, Error> {
        let Some(offset) = offset else { return Ok(None) };
        let Some(answer) = read::answer_row(&self.views, row.tenant, offset)? else {
            return Ok(None);
        };
        let entry = self.reader.entry(offset, answer.place)?;
        let answer = entry.what.live().map(Answer::decode).transpose();
        let answer = answer.map_err(|_| Error::Undecodable { what: "an answer" })?;
        Ok(answer.map(|answer| Given { entry, answer }))
    }
}

/// Whether two answers say the same. By whom, at what cost and whether a model is still to be asked is
/// not what they say, nor is whom a name was guessed to mean by what was known then.
fn is_same(before: &Answer, after: &Answer) -> bool {
    let plain = |answer: &Answer| {
        let mut answer = answer.clone();
        answer.extraction.extractor.clear();
        (answer.cost, answer.awaits_model) = (None, false);
        answer.matches.retain(|matched| matched.stated);
        answer
    };
    plain(before) == plain(after)
}
