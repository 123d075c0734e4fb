//! Gathers a checkout: what is known about a question, what applies, and what is open, with the event that says each.
//!
//! Facts come from recall, so they are found, pinned in time and kept from readers without leave exactly as
//! `/v1/recall` does it. What is over, disputed or only an echo is told apart here; how much of it is shown, and
//! whether it answers, is decided by `lamina-core/read/checkout`.

mod facts;
mod work;

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_core::read::checkout::statement::{Spoken, quote};
use lamina_core::read::checkout::work::WorkingSet;
use lamina_core::read::checkout::{EvidenceLine, Gathered, ITEM_CHARS_MAX, StandingLine, line};
use lamina_core::read::plan::plan;
use lamina_core::read::prompt::RecordAuthor;
use lamina_core::read::tuning::Tuning;
use lamina_store::view::remembering;
use lamina_types::recall::{
    CitationMode, Detail, Filter, Layer, PackView, Recall, StandingChoice, Temporal,
};
use lamina_types::{EventId, EventRecord, RecordedAt, ScopePath, ValidAt};

use crate::derive::echo::Shows;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::recall::plan::{Frame, SILENT};
use crate::read::recall::{Applies, INDEX_WAIT_MAX, MayRecall, Recalled};
use crate::{Engine, Error};

/// Events that recall looks at for a checkout.
const EVENTS_MAX: usize = 16;
/// Facts that recall looks at for a checkout.
const FACTS_MAX: usize = 20;
/// Recent events that can be asked for.
pub const RECENT_MAX: usize = 20;

/// A question for a checkout.
#[derive(Debug, Clone)]
pub struct CheckoutQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far it reaches: up, down, or only the scope.
    pub view: PackView,
    /// The question.
    pub query: String,
    /// The instant whose memory is asked; `None` is now.
    pub as_of: Option<RecordedAt>,
    /// Whose instructions apply.
    pub standing: StandingChoice,
    /// Facts at most.
    pub facts_max: usize,
    /// Recent events at most.
    pub recent_max: usize,
}

impl CheckoutQuery {
    /// The recall of a checkout. At an instant of the past the world is asked at that instant too, and words such as
    /// `yesterday` mean the day before it.
    pub fn recall(&self) -> Recall {
        let mut limits = [Some(0); 5];
        for (layer, most) in [(Layer::Events, EVENTS_MAX), (Layer::Facts, FACTS_MAX)] {
            if let Some(limit) = limits.get_mut(layer as usize) {
                *limit = Some(most);
            }
        }
        Recall {
            scope: self.scope.clone(),
            view: self.view,
            query: self.query.clone(),
            variants: Vec::new(),
            language: None,
            include: vec![Layer::Events, Layer::Facts],
            exclude_content: false,
            temporal: Temporal {
                as_of_recorded: self.as_of,
                as_of_valid: self.as_of.map(|at| ValidAt(at.0)),
                reference: self.as_of.map(|at| at.0),
                ..Temporal::default()
            },
            filter: Filter::default(),
            standing: self.standing,
            tokens_max: None,
            layer_limits: limits,
            citation_mode: CitationMode::None,
            detail: Detail::None,
            stream: false,
            idempotency_key: None,
            floor: None,
            selection: None,
        }
    }
}

/// What a checkout takes: leave to recall, and to read instructions in scopes that the question does not reach.
#[derive(Debug)]
pub struct MayCheckout {
    /// Leave to recall.
    pub recall: MayRecall,
    /// Further scopes whose instructions apply, the nearest first: the session of a project, the person.
    pub beside: Vec<StandingReach>,
}

/// Leave to read the instructions of a scope.
#[derive(Debug)]
pub struct StandingReach {
    /// The scope.
    pub scope: ScopePath,
    /// Leave to read it.
    pub reach: Arc<ReadPermit>,
}

impl Engine {
    /// What a checkout can show about a question.
    pub async fn checkout(
        &self,
        may: MayCheckout,
        query: CheckoutQuery,
    ) -> Result<Gathered, Error> {
        let answered = self.inner.caught_up().await;
        if let Some(search) = &self.inner.search {
            search.reached(answered, INDEX_WAIT_MAX).await;
        }
        self.blocking(move |inner| remembering(|| inner.checkout(&may, &query, answered))).await
    }
}

/// What all parts of a checkout read with.
struct Reading<'a> {
    inner: &'a Inner,
    frame: &'a Frame<'a>,
    query: &'a CheckoutQuery,
    /// The instant whose facts are current.
    at: ValidAt,
    /// Events whose words are read.
    shown: BTreeSet<EventId>,
}

impl Inner {
    fn checkout(
        &self,
        may: &MayCheckout,
        query: &CheckoutQuery,
        answered: u64,
    ) -> Result<Gathered, Error> {
        let question = query.recall();
        let recalled = self.recall(&may.recall, &question, answered, &Tuning::USUAL)?;
        let frame = self.frame(&may.recall, &question, plan(&question.query), answered)?;
        let at = query.as_of.map_or(ValidAt(frame.now), |at| ValidAt(at.0));
        let mut reading = Reading { inner: self, frame: &frame, query, at, shown: BTreeSet::new() };
        let work = reading.working_set()?;
        let standing = self.instructions(may, query, &recalled, answered)?;
        let told: Vec<&str> = standing.iter().map(|one| one.text.as_str()).collect();
        let found = reading.current_facts(&recalled, &work, &told)?;
        let recent = reading.recent_events()?;
        let standing = reading.standing_lines(standing)?;
        self.note_shown(&reading);
        Ok(Gathered {
            scope: query.scope.to_string(),
            query: query.query.clone(),
            known_at: recalled.recorded.0,
            facts: found.facts,
            evidence: found.evidence,
            standing,
            work: work.items,
            conflicts: found.conflicts,
            recent,
            superseded: found.superseded,
            redacted: found.redacted,
            relevance: recalled.relevance,
            why_not: recalled.why_not,
            is_partial: !recalled.failed.is_empty() || recalled.unindexed,
        })
    }

    /// The instructions that apply: those of the recall, then those of the scopes beside it, each once.
    fn instructions(
        &self,
        may: &MayCheckout,
        query: &CheckoutQuery,
        recalled: &Recalled,
        answered: u64,
    ) -> Result<Vec<Applies>, Error> {
        let mut all = recalled.standing.clone();
        for beside in &may.beside {
            let here = CheckoutQuery {
                scope: beside.scope.clone(),
                view: PackView::Granular,
                ..query.clone()
            };
            let question = here.recall();
            let may = MayRecall {
                reach: Arc::clone(&beside.reach),
                concepts: None,
                standing: may.recall.standing.clone(),
            };
            let frame = self.frame(&may, &question, recalled.plan, answered)?;
            all.extend(self.applying(&frame, &may.standing)?.found);
        }
        let mut seen = BTreeSet::new();
        all.retain(|one| seen.insert(one.id));
        Ok(all)
    }

    /// Remembers what is shown, so that it is recognised when it is written back.
    fn note_shown(&self, reading: &Reading<'_>) {
        let frame = reading.frame;
        let shows = Shows {
            tenant: frame.tenant,
            scope: &reading.query.scope,
            caller: &frame.reach.caller().actor,
            at: frame.now,
        };
        self.shared.served.note(&shows, reading.shown.iter().copied());
    }
}

impl Reading<'_> {
    /// An event that may be shown now; `None` if it is gone, or not known at the instant.
    fn event(&mut self, id: EventId) -> Result<Option<EventRecord>, Error> {
        let row = self.inner.views.event_again(self.frame.tenant, id)?;
        let Some(row) = row.filter(|row| !self.inner.is_hidden(row) && !row.is_excluded()) else {
            return Ok(None);
        };
        if row.recorded_at > self.frame.recorded {
            return Ok(None);
        }
        self.record(&row)
    }

    fn record(&mut self, row: &lamina_store::view::EventRow) -> Result<Option<EventRecord>, Error> {
        match self.inner.record(row) {
            Ok(event) if self.frame.reach.covers(&event.experience.scope) => {
                self.shown.insert(event.id);
                Ok(Some(event))
            }
            Ok(_) | Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn standing_lines(&mut self, standing: Vec<Applies>) -> Result<Vec<StandingLine>, Error> {
        let mut lines = Vec::with_capacity(standing.len());
        for one in standing {
            let row = self.inner.views.event_again(self.frame.tenant, one.id)?;
            let record = row.map(|row| self.inner.record(&row)).transpose();
            let citation = match record {
                Ok(event) => event.map(|event| cite(&event)),
                Err(Error::Deleted) => None,
                Err(error) => return Err(error),
            };
            self.shown.insert(one.id);
            lines.push(StandingLine {
                text: line(&one.text, ITEM_CHARS_MAX),
                at: one.observed_at.0,
                author: one.author.to_string(),
                citation,
            });
        }
        Ok(lines)
    }

    /// The latest events, each with its first words.
    fn recent_events(&mut self) -> Result<Vec<EvidenceLine>, Error> {
        let most = self.query.recent_max.min(RECENT_MAX);
        if most == 0 {
            return Ok(Vec::new());
        }
        let mut recent = Vec::new();
        for row in self.inner.rows_in(self.frame, 4 * most)? {
            if recent.len() == most {
                break;
            }
            if self.inner.is_hidden(&row) {
                continue;
            }
            let Some(event) = self.record(&row)? else { continue };
            let words = told_words(&event, "");
            if !words.is_empty() {
                recent.push(evidence_line(&event, words));
            }
        }
        Ok(recent)
    }
}

/// The public citation of an event, with the short seal.
fn cite(event: &EventRecord) -> String {
    event.citation().shortened().to_string()
}

/// Whether an event answers nothing: feedback, telemetry, or a program's note about itself.
fn is_silent(event: &EventRecord) -> bool {
    SILENT.contains(&event.experience.modality.as_str())
        || facts::typed(event)
            .is_some_and(|typed| lamina_core::read::checkout::typed::is_telemetry(&typed.kind))
}

/// The words of an event that fit a question, without JSON; empty for one that is silent.
fn told_words(event: &EventRecord, question: &str) -> String {
    if is_silent(event) {
        return String::new();
    }
    facts::structured(event).unwrap_or_else(|| {
        let text = event.experience.content.text();
        quote(&Spoken { text, over: &[], told: &[] }, question).text
    })
}

fn evidence_line(event: &EventRecord, quote: String) -> EvidenceLine {
    EvidenceLine {
        citation: cite(event),
        at: event.experience.context.observed_at.0,
        author: RecordAuthor::of(event).to_string(),
        quote,
    }
}

/// The citations of statements that typed events have replaced.
fn is_replaced(work: &WorkingSet, citation: &str) -> bool {
    work.superseded.binary_search_by(|known| known.as_str().cmp(citation)).is_ok()
}

#[cfg(test)]
mod tests;
