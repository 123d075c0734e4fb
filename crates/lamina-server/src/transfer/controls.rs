//! Decisions of an export, done again on this server: vocabularies, cancellations, merges of entities, decided
//! conflicts and declared beliefs.
//!
//! A line names things by words and by exported events, because ids differ between servers. Each is done by
//! the engine functions and the policy checks of the route that a person would use, and doing it twice
//! changes nothing.

mod line;
mod same;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lamina_api::v1::vocabularies::VocabularyRequest;
use lamina_core::policy::Caller;
use lamina_engine::read::conflicts::{ConflictRecord, ConflictStatus, ConflictsQuery, Resolve};
use lamina_engine::read::entities::{EntitiesQuery, EntityRecord};
use lamina_engine::read::export::ExportPoint;
use lamina_engine::write::{BeliefSupportId, BeliefToDeclare};
use lamina_engine::{Error as EngineError, Noted};
use lamina_types::capability::{
    PolicyAdministerScope, PolicyAdministerTenant, ScopeReadLocal, ScopeWrite,
};
use lamina_types::{EventId, RecordId, RecordedAt, ScopePath, ScopeView};
use tokio::time::{Instant, sleep};

pub(crate) use line::ControlLine;
use line::{ActionLine, Control, DecisionLine, DeclarationLine, NamedThing, SupportLine};
use same::{FactsLike, claim_index};

use crate::http::call::Desk;
use crate::http::failure::Failure;
use crate::http::{kind_word, term_name, vocabulary_changed};

/// How long derivation is waited for.
const SETTLE_TIME_MAX: Duration = Duration::from_secs(600);
/// How often it is asked.
const SETTLE_TURN: Duration = Duration::from_millis(50);
/// Conflicts of one page.
const CONFLICTS_PAGE: usize = 500;
/// Entities of one name that are looked at.
const ENTITIES_NAMED_MAX: usize = 50;

/// Where and for whom decisions are done again.
#[derive(Debug, Clone)]
pub(crate) struct ControlTarget {
    /// Where permission is asked for.
    pub(crate) desk: Desk,
    /// Who imports.
    pub(crate) caller: Caller,
    /// The scope that stands for the one of the line.
    pub(crate) scope: ScopePath,
    /// What entries of the log note.
    pub(crate) noted: Noted,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlOutcome {
    /// It was done.
    Applied,
    /// It was so already.
    Known,
    /// It cannot be done here.
    Skipped {
        /// Why, for a report.
        why: &'static str,
    },
}

const NO_EVENT: ControlOutcome = ControlOutcome::Skipped { why: "its event was not imported" };
const NO_ENTITY: ControlOutcome =
    ControlOutcome::Skipped { why: "not exactly one entity of this name and kind is known here" };
const NO_CONFLICT: ControlOutcome =
    ControlOutcome::Skipped { why: "the same claims are in no conflict here" };
const DECIDED_OTHERWISE: ControlOutcome =
    ControlOutcome::Skipped { why: "the conflict was decided otherwise here" };
const NO_CLAIM: ControlOutcome =
    ControlOutcome::Skipped { why: "the claim of the decision is not known here" };

/// Waits until derivation has come to every event of the scope; `false` if that takes too long.
pub(crate) async fn settle(target: &ControlTarget) -> Result<bool, Failure> {
    let deadline = Instant::now() + SETTLE_TIME_MAX;
    loop {
        let permit = target.read_permit().await?;
        let engine = &target.desk.app.engine;
        let status = engine.derivation_status(permit, target.scope.clone()).await?;
        if status.waiting == 0 {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        sleep(SETTLE_TURN).await;
    }
}

/// Does what a line says. `events` maps exported events to imported ones.
pub(crate) async fn apply(
    line: &ControlLine,
    target: &ControlTarget,
    events: &BTreeMap<EventId, EventId>,
) -> Result<ControlOutcome, Failure> {
    match line.control() {
        Control::Vocabulary { name, body } => target.vocabulary(name, body).await,
        Control::Cancellation { event } => match events.get(event) {
            Some(event) => target.cancel(*event).await,
            None => Ok(NO_EVENT),
        },
        Control::Merge { from, into } => target.merge(from, into).await,
        // A merge that was undone has no line, so there is nothing to undo.
        Control::Split => Ok(ControlOutcome::Known),
        Control::Decision(decision) => target.decide(decision).await,
        Control::Declaration(declaration) => target.declare(declaration, events).await,
    }
}

impl ControlTarget {
    async fn read_permit(&self) -> Result<lamina_engine::ReadPermit, Failure> {
        self.desk.permit_read(&self.caller, &self.scope, ScopeView::Local).await
    }

    async fn vocabulary(&self, name: &str, body: &str) -> Result<ControlOutcome, Failure> {
        let mut vocabulary = VocabularyRequest::read_for(name, body.as_bytes())?;
        vocabulary.scope = Some(self.scope.clone());
        let (desk, caller) = (self.desk.clone(), self.caller.clone());
        let is_new = vocabulary_changed(desk, caller, self.noted.clone(), vocabulary).await?;
        Ok(if is_new { ControlOutcome::Applied } else { ControlOutcome::Known })
    }

    async fn cancel(&self, id: EventId) -> Result<ControlOutcome, Failure> {
        let ControlTarget { desk, caller, .. } = self;
        let engine = &desk.app.engine;
        let (scope, writer) = match engine.event_home(caller.tenant, id).await {
            Err(EngineError::NotFound | EngineError::Deleted) => return Ok(NO_EVENT),
            home => home?,
        };
        let reader = desk.permit::<ScopeReadLocal>(caller, Some(&scope)).await?;
        match engine.event(&reader, id).await {
            Ok(record) if record.excluded_from_recall => return Ok(ControlOutcome::Known),
            Err(EngineError::Deleted) => return Ok(NO_EVENT),
            record => drop(record?),
        }
        let there = engine.seat(&desk.app.boot(), caller, Some(&scope)).await?;
        if writer != Some(there.actor) {
            desk.permit::<PolicyAdministerScope>(caller, Some(&scope)).await?;
        }
        let permit = desk.permit::<ScopeWrite>(caller, Some(&scope)).await?;
        engine.cancel(&permit, id, &self.noted).await?;
        desk.app.forget_packs(caller.tenant, &scope, &id.to_string());
        Ok(ControlOutcome::Applied)
    }

    async fn merge(&self, from: &NamedThing, into: &NamedThing) -> Result<ControlOutcome, Failure> {
        let (sources, targets) = (self.entities(from).await?, self.entities(into).await?);
        let is_one = |entity: &EntityRecord| targets.iter().any(|other| other.id == entity.id);
        if sources.iter().any(is_one) {
            return Ok(ControlOutcome::Known);
        }
        let of_kind = |found: &[EntityRecord], thing: &NamedThing| {
            let mut found = found.iter().filter(|one| kind_word(one.kind) == thing.kind);
            found.next().filter(|_| found.next().is_none()).map(|one| one.id)
        };
        let (Some(source), Some(target)) = (of_kind(&sources, from), of_kind(&targets, into))
        else {
            return Ok(NO_ENTITY);
        };
        let permit = self.desk.permit::<PolicyAdministerTenant>(&self.caller, None).await?;
        self.desk.app.engine.entity_merge(&permit, source, target, &self.noted).await?;
        Ok(ControlOutcome::Applied)
    }

    /// The entities of a name in the scope.
    async fn entities(&self, thing: &NamedThing) -> Result<Vec<EntityRecord>, Failure> {
        let query = EntitiesQuery {
            scope: self.scope.clone(),
            called: Some(thing.name.clone()),
            after: None,
            limit: ENTITIES_NAMED_MAX,
        };
        let permit = self.read_permit().await?;
        Ok(self.desk.app.engine.entities(permit, query).await?.items)
    }

    async fn decide(&self, line: &DecisionLine) -> Result<ControlOutcome, Failure> {
        let Some(conflict) = self.conflict_like(line).await? else { return Ok(NO_CONFLICT) };
        let claims = conflict.fact.claims();
        let side = |index: &usize| {
            let wanted = line.claims.get(*index)?;
            claims.iter().find(|claim| wanted.is(&claim.object)).map(|claim| claim.id)
        };
        let resolve = match &line.action {
            ActionLine::Pick { winner } => side(winner).map(|winner| Resolve::Pick { winner }),
            ActionLine::Split { boundary, earlier, later } => side(earlier)
                .zip(side(later))
                .map(|(earlier, later)| Resolve::Split { boundary: *boundary, earlier, later }),
            ActionLine::NewInformation { claim } => {
                let like =
                    FactsLike { subject: line.subject.clone(), predicate: line.predicate.clone() };
                let facts = like.find(self).await?;
                let told = facts.iter().find(|fact| {
                    !fact.is_conflict() && fact.objects.iter().any(|object| claim.is(object))
                });
                told.map(|fact| {
                    let record = RecordId::from_bytes(*fact.id.as_bytes());
                    Resolve::NewInformation { record }
                })
            }
            ActionLine::Dismiss => Some(Resolve::Dismiss),
        };
        let Some(resolve) = resolve else { return Ok(NO_CLAIM) };
        match &conflict.status {
            ConflictStatus::Open => {}
            ConflictStatus::Resolved { action, .. } if *action == resolve => {
                return Ok(ControlOutcome::Known);
            }
            ConflictStatus::Resolved { .. } | ConflictStatus::Overtaken { .. } => {
                return Ok(DECIDED_OTHERWISE);
            }
        }
        let permit = self.desk.permit_write_to(&self.caller, &self.scope).await?;
        let noted = Noted { note: line.reason.clone(), ..self.noted.clone() };
        let engine = &self.desk.app.engine;
        match engine.conflict_resolve(&permit, conflict.id, resolve, &noted).await {
            Err(EngineError::ConflictNotOpen) => Ok(DECIDED_OTHERWISE),
            decided => {
                decided?;
                Ok(ControlOutcome::Applied)
            }
        }
    }

    /// The conflict between the same claims about the same subject; one that is open before others.
    async fn conflict_like(&self, line: &DecisionLine) -> Result<Option<ConflictRecord>, Failure> {
        let engine = &self.desk.app.engine;
        let (mut before, mut found) = (None, None);
        loop {
            let query = ConflictsQuery {
                scope: self.scope.clone(),
                open_only: false,
                recorded: None,
                before,
                limit: CONFLICTS_PAGE,
            };
            let page = engine.conflicts(self.read_permit().await?, query).await?;
            for conflict in page.items {
                let fact = &conflict.fact;
                let is_like = fact.predicate == line.predicate
                    && term_name(&fact.subject.term) == line.subject
                    && fact.objects.len() == line.claims.len()
                    && fact.objects.iter().all(|side| claim_index(&line.claims, side).is_some());
                if is_like && (found.is_none() || conflict.status == ConflictStatus::Open) {
                    found = Some(conflict);
                }
            }
            before = page.next;
            if before.is_none() {
                return Ok(found);
            }
        }
    }

    async fn declare(
        &self,
        line: &DeclarationLine,
        events: &BTreeMap<EventId, EventId>,
    ) -> Result<ControlOutcome, Failure> {
        let engine = &self.desk.app.engine;
        let permit = self.desk.permit_write_to(&self.caller, &self.scope).await?;
        let point = ExportPoint {
            scope: self.scope.clone(),
            recorded: RecordedAt(engine.log_time()),
            in_the_past: false,
        };
        let reader = Arc::new(self.read_permit().await?);
        let known = engine.export_declarations(&reader, &point).await?;
        if known.iter().any(|declared| line.is(&declared.declared)) {
            return Ok(ControlOutcome::Known);
        }
        let supports = self.supports(line, events).await?;
        let belief = BeliefToDeclare {
            scope: self.scope.clone(),
            statement: line.statement.clone(),
            subject: line.subject.clone(),
            predicate: line.predicate.clone(),
            confidence: line.confidence,
            supports,
            valid_from: Some(line.valid_from),
        };
        engine.declare_belief(&permit, belief, &self.noted).await?;
        Ok(ControlOutcome::Applied)
    }

    /// The supports of a declaration that are here and that the importer may read.
    async fn supports(
        &self,
        line: &DeclarationLine,
        events: &BTreeMap<EventId, EventId>,
    ) -> Result<Vec<BeliefSupportId>, Failure> {
        let mut found = Vec::new();
        for support in &line.supports {
            match support {
                SupportLine::Event(id) => {
                    found.extend(events.get(id).copied().map(BeliefSupportId::Event));
                }
                SupportLine::Fact { like, objects, events: said_in } => {
                    let here: Vec<EventId> =
                        said_in.iter().filter_map(|id| events.get(id).copied()).collect();
                    let facts = like.find(self).await?;
                    let same = facts.iter().find(|fact| {
                        fact.supports.iter().any(|event| here.contains(event))
                            && same::have_objects(fact, objects)
                    });
                    match same {
                        Some(fact) => found.push(BeliefSupportId::Fact(fact.id)),
                        None => found.extend(here.into_iter().map(BeliefSupportId::Event)),
                    }
                }
            }
        }
        found.dedup();
        let mut readable = Vec::with_capacity(found.len());
        for support in found {
            let engine = &self.desk.app.engine;
            let Some(home) = engine.support_home(self.caller.tenant, support).await? else {
                continue;
            };
            let stack = self.desk.app.stack(&self.caller, Some(&home)).await?;
            if stack.permit::<ScopeReadLocal>(&self.caller, Some(&home)).is_ok() {
                readable.push(support);
            }
        }
        Ok(readable)
    }
}

#[cfg(test)]
mod tests;
