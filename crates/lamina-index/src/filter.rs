//! What a question may see. Filters are part of the query: a document that does not pass is neither
//! ranked nor counted, so a filter never costs a hit that would have passed it.

use lamina_types::{RecordedAt, ScopePath, ValidAt};

use crate::document::{LabelHash, Layers, RecordKey};

/// Which documents a question is about.
#[derive(Clone)]
pub struct Filter<'a> {
    /// The scopes that are read; a document counts if any of these reaches it...
    pub within: Vec<Reach>,
    /// ...and none of these does.
    pub except: Vec<Reach>,
    /// The layers that are read.
    pub layers: Layers,
    /// Of every inner list the document has at least one label.
    pub labels: Vec<Vec<LabelHash>>,
    /// Its time in the world overlaps this half-open span.
    pub valid: Option<(ValidAt, ValidAt)>,
    /// It was recorded at or before this instant.
    pub recorded_until: Option<RecordedAt>,
    /// The last word, asked before anything is counted.
    pub visible: Option<&'a (dyn Fn(&Candidate) -> bool + Sync)>,
}

impl std::fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter")
            .field("within", &self.within)
            .field("except", &self.except)
            .field("layers", &self.layers)
            .field("labels", &self.labels.len())
            .field("valid", &self.valid)
            .field("recorded_until", &self.recorded_until)
            .finish_non_exhaustive()
    }
}

impl Filter<'_> {
    /// Everything in one scope, itself only.
    pub fn exact(scope: ScopePath) -> Filter<'static> {
        Filter::within(vec![Reach::Exact(scope)])
    }

    /// Everything in a scope and below it.
    pub fn subtree(scope: ScopePath) -> Filter<'static> {
        Filter::within(vec![Reach::Subtree(scope)])
    }

    /// Everything that these reach.
    pub fn within(within: Vec<Reach>) -> Filter<'static> {
        Filter {
            within,
            except: Vec::new(),
            layers: Layers::ALL,
            labels: Vec::new(),
            valid: None,
            recorded_until: None,
            visible: None,
        }
    }

    /// Whether the filter reaches this scope.
    pub(crate) fn reaches(&self, scope: &ScopePath) -> bool {
        self.within.iter().any(|reach| reach.holds(scope))
            && !self.except.iter().any(|reach| reach.holds(scope))
    }

    /// Whether a document with these labels passes.
    pub(crate) fn labelled(&self, labels: &[LabelHash]) -> bool {
        self.labels.iter().all(|any| any.iter().any(|label| labels.contains(label)))
    }

    /// Whether anything but scope, labels and layer has to be looked at.
    pub(crate) fn looks_inside(&self) -> bool {
        self.valid.is_some() || self.recorded_until.is_some() || self.visible.is_some()
    }

    /// Whether this candidate passes, scope and labels aside.
    pub(crate) fn passes(&self, candidate: &Candidate) -> bool {
        self.layers.holds(candidate.key.layer)
            && self.recorded_until.is_none_or(|until| candidate.recorded <= until)
            && self.valid.is_none_or(|(from, until)| {
                candidate.valid_from < until
                    && candidate.valid_until.is_none_or(|ended| {
                        // An instant counts as itself: an event has no duration of its own.
                        ended > from || (ended == candidate.valid_from && ended == from)
                    })
            })
            && self.visible.is_none_or(|visible| visible(candidate))
    }
}

/// How far a read goes from a scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// This scope only.
    Exact(ScopePath),
    /// This scope and everything below it.
    Subtree(ScopePath),
}

impl Reach {
    /// Whether it reaches this scope.
    pub fn holds(&self, scope: &ScopePath) -> bool {
        match self {
            Reach::Exact(path) => path == scope,
            Reach::Subtree(path) => path.contains(scope),
        }
    }
}

/// What is known of a document before its words are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Which one it is.
    pub key: RecordKey,
    /// Of the entry that made it.
    pub offset: u64,
    /// When this database learned of it.
    pub recorded: RecordedAt,
    /// From when on it is so, or when it happened.
    pub valid_from: ValidAt,
    /// Until when it is so.
    pub valid_until: Option<ValidAt>,
}
