//! The terms of a bundle of evidence, from a request.

use lamina_api::ApiError;
use lamina_api::v1::exports::ExportOrder;
use lamina_types::{Micros, ScopeView};

use super::ExportPlan;

/// The terms of a bundle of evidence.
#[derive(Clone)]
pub(crate) struct EvidenceTerms {
    /// When it was asked for.
    pub(crate) created_at: Micros,
    /// The key of pseudonyms, drawn once so that every fetch gives the same bytes.
    pub(crate) pseudonym_key: Option<[u8; 32]>,
}

/// Without the key.
impl std::fmt::Debug for EvidenceTerms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EvidenceTerms")
            .field("created_at", &self.created_at)
            .field("is_pseudonymous", &self.pseudonym_key.is_some())
            .finish()
    }
}

/// The terms of a bundle; `None` for other formats, which take none of its fields.
pub(crate) fn evidence_terms(
    order: &ExportOrder,
    plan: &ExportPlan,
    now: Micros,
    draw: [u8; 32],
) -> Result<Option<EvidenceTerms>, ApiError> {
    if !plan.format.is_evidence() {
        return match order.pseudonymous {
            Some(_) => {
                let reason = "is for bundles of evidence";
                Err(ApiError::invalid_shape("pseudonymous", reason))
            }
            None => Ok(None),
        };
    }
    if plan.view == ScopeView::Descend {
        let reason = "must be `local`: a bundle is the chain of one scope; export each for itself";
        return Err(ApiError::invalid_shape("view", reason));
    }
    let pseudonym_key = (order.pseudonymous == Some(true)).then_some(draw);
    Ok(Some(EvidenceTerms { created_at: now, pseudonym_key }))
}
