//! Concepts that a source names: rows with a label `concept:<name>` become events, from which a concept of
//! that name is synthesized when all rows are written.

use std::collections::{BTreeMap, BTreeSet};
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
/// Concepts of one import that are asked for by name.
const CONCEPTS_MAX: usize = 200;

/// The concepts that rows name, by scope.
#[derive(Debug, Default)]
pub(super) struct WantedConcepts {
    by_scope: BTreeMap<ScopePath, BTreeSet<String>>,
    count: usize,
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
        for label in &experience.context.labels {
            let Some(name) = label.strip_prefix(LABEL).filter(|name| !name.is_empty()) else {
                continue;
            };
            if self.count < CONCEPTS_MAX {
                let names = self.by_scope.entry(experience.scope.clone()).or_default();
                self.count += usize::from(names.insert(name.to_owned()));
            }
        }
    }
}

/// Asks for the concepts. The rows are written: a refusal leaves the concepts to the next consolidation.
pub(super) fn synthesize(app: &Arc<App>, caller: &Caller, wanted: WantedConcepts, handle: &Handle) {
    for (scope, topics) in wanted.by_scope {
        let asked = ask(app, caller, &scope, topics.into_iter().collect());
        if let Err(failure) = handle.block_on(asked) {
            let code = failure.error.code.as_str();
            tracing::info!(code, "the concepts of an import were not synthesized");
        }
    }
}

async fn ask(
    app: &Arc<App>,
    caller: &Caller,
    scope: &ScopePath,
    topics: Vec<String>,
) -> Result<(), Failure> {
    let desk = Desk { app: Arc::clone(app), record: Arc::new(Record::default()) };
    let permit = desk.permit::<UnderstandingSynthesize>(caller, Some(scope)).await?;
    let audit_id = app.engine.audit_id();
    let noted = Noted { audit_id, request_id: String::new(), note: String::new() };
    let asked = Synthesis { scope: scope.clone(), topics, force: false, idempotency_key: None };
    app.engine.synthesize(&permit, asked, &noted).await?;
    Ok(())
}
