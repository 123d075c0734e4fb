//! What was put and is not committed yet, searchable at once.
//!
//! A commit takes tens of milliseconds, so documents gather here and are compared one by one. The same
//! values that are searched here are handed to tantivy: a document means the same in both places.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_types::ScopePath;

use super::schema::Numbers;
use crate::analyze;
use crate::document::{Document, LabelHash};
use crate::filter::Filter;

/// A document whose text has become terms.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) numbers: Numbers,
    pub(super) scope: ScopePath,
    pub(super) labels: Vec<LabelHash>,
    /// Sorted, each with how often it occurs.
    pub(super) terms: Vec<(Box<str>, u32)>,
}

impl Prepared {
    /// The parts of a document.
    pub(super) fn of(document: &Document) -> Vec<Arc<Prepared>> {
        let parts = document.candidates().map(|(candidate, part)| {
            let mut counts: HashMap<String, u32> = HashMap::new();
            let mut len = 0_u32;
            for term in analyze::terms(&part.text) {
                *counts.entry(term).or_default() += 1;
                len = len.saturating_add(1);
            }
            let mut terms: Vec<(Box<str>, u32)> =
                counts.into_iter().map(|(term, count)| (term.into_boxed_str(), count)).collect();
            terms.sort_unstable();
            Arc::new(Prepared {
                numbers: Numbers { len, candidate },
                scope: document.scope.clone(),
                labels: document.labels.clone(),
                terms,
            })
        });
        parts.collect()
    }

    /// Whether a question with this filter may see it.
    pub(super) fn passes(&self, filter: &Filter<'_>) -> bool {
        filter.reaches(&self.scope)
            && filter.labelled(&self.labels)
            && filter.passes(&self.numbers.candidate)
    }

    /// How often any of these terms occurs.
    pub(super) fn count(&self, terms: &[String]) -> u32 {
        let count_of = |term: &String| {
            let at = self.terms.binary_search_by(|(found, _)| (**found).cmp(term.as_str()));
            at.ok().and_then(|at| self.terms.get(at)).map_or(0, |(_, count)| *count)
        };
        terms.iter().map(count_of).fold(0, u32::saturating_add)
    }
}
