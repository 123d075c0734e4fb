//! The right to write each row: asked as for a bulk write, and kept for rows that need the same.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_core::policy::{Caller, Permit, SystemSpeech};
use lamina_types::capability::ScopeWrite;
use lamina_types::{ActorId, ErrorCode, Experience, ScopePath};

use super::envelope::RowRefusal;
use crate::http::App;
use crate::http::call::Desk;
use crate::http::failure::Failure;
use crate::http::handlers::experience::{begin_consolidation, permit, refers};
use crate::http::record::Record;

/// The properties of a row that decide the permission for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct WriteKind {
    scope: ScopePath,
    actor: ActorId,
    subject: ActorId,
    second: Option<ScopePath>,
    speaks_as_system: bool,
}

/// Permits of the rows of one step. The policy may change, so that each step asks anew.
pub(super) struct RowPermits {
    desk: Desk,
    caller: Caller,
    known: HashMap<WriteKind, Result<Permit<ScopeWrite>, RowRefusal>>,
}

impl RowPermits {
    pub(super) fn new(app: &Arc<App>, caller: &Caller) -> RowPermits {
        let desk = Desk { app: Arc::clone(app), record: Arc::new(Record::default()) };
        RowPermits { desk, caller: caller.clone(), known: HashMap::new() }
    }

    /// Asks for the permission to write a row. An outer error ends the job, an inner one costs the row.
    pub(super) async fn allow(
        &mut self,
        experience: &Experience,
    ) -> Result<Result<(), RowRefusal>, Failure> {
        let kind = WriteKind {
            scope: experience.scope.clone(),
            actor: experience.observed_actor.id.clone(),
            subject: experience.subject.clone(),
            second: experience.directives.consolidate_into.clone(),
            speaks_as_system: SystemSpeech::of(experience).is_some(),
        };
        let decided = match self.known.get(&kind) {
            Some(decided) => decided.clone(),
            None => {
                let decided = cost_row(self.ask(experience).await)?;
                self.known.insert(kind, decided.clone());
                decided
            }
        };
        let permit = match decided {
            Ok(permit) => permit,
            Err(refusal) => return Ok(Err(refusal)),
        };
        if experience.content.blobs().is_empty() {
            return Ok(Ok(()));
        }
        cost_row(refers(&self.desk, &permit, experience, "").await)
    }

    async fn ask(&self, experience: &Experience) -> Result<Permit<ScopeWrite>, Failure> {
        check_person(&self.caller, &experience.scope)?;
        let permit = permit(&self.desk, &self.caller, experience, "").await?;
        if permit.caller().tenant != self.caller.tenant {
            let reason = "is shared by all tenants and the target of the import is not, or the other \
                          way round";
            return Err(ApiError::invalid_envelope("scope", reason).into());
        }
        begin_consolidation(&self.desk, &self.caller, experience).await?;
        Ok(permit)
    }

    /// The permits of this step.
    pub(super) fn permits(&self) -> Vec<Permit<ScopeWrite>> {
        let mut permits: Vec<Permit<ScopeWrite>> =
            self.known.values().filter_map(|decided| decided.clone().ok()).collect();
        // The first that covers a row decides: one for the system's own words does so for all others.
        permits.sort_by_key(|permit| !permit.speaks_as_system());
        permits
    }
}

/// Memory of a person is imported by that person, a delegate or an administrator (A21).
pub(crate) fn check_person(caller: &Caller, scope: &ScopePath) -> Result<(), ApiError> {
    let persons: Vec<ActorId> = scope
        .self_and_ancestors()
        .iter()
        .filter(|scope| scope.leaf_type() == "user")
        .filter_map(ScopePath::person)
        .collect();
    let is_theirs = persons.is_empty() || persons.contains(&caller.actor);
    if is_theirs || caller.is_delegate() || caller.administers() {
        return Ok(());
    }
    let reason = "only this person, a delegate or an administrator imports into a person's scope";
    Err(ApiError::at(ErrorCode::PolicyDenied, "scope", reason))
}

/// A refusal of the caller's making costs the row; anything else ends the job.
fn cost_row<T>(result: Result<T, Failure>) -> Result<Result<T, RowRefusal>, Failure> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(failure) if failure.error.status < 500 => Ok(Err(failure.error.into())),
        Err(failure) => Err(failure),
    }
}
