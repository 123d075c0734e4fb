//! Counting: right, wrong and missed, per category and in total.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Case;
use super::fact::Fact;

#[derive(Debug, Default, Clone, Copy)]
struct Count {
    lines: usize,
    right: usize,
    wrong: usize,
    missed: usize,
    /// Lines that must yield nothing, and those that did.
    negatives: usize,
    empty: usize,
}

#[derive(Debug, Default)]
pub(super) struct Score {
    categories: BTreeMap<String, Count>,
    findings: String,
}

impl Score {
    pub(super) fn add(&mut self, case: &Case, found: &[Fact]) {
        let count = self.categories.entry(case.category.clone()).or_default();
        count.lines += 1;
        let mut open: Vec<&Fact> = case.expect.iter().collect();
        let mut wrong: Vec<&Fact> = Vec::new();
        for fact in found {
            if let Some(at) = open.iter().position(|expected| expected.is_met_by(fact)) {
                open.remove(at);
                count.right += 1;
            } else if !case.optional.iter().any(|expected| expected.is_met_by(fact)) {
                wrong.push(fact);
            }
        }
        count.wrong += wrong.len();
        count.missed += open.len();
        if case.expect.is_empty() {
            count.negatives += 1;
            count.empty += usize::from(wrong.is_empty());
        }
        if !wrong.is_empty() || !open.is_empty() {
            let _ = writeln!(self.findings, "\n{} [{}] {}", case.id, case.category, case.text);
            for fact in open {
                let _ = writeln!(self.findings, "  missed  {fact}");
            }
            for fact in wrong {
                let _ = writeln!(self.findings, "  wrong   {fact}");
            }
        }
    }

    fn total(&self) -> Count {
        self.categories.values().fold(Count::default(), |sum, count| Count {
            lines: sum.lines + count.lines,
            right: sum.right + count.right,
            wrong: sum.wrong + count.wrong,
            missed: sum.missed + count.missed,
            negatives: sum.negatives + count.negatives,
            empty: sum.empty + count.empty,
        })
    }

    #[cfg(test)]
    pub(super) fn precision(&self) -> f64 {
        let total = self.total();
        share(total.right, total.right + total.wrong)
    }

    #[cfg(test)]
    pub(super) fn recall(&self) -> f64 {
        let total = self.total();
        share(total.right, total.right + total.missed)
    }

    #[cfg(test)]
    pub(super) fn negatives_empty(&self) -> f64 {
        let total = self.total();
        share(total.empty, total.negatives)
    }

    pub(super) fn table(&self) -> String {
        let mut text =
            String::from("category         lines  right  wrong missed  precision  recall  empty\n");
        let rows = self.categories.iter().map(|(name, count)| (name.as_str(), *count));
        for (name, count) in rows.chain([("total", self.total())]) {
            let empty = if count.negatives == 0 {
                String::from("-")
            } else {
                format!("{}/{}", count.empty, count.negatives)
            };
            let _ = writeln!(
                text,
                "{name:<16} {:>5} {:>6} {:>6} {:>6}  {:>9.3}  {:>6.3}  {empty}",
                count.lines,
                count.right,
                count.wrong,
                count.missed,
                share(count.right, count.right + count.wrong),
                share(count.right, count.right + count.missed),
            );
        }
        text
    }

    pub(super) fn findings(&self) -> &str {
        &self.findings
    }
}

/// A part of a whole; nothing of nothing is all.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}
