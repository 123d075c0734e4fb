//! A short profile of the person who asks: what an agent needs to know of them whatever is asked.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::facts::Superseded;
use lamina_core::read::tokens::estimate;
use lamina_store::kv::{Direction, Space};
use lamina_types::FactId;
use lamina_types::recall::{Layer, PackView, StandingChoice};

use super::gate::EventGate;
use super::plan::Frame;
use crate::Error;
use crate::derive::facts::said_outside;
use crate::derive::key;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::read::facts::{Answers, FactRecord};
use crate::read::render::fact_words;

/// What a profile tells, the first first.
const RELATIONS: [&str; 5] = ["name", "role", "lives_in", "language", "allergic_to"];
/// Facts of a profile.
const FACTS_MAX: usize = 5;
/// Tokens of all of them together.
const TOKENS_MAX: u64 = 60;
/// Tracks of one relation that are looked at: a person has more than one allergy.
const TRACKS_MAX: usize = 8;
/// Pieces of one track that are looked at, the last first.
const PIECES_MAX: usize = 4;

impl Inner {
    /// The current facts of the asked scope about the person: whose scope it is, and who asks.
    pub(super) fn profile(&self, frame: &Frame<'_>) -> Result<Vec<FactRecord>, Error> {
        let question = frame.question;
        let shows =
            matches!(question.view, PackView::Holistic | PackView::Granular | PackView::Descend);
        let is_asked = shows
            && !question.query.is_empty()
            && question.standing != StandingChoice::None
            && question.wants(Layer::Facts)
            && EventGate::new(self, frame).is_open()
            && frame.reach.covers(&question.scope);
        let scope = self.views.scope_ordinal(frame.tenant, &question.scope)?;
        let Some(scope) = scope.filter(|scope| is_asked && frame.scopes.contains(scope)) else {
            return Ok(Vec::new());
        };
        let asker = frame.reach.caller().actor.clone();
        let person = question.scope.person().filter(|person| *person != asker);
        let query = self.facts_asked(frame, Superseded::Hidden);
        let mut answers = Answers::new();
        let (mut profile, mut tokens) = (Vec::new(), 0);
        let mut called = BTreeSet::new();
        for person in person.iter().chain([&asker]) {
            let found =
                self.entities_called(frame.tenant, &[scope], person.as_str(), frame.recorded)?;
            called.extend(found);
        }
        for relation in RELATIONS {
            for entity in &called {
                for id in self.current_of(frame, scope, (*entity, relation))? {
                    let Some(row) = self.fact_standing(frame.tenant, id, &query)? else { continue };
                    let fact = self.fact(frame.tenant, id, &row, frame.recorded, &mut answers)?;
                    let Some(fact) = fact.filter(|fact| !fact.is_redacted()) else { continue };
                    let cost = estimate(&fact_words(&fact));
                    if profile.len() < FACTS_MAX && tokens + cost <= TOKENS_MAX {
                        tokens += cost;
                        profile.push(fact);
                    }
                }
            }
        }
        Ok(profile)
    }

    /// The current versions of what a scope says under a subject and a predicate.
    fn current_of(
        &self,
        frame: &Frame<'_>,
        scope: u64,
        (entity, predicate): (lamina_types::EntityId, &str),
    ) -> Result<Vec<FactId>, Error> {
        let tenant = frame.tenant;
        let Some(predicate) = self.predicate_tag(tenant, Some(predicate))? else {
            return Ok(Vec::new());
        };
        let said = said_outside(&self.keyed(tenant)?, entity, &predicate);
        let (from, to) = key::tracks(tenant, scope, &said);
        let mut tracks = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
            tracks.extend(key::tail_id(key));
            match tracks.len() < TRACKS_MAX {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        let mut facts = Vec::new();
        for track in tracks {
            let (from, to) = key::currents(tenant, scope, &track, None, None);
            let mut pieces = 0;
            walk(&self.views, Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
                facts.extend(key::tail_id(key).map(FactId::from_bytes));
                pieces += 1;
                match pieces < PIECES_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        Ok(facts)
    }
}
