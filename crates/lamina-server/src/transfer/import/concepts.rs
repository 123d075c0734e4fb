//! Concepts that a source names: rows with a label `concept:<name>` become events, and each name is a
//! concept of its own once its episodes are sealed. That is done when all rows are written.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_core::policy::Caller;
use lamina_engine::Noted;
use lamina_engine::write::understanding::Synthesis;
use lamina_portable::foreign::Format;
use lamina_types::capability::UnderstandingSynthesize;
use lamina_types::{Experience, ScopePath};
use tokio::runtime::Handle;

use super::envelope::RowRules;
use crate::http::App;
use crate::http::call::Desk;
use crate::http::failure::Failure;
use crate::http::record::Record;

const LABEL: &str = "concept:";

/// The scopes with rows that name concepts.
#[derive(Debug, Default)]
pub(super) struct WantedConcepts {
    scopes: BTreeSet<ScopePath>,
}

impl WantedConcepts {
    /// Notes the concepts that a row names.
    pub(super) fn note(&mut self, experience: &Experience, rules: &RowRules) {
        let wanted = match rules.format {
            Format::Mem0 => rules.options.map_categories_to.as_deref(),
            Format::Letta => rules.options.map_core_blocks_to.as_deref(),
            _ => None,
        };
        if wanted.is_some_and(|wanted| wanted != "understanding") {
            return;
        }
        let names = |label: &String| label.strip_prefix(LABEL).is_some_and(|name| !name.is_empty());
        if experience.context.labels.iter().any(names) {
            self.scopes.insert(experience.scope.clone());
        }
    }
}

/// Asks for the concepts. The rows are written: a refusal leaves the concepts to the next consolidation.
pub(super) fn synthesize(app: &Arc<App>, caller: &Caller, wanted: WantedConcepts, handle: &Handle) {
    for scope in wanted.scopes {
        let asked = ask(app, caller, &scope);
        if let Err(failure) = handle.block_on(asked) {
            let code = failure.error.code.as_str();
            tracing::info!(code, "the concepts of an import were not synthesized");
        }
    }
}

async fn ask(app: &Arc<App>, caller: &Caller, scope: &ScopePath) -> Result<(), Failure> {
    let desk = Desk { app: Arc::clone(app), record: Arc::new(Record::default()) };
    let permit = desk.permit::<UnderstandingSynthesize>(caller, Some(scope)).await?;
    let audit_id = app.engine.audit_id();
    let noted = Noted { audit_id, request_id: String::new(), note: String::new() };
    let topics = Vec::new();
    let asked = Synthesis { scope: scope.clone(), topics, force: false, idempotency_key: None };
    app.engine.synthesize(&permit, asked, &noted).await?;
    Ok(())
}
