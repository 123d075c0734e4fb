//! The leave of an export: asked for before the first byte, and again while bytes are made.

use std::sync::Arc;

use lamina_api::ApiError;
use lamina_api::v1::exports::ExportLayer;
use lamina_core::policy::Caller;
use lamina_engine::ReadPermit;
use lamina_engine::read::understanding::MayUnderstand;
use lamina_types::{ErrorCode, Micros};

use super::ExportPlan;
use crate::http::call::Desk;
use crate::http::failure::Failure;
use crate::http::understanding_permit;

/// How old a permit may be that a page is read with.
const PERMIT_AGE_US_MAX: i64 = 1_000_000;

/// Who exports, and how far they may read now.
#[derive(Debug)]
pub(crate) struct ExportReach {
    desk: Desk,
    caller: Caller,
    permit: Arc<ReadPermit>,
    concepts: Option<Arc<MayUnderstand>>,
    asked_at: Micros,
}

impl ExportReach {
    /// Asks for the capability of the format and for every scope.
    pub(crate) async fn ask(
        desk: Desk,
        caller: Caller,
        plan: &ExportPlan,
    ) -> Result<ExportReach, Failure> {
        let scope = &plan.point.scope;
        desk.permit_export(&caller, Some(scope), plan.format.name()).await?;
        let asked_at = desk.app.env.clock.monotonic();
        let concepts = match plan.has(ExportLayer::Concepts) {
            true => Some(Arc::new(understanding_permit(&desk, &caller, scope, plan.view).await?)),
            false => None,
        };
        let permit = Arc::new(desk.permit_read(&caller, scope, plan.view).await?);
        Ok(ExportReach { desk, caller, permit, concepts, asked_at })
    }

    /// Asks again, if the last answer is old. A token that has ended and a grant that is gone stop the
    /// export.
    pub(crate) async fn renew(&mut self, plan: &ExportPlan) -> Result<(), Failure> {
        let now = self.desk.app.env.clock.monotonic();
        if now.0 - self.asked_at.0 < PERMIT_AGE_US_MAX {
            return Ok(());
        }
        if let Some(grant) = &self.caller.grant {
            let engine = &self.desk.app.engine;
            if grant.exp <= engine.now() {
                return Err(ApiError::of(ErrorCode::ExpiredToken).into());
            }
            if engine.is_revoked(&grant.iss, &grant.jti)? {
                return Err(ApiError::of(ErrorCode::RevokedToken).into());
            }
        }
        let next = ExportReach::ask(self.desk.clone(), self.caller.clone(), plan).await?;
        if !next.permit.includes(&self.permit) {
            let text = "A scope of the export may not be read any more; ask for a new export.";
            return Err(ApiError::new(ErrorCode::PolicyDenied, text).into());
        }
        *self = next;
        Ok(())
    }

    /// Where permission is asked for.
    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Who exports.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// How far they may read.
    pub(crate) fn permit(&self) -> &Arc<ReadPermit> {
        &self.permit
    }

    /// The leave to read concepts.
    pub(super) fn concepts(&self) -> Option<&Arc<MayUnderstand>> {
        self.concepts.as_ref()
    }
}
