//! Exports: a plan, the walk that makes its bytes, and the jobs that are under way.
//!
//! Nothing of an export is stored. A job remembers what was asked for and the pinned point; its bytes are
//! made while they are sent, as often as somebody fetches them.

#[cfg(feature = "aegx")]
mod evidence;
mod evidence_terms;
pub(crate) mod format;
pub(crate) mod jobs;
pub(crate) mod output;
pub(crate) mod pam;
mod reach;
mod records;
pub(crate) mod send;
mod log_lines;
pub(crate) mod session;
mod signer;
mod terms;
mod walk;

use lamina_api::v1::exports::ExportLayer;
use lamina_engine::read::export::ExportPoint;
use lamina_portable::export::ExportFormat;
use lamina_types::ScopeView;

pub(crate) use evidence_terms::{EvidenceTerms, evidence_terms};
pub(crate) use output::{Compression, PieceSender};
pub(crate) use reach::ExportReach;
pub(crate) use records::event as event_line;
pub(crate) use session::{PlannedSignature, SessionPlan};
pub(crate) use signer::{ExportSigner, KEY_BYTES_MAX, signature_inputs};
pub(crate) use terms::object_value;
pub(crate) use walk::{ExportStop, ExportSummary, walk};

/// What is exported.
#[derive(Debug, Clone)]
pub(crate) struct ExportPlan {
    /// The scope and the pinned point.
    pub(crate) point: ExportPoint,
    /// How far it reaches.
    pub(crate) view: ScopeView,
    /// The format.
    pub(crate) format: ExportFormat,
    /// The terms of a portable memory store.
    pub(crate) pam: Option<pam::PamTerms>,
    /// The layers, in the order of an export.
    pub(crate) layers: Vec<ExportLayer>,
    /// How the scope leaves as a whole session, for the formats that are one.
    pub(crate) session: Option<Box<SessionPlan>>,
    /// The terms of a bundle of evidence.
    #[cfg_attr(not(feature = "aegx"), expect(dead_code, reason = "no format reads it"))]
    pub(crate) evidence: Option<EvidenceTerms>,
}

impl ExportPlan {
    /// Whether a layer is in it.
    pub(crate) fn has(&self, layer: ExportLayer) -> bool {
        self.layers.contains(&layer)
    }
}
