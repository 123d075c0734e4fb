//! Searching by the index: words in common, and meaning in common.

use std::collections::HashMap;

use lamina_index::analyze::Language;
use lamina_index::{
    Candidate, Filter, LabelHash, Layer, Layers, LexicalQuery, Reach, Statistics, VectorHit,
    VectorQuery,
};
use lamina_types::recall::{Field, Filter as Asked, Test};
use lamina_types::{EventId, Micros, ValidAt};
use parking_lot::Mutex;

use super::{Channel, QueryTerm};
use crate::Error;
use crate::embed::Asked as Embedded;
use crate::engine::Inner;
use crate::index::Search;
use crate::index::document::label_of;
use crate::read::ReadPermit;
use crate::read::recall::plan::Frame;

/// Events that are near in meaning, with how near.
pub(super) type Near = Vec<(EventId, f64)>;

/// What was looked up.
#[derive(Debug, Default)]
pub(in crate::read::recall) struct LookedUp {
    pub(in crate::read::recall) lexical: Channel,
    pub(super) near: Near,
    /// What a model that is configured finds near, if it could be asked.
    pub(super) further: Option<Further>,
    /// It could not be, although it should.
    pub(super) unembedded: bool,
    /// The index failed, and events were read instead.
    pub(super) unindexed: bool,
}

/// What a model finds near.
#[derive(Debug)]
pub(super) struct Further {
    pub(super) model: String,
    pub(super) near: Near,
    /// Events from this offset on have no vectors of the model yet.
    pub(super) until: u64,
}

impl Inner {
    /// The events that have to do with a text: by the index, or by reading them where it is behind or fails.
    pub(in crate::read::recall) fn found(
        &self,
        frame: &Frame<'_>,
        text: &str,
        limit: usize,
    ) -> Result<LookedUp, Error> {
        let mut unindexed = false;
        if let Some(search) = self.search.as_ref().filter(|_| frame.indexed) {
            match self.look_up(search, frame, text, limit) {
                Err(Error::SearchUnavailable(error)) => {
                    search.failed(&error);
                    unindexed = true;
                }
                found => return found,
            }
        }
        let lexical = self.scan(frame, text, limit)?;
        Ok(LookedUp { lexical, unindexed, ..LookedUp::default() })
    }

    /// The events that share words with a text.
    pub(in crate::read::recall) fn by_words(
        &self,
        frame: &Frame<'_>,
        text: &str,
        limit: usize,
    ) -> Result<Channel, Error> {
        Ok(self.found(frame, text, limit)?.lexical)
    }

    /// The events that share words with a text, and those that are near in meaning. If meaning cannot be
    /// searched, words are enough; if a model cannot be asked, so is the built-in meaning.
    fn look_up(
        &self,
        search: &Search,
        frame: &Frame<'_>,
        text: &str,
        limit: usize,
    ) -> Result<LookedUp, Error> {
        let (labels, residual) = self.labels(frame.tenant, &frame.question.filter)?;
        let residual = residual || frame.question.temporal.recorded_during.is_some();
        let known: Mutex<HashMap<[u8; 16], bool>> = Mutex::new(HashMap::new());
        let visible = |candidate: &Candidate| {
            let id = candidate.key.id;
            if let Some(known) = known.lock().get(&id) {
                return *known;
            }
            let admitted = self.is_admitted(frame, EventId::from_bytes(id));
            known.lock().insert(id, admitted);
            admitted
        };
        let (within, except) = reaches(frame);
        let open = |at: Option<ValidAt>, otherwise: Micros| at.unwrap_or(ValidAt(otherwise));
        let filter = Filter {
            within,
            except,
            layers: Layers::of(&[Layer::Event]),
            labels,
            valid: frame
                .window
                .map(|window| (open(window.from, Micros::MIN), open(window.to, Micros::MAX))),
            recorded_until: frame.in_the_past.then_some(frame.recorded),
            visible: if residual { Some(&visible) } else { None },
        };
        let words = LexicalQuery {
            text,
            also: &[],
            language: frame.question.language.as_deref().and_then(Language::from_code),
            filter: filter.clone(),
            statistics: match frame.in_the_past {
                true => Statistics::Shipped,
                false => Statistics::Visible,
            },
            limit,
        };
        let (answer, near) = match search.meaning(text) {
            Some(vector) => {
                let (space, vector, filter) = (search.space(), &vector, filter.clone());
                let meaning = VectorQuery { space, vector, filter, limit };
                let (answer, near) = search.index.both(frame.tenant, &words, &meaning)?;
                (answer, or_nothing(near))
            }
            None => (search.index.lexical(frame.tenant, &words)?, Near::new()),
        };
        let (further, unembedded) = self.further(search, frame, (text, filter, limit));
        let hit = |hit: &lamina_index::LexicalHit| {
            (EventId::from_bytes(hit.key.id), hit.score, hit.terms)
        };
        let hits = answer.hits.iter().map(hit).collect();
        let terms = answer.terms.into_iter().map(term).collect();
        let lexical = Channel { hits, terms, matched: answer.matched };
        Ok(LookedUp { lexical, near, further, unembedded, unindexed: false })
    }

    /// What a model finds near, if one is configured and has vectors; and whether it failed.
    fn further(
        &self,
        search: &Search,
        frame: &Frame<'_>,
        (text, filter, limit): (&str, Filter<'_>, usize),
    ) -> (Option<Further>, bool) {
        let Some(desk) = &search.further else { return (None, false) };
        let scope = &frame.question.scope;
        if desk.is_remote() && self.admin.standing.keeps_from_models(frame.tenant, scope) {
            return (None, false);
        }
        match desk.ask(&search.index, text) {
            Embedded::Nothing | Embedded::Empty => (None, false),
            Embedded::Failed => (None, true),
            Embedded::In { space, vector, until } => {
                let query = VectorQuery { space: &space, vector: &vector, filter, limit };
                let near = or_nothing(search.index.vector(frame.tenant, &query));
                (Some(Further { near, until, model: space.model }), false)
            }
        }
    }

    /// Whether an event passes the whole filter.
    fn is_admitted(&self, frame: &Frame<'_>, id: EventId) -> bool {
        let Ok(Some(row)) = self.event_seen(frame.tenant, id) else { return false };
        let Some(facets) = row.listed() else { return false };
        frame.in_time(facets.observed_at, row.recorded_at)
            && self.record(&row).is_ok_and(|event| frame.admits(&event))
    }

    /// What of a filter the index can be asked with, and whether there is more to it.
    fn labels(&self, tenant: u32, filter: &Asked) -> Result<(Vec<Vec<LabelHash>>, bool), Error> {
        let (mut labels, mut residual) = (Vec::new(), false);
        let mut parts = vec![filter];
        while let Some(part) = parts.pop() {
            let (field, wanted) = match part {
                Asked::All(inner) => {
                    parts.extend(inner);
                    continue;
                }
                Asked::Is(Field::Confidence, _) => continue,
                Asked::Is(field, Test::In(wanted)) => (*field, wanted),
                Asked::Is(..) | Asked::Any(_) | Asked::Not(_) => {
                    residual = true;
                    continue;
                }
            };
            let tag = |text: &String| match field {
                Field::Labels => self.views.tag_label(tenant, text).map(Some),
                Field::Modality => self.views.tag_modality(tenant, text).map(Some),
                Field::ObservedActor => self.views.tag_actor(tenant, text).map(Some),
                _ => Ok(None),
            };
            match wanted.iter().map(tag).collect::<Result<Option<Vec<_>>, _>>()? {
                Some(tags) => labels.push(tags.iter().map(label_of).collect()),
                None => residual = true,
            }
        }
        Ok((labels, residual))
    }
}

/// What is near; nothing if that cannot be searched.
fn or_nothing(found: Result<Vec<VectorHit>, lamina_index::Error>) -> Near {
    match found {
        Ok(hits) => hits
            .iter()
            .map(|hit| (EventId::from_bytes(hit.key.id), f64::from(hit.similarity)))
            .collect(),
        Err(error) => {
            tracing::warn!(%error, "meaning cannot be searched; words are");
            Vec::new()
        }
    }
}

fn term(term: lamina_index::QueryTerm) -> QueryTerm {
    QueryTerm { word: term.word, weight: term.rarity, documents: term.documents }
}

/// The scopes that are searched.
fn reaches(frame: &Frame<'_>) -> (Vec<Reach>, Vec<Reach>) {
    let scope = &frame.question.scope;
    match frame.reach {
        ReadPermit::Local(_) => (vec![Reach::Exact(scope.clone())], Vec::new()),
        ReadPermit::Holistic(_) => {
            let up = scope.self_and_ancestors().into_iter();
            let readable = up.filter(|path| frame.reach.covers(path));
            (readable.map(Reach::Exact).collect(), Vec::new())
        }
        ReadPermit::Descend(walked) => {
            let denied = walked.denied_scopes().map(|path| Reach::Exact(path.clone()));
            (vec![Reach::Subtree(scope.clone())], denied.collect())
        }
    }
}
