//! Where a question stands: which scopes, which times, which records may be in the answer.

use std::collections::BTreeSet;

use lamina_core::read::filter::{Facets, passes};
use lamina_core::read::plan::Plan;
use lamina_core::read::words::{Matter, matter};
use lamina_models::asked::{self, When, Window};
use lamina_store::view::{EventRow, Tag};
use lamina_types::recall::{Field, Filter, Phrase, Recall, Test};
use lamina_types::{EventRecord, Micros, RecordedAt, ValidAt};
use parking_lot::Mutex;

use super::MayRecall;
use crate::Error;
use crate::engine::Inner;
use crate::read::ReadPermit;

/// Modalities that answer nothing: what is said about answers, and what a program notes about itself.
pub(in crate::read) const SILENT: [&str; 2] = ["feedback", "telemetry"];

/// Where a question stands.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(in crate::read) question: &'a Recall,
    pub(in crate::read) reach: &'a ReadPermit,
    pub(in crate::read) tenant: u32,
    pub(super) plan: Plan,
    /// What the question speaks of.
    pub(super) matter: Matter,
    /// The present.
    pub(in crate::read) now: Micros,
    /// The knowledge it is asked with.
    pub(in crate::read) recorded: RecordedAt,
    /// That knowledge is not that of now.
    pub(super) in_the_past: bool,
    /// Only what happened in here.
    pub(super) window: Option<Window>,
    /// What happened in here is more likely meant: the question itself names it.
    pub(super) hinted: Option<Window>,
    /// The ordinals of the scopes.
    pub(in crate::read) scopes: Vec<u64>,
    /// The index has everything that was answered, so it is asked.
    pub(super) indexed: bool,
    /// The tags of [`SILENT`] modalities, unless a filter asks for such events.
    pub(super) silent: Option<[Tag; 2]>,
    /// Records that could not be read because stored bytes are damaged.
    pub(super) damaged: Mutex<BTreeSet<String>>,
}

impl Frame<'_> {
    /// What was read of an event, unless its words are gone or damaged. Notes damage.
    pub(super) fn readable<T>(
        &self,
        row: &EventRow,
        read: Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(Error::Deleted) => Ok(None),
            Err(error) if error.is_damage() => {
                if self.scopes.contains(&row.scope) {
                    self.damaged.lock().insert(row.id.to_string());
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What was read of a derived record of the reach, unless its words are damaged. Notes damage.
    pub(super) fn readable_record<T: Default>(
        &self,
        id: &dyn ToString,
        read: Result<T, Error>,
    ) -> Result<T, Error> {
        match read {
            Err(error) if error.is_damage() => {
                self.damaged.lock().insert(id.to_string());
                Ok(T::default())
            }
            read => read,
        }
    }

    /// Whether something that happened then, and became known then, may be in the answer.
    pub(super) fn in_time(&self, observed: ValidAt, recorded: RecordedAt) -> bool {
        let inside = |window: &Window| {
            window.from.is_none_or(|from| from <= observed)
                && window.to.is_none_or(|to| observed < to)
        };
        let temporal = &self.question.temporal;
        recorded <= self.recorded
            && self.window.as_ref().is_none_or(inside)
            && temporal.recorded_during.is_none_or(|(from, to)| from <= recorded && recorded < to)
    }

    /// Whether no stretch of time was named that records have to be from.
    pub(super) fn is_of_any_time(&self) -> bool {
        let temporal = &self.question.temporal;
        temporal.valid_during.is_none()
            && temporal.recorded_during.is_none()
            && temporal.natural.is_none()
    }

    /// Whether something happened at the time that the question speaks of.
    pub(super) fn is_hinted(&self, observed: ValidAt) -> bool {
        self.hinted.is_some_and(|window| {
            window.from.is_none_or(|from| from <= observed)
                && window.to.is_none_or(|to| observed < to)
        })
    }

    /// Whether an event passes the filter.
    pub(super) fn admits(&self, event: &EventRecord) -> bool {
        let experience = &event.experience;
        let role = match &experience.content {
            lamina_types::Content::Message { role, .. } => Some(role.as_str()),
            _ => None,
        };
        let facets = Facets {
            observed_actor: Some(experience.observed_actor.id.as_str()),
            caller: Some(event.caller.as_str()),
            subject: Some(experience.subject.as_str()),
            modality: Some(experience.modality.as_str()),
            labels: &experience.context.labels,
            intent: experience.context.intent.as_deref(),
            role,
            confidence: None,
            observed_at: Some(experience.context.observed_at.0.0),
            recorded_at: Some(event.recorded_at.0.0),
        };
        passes(&self.question.filter, &facets)
    }

    /// Whether this much confidence passes the filter, whatever else it asks.
    pub(super) fn admits_confidence(&self, confidence: f64) -> bool {
        fn bounds<'f>(filter: &'f Filter, found: &mut Vec<&'f Test>) {
            match filter {
                Filter::All(parts) => parts.iter().for_each(|part| bounds(part, found)),
                Filter::Is(Field::Confidence, test) => found.push(test),
                _ => {}
            }
        }
        let mut found = Vec::new();
        bounds(&self.question.filter, &mut found);
        let facets = Facets { confidence: Some(confidence), ..Facets::default() };
        found.into_iter().all(|test| passes(&Filter::Is(Field::Confidence, test.clone()), &facets))
    }
}

impl Inner {
    pub(in crate::read) fn frame<'a>(
        &self,
        may: &'a MayRecall,
        question: &'a Recall,
        plan: Plan,
        answered: u64,
    ) -> Result<Frame<'a>, Error> {
        let reach = &*may.reach;
        let (tenant, scopes) = self.scopes_of(reach, &question.scope)?;
        let now = self.now();
        let temporal = &question.temporal;
        let recorded = temporal.as_of_recorded.unwrap_or(RecordedAt(now));
        let reference = temporal.reference.unwrap_or(now);
        let phrases = self.admin.standing.phrases(tenant);
        let meant = |phrase: &Phrase| Window { from: Some(phrase.from), to: Some(phrase.to) };
        let spoken = || asked::spoken(&question.query, reference, None).map(|(window, _)| window);
        let mut frame = Frame {
            question,
            reach,
            tenant,
            plan,
            matter: matter(&question.query),
            now,
            recorded,
            in_the_past: temporal.as_of_recorded.is_some(),
            window: None,
            hinted: phrases.spoken(&question.query).map(meant).or_else(spoken),
            scopes,
            damaged: Mutex::default(),
            silent: (!question.query.is_empty() && question.filter == Filter::default())
                .then(|| {
                    let [one, other] = SILENT.map(|name| self.views.tag_modality(tenant, name));
                    Ok::<_, Error>([one?, other?])
                })
                .transpose()?,
            indexed: self.search.as_ref().is_some_and(|search| {
                !search.index.is_condemned()
                    && search.found.offset() >= self.shared.applied.offset().min(answered)
            }),
        };
        frame.window = self.window(&frame, reference)?;
        Ok(frame)
    }

    /// The stretch of time that a question is bound to.
    fn window(&self, frame: &Frame<'_>, reference: Micros) -> Result<Option<Window>, Error> {
        let temporal = &frame.question.temporal;
        let mut window = Window::default();
        let mut narrow = |from: Option<ValidAt>, to: Option<ValidAt>| {
            window.from = [window.from, from].into_iter().flatten().max();
            window.to = [window.to, to].into_iter().flatten().min();
        };
        if let Some((from, to)) = temporal.valid_during {
            narrow(Some(from), Some(to));
        }
        if let Some(at) = temporal.as_of_valid {
            narrow(None, Some(ValidAt(at.0.plus(1))));
        }
        let phrases = self.admin.standing.phrases(frame.tenant);
        if let Some(phrase) = temporal.natural.as_deref().and_then(|said| phrases.named(said)) {
            narrow(Some(phrase.from), Some(phrase.to));
        } else if let Some(natural) = &temporal.natural {
            let read = asked::when(natural, reference, None);
            match read.ok_or_else(|| Error::UnparseableTime { text: natural.clone() })? {
                When::Window(Window { from, to }) => narrow(from, to),
                When::Before(words) => narrow(None, self.happened(frame, &words)?),
                When::After(words) => narrow(self.happened(frame, &words)?, None),
            }
        }
        Ok((window != Window::default()).then_some(window))
    }
}
