//! How long events are kept in a scope and below it, as plain values.

use std::collections::BTreeMap;

use crate::scope::ScopePath;
use crate::time::Micros;

/// A day, in microseconds.
const DAY_US: i64 = 24 * 3_600 * 1_000_000;

/// How long something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keep {
    /// For good, unless a rule of a scope above says otherwise.
    Forever,
    /// So many days from when it was recorded.
    Days(u32),
}

impl Keep {
    /// For how long, in microseconds; `None` is for good.
    pub fn micros(self) -> Option<i64> {
        match self {
            Keep::Forever => None,
            Keep::Days(days) => Some(i64::from(days) * DAY_US),
        }
    }

    /// The shorter of two.
    pub fn shorter(self, other: Keep) -> Keep {
        match (self, other) {
            (Keep::Days(one), Keep::Days(other)) => Keep::Days(one.min(other)),
            (Keep::Days(days), Keep::Forever) | (Keep::Forever, Keep::Days(days)) => {
                Keep::Days(days)
            }
            (Keep::Forever, Keep::Forever) => Keep::Forever,
        }
    }
}

/// What is said about a scope and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The scope.
    pub scope: ScopePath,
    /// What holds for events of no source that is listed.
    pub keep: Keep,
    /// Days for events of a source: those with the label `source:NAME`.
    pub sources: BTreeMap<String, u32>,
}

/// What the rules come to in one scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasting {
    /// For events of no source that is listed.
    pub keep: Keep,
    /// For events of a source.
    pub sources: BTreeMap<String, Keep>,
}

impl Lasting {
    /// What holds in a scope: of its own rule and those of the scopes above the shortest, and without any the
    /// deployment's. A rule that says `Forever` is in place of the deployment's, and never of a shorter one.
    pub fn of<'a>(
        rules: impl Iterator<Item = &'a Rule> + Clone,
        scope: &ScopePath,
        deployment: Keep,
    ) -> Lasting {
        let here = rules.filter(|rule| rule.scope.contains(scope));
        let names = here.clone().flat_map(|rule| rule.sources.keys().cloned());
        let sources = names.map(|name| {
            let said = here.clone().map(|rule| match rule.sources.get(&name) {
                Some(days) => Keep::Days(*days),
                None => rule.keep,
            });
            let keep = said.reduce(Keep::shorter).unwrap_or(deployment);
            (name, keep)
        });
        let sources = sources.collect();
        let keep = here.clone().map(|rule| rule.keep).reduce(Keep::shorter);
        Lasting { keep: keep.unwrap_or(deployment), sources }
    }

    /// The shortest of all that it says; `None` if everything is kept for good.
    pub fn shortest_us(&self) -> Option<i64> {
        let all = std::iter::once(&self.keep).chain(self.sources.values());
        all.filter_map(|keep| keep.micros()).min()
    }

    /// The instant before which something must have been recorded to be past its time.
    pub fn before(keep: Keep, now: Micros) -> Option<Micros> {
        keep.micros().map(|us| now.plus(-us))
    }
}

#[cfg(test)]
mod tests;
