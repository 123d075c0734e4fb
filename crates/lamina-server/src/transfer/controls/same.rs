//! Finding the same fact on another server: by its words.

use lamina_core::derive::facts::{Pins, Superseded};
use lamina_engine::read::facts::{FactObject, FactRecord, FactsQuery, Order};
use lamina_portable::json::to_compact;
use lamina_types::RecordedAt;
use lamina_types::layer::Confidence;

use super::ControlTarget;
use super::line::ClaimLine;
use crate::http::failure::Failure;
use crate::transfer::export::object_value;

/// Versions that are looked at.
const FACTS_LOOKED_AT_MAX: usize = 500;

/// Facts of a subject and a predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FactsLike {
    pub(super) subject: String,
    pub(super) predicate: String,
}

impl FactsLike {
    /// The versions of such facts in the scope of the target, the latest first.
    pub(super) async fn find(&self, target: &ControlTarget) -> Result<Vec<FactRecord>, Failure> {
        let engine = &target.desk.app.engine;
        let query = FactsQuery {
            scope: target.scope.clone(),
            subject: Some(self.subject.clone()),
            predicate: Some(self.predicate.clone()),
            pins: Pins {
                recorded: RecordedAt(engine.log_time()),
                superseded: Superseded::Shown,
                valid: None,
                valid_during: None,
                recorded_during: None,
            },
            lapsed_by: None,
            min_confidence: Confidence::new(0),
            order: Order::NewestFirst,
            after: None,
            limit: FACTS_LOOKED_AT_MAX,
        };
        Ok(engine.facts(target.read_permit().await?, query).await?.items)
    }
}

impl ClaimLine {
    /// Whether an object claims the same.
    pub(super) fn is(&self, object: &FactObject) -> bool {
        self.negated == object.negated && self.object == to_compact(&object_value(object))
    }
}

/// The claim of a line that an object is.
pub(super) fn claim_index(claims: &[ClaimLine], object: &FactObject) -> Option<usize> {
    claims.iter().position(|claim| claim.is(object))
}

/// Whether a fact has exactly these objects.
pub(super) fn have_objects(fact: &FactRecord, objects: &[String]) -> bool {
    let own: Vec<String> =
        fact.objects.iter().map(|object| to_compact(&object_value(object))).collect();
    own.len() == objects.len() && own.iter().all(|object| objects.contains(object))
}
