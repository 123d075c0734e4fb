//! The terms of a store, from a request.

use lamina_api::v1::exports::{ExportHistory, ExportOrder};
use lamina_api::{ApiError, time};
use lamina_portable::export::ExportFormat;
use lamina_portable::pam::{PamExportId, TermsTag};
use lamina_types::{ErrorCode, Micros, RecordedAt, ScopeView};

use super::super::ExportPlan;
use super::{PamBase, PamHistory, PamTerms};

/// Time, chance and tenant of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PamClock {
    pub(crate) now: Micros,
    pub(crate) draw: [u8; 4],
    pub(crate) tenant: u32,
}

/// The terms of a store; `None` for other formats, which take none of its fields.
pub(crate) fn pam_terms(
    order: &ExportOrder,
    plan: &ExportPlan,
    clock: PamClock,
) -> Result<Option<PamTerms>, ApiError> {
    if plan.format != ExportFormat::Pam {
        for (field, is_given) in [
            ("base", order.base.is_some()),
            ("history", order.history.is_some()),
            ("embeddings", order.embeddings.is_some()),
        ] {
            if is_given {
                return Err(ApiError::invalid_shape(field, "belongs to the format `pam`"));
            }
        }
        return Ok(None);
    }
    let history = match order.history {
        None | Some(ExportHistory::Current) => PamHistory::Current,
        Some(ExportHistory::Full) => PamHistory::Full,
    };
    let view = if plan.view == ScopeView::Descend { "descend" } else { "local" };
    let layers: Vec<&str> = plan.layers.iter().map(|layer| layer.as_str()).collect();
    let terms = format!("{view} {} {history:?}", layers.join(","));
    let tenant = clock.tenant.to_string();
    let tag = |is_full| TermsTag {
        tenant: &tenant,
        scope: plan.point.scope.as_str(),
        terms: &terms,
        is_full,
    };
    let base = order.base.as_deref().map(|text| read_base(text, &tag(true))).transpose()?;
    if base.as_ref().is_some_and(|base| base.since > plan.point.recorded) {
        let reason = "lies behind the point of the export";
        return Err(ApiError::at(ErrorCode::InvalidTimestamp, "base", reason));
    }
    let export_id = PamExportId::new(plan.point.recorded.0, clock.draw).print(&tag(base.is_none()));
    let has_embeddings = order.embeddings == Some(true);
    Ok(Some(PamTerms { export_id, exported_at: clock.now, base, history, has_embeddings }))
}

/// The base of a delta: a full export of the same terms, or a time.
fn read_base(text: &str, tag: &TermsTag<'_>) -> Result<PamBase, ApiError> {
    if let Some(id) = PamExportId::parse(text, tag) {
        return Ok(PamBase { export_id: Some(text.to_owned()), since: RecordedAt(id.recorded) });
    }
    match time::parse(text) {
        Ok(since) => Ok(PamBase { export_id: None, since: RecordedAt(since) }),
        Err(_) => {
            let reason = "is neither a time nor the export_id of a full export of this scope with the \
                          same view, layers and history";
            Err(ApiError::invalid_shape("base", reason))
        }
    }
}
