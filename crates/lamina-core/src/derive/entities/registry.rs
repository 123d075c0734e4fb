//! Names, possessions and merges, with their history.
//!
//! A row is opened by an operation and closed by another, and both are dated; nothing is moved or
//! deleted. A merge forwards one id to another and leaves the names where they are, so that taking it
//! back gives exactly what was there before. Names are keyed hashes here: a view holds no words.

use std::collections::BTreeSet;

use lamina_types::{EntityId, RecordedAt};

use crate::derive::facts::{AssertionId, ValueKey};

/// Something recorded about entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Statement {
    /// It is called so.
    Name {
        /// What.
        entity: EntityId,
        /// How: a keyed hash of the folded name.
        name: ValueKey,
    },
    /// It is known as somebody's.
    Link {
        /// Whose.
        owner: EntityId,
        /// In which relation: a keyed hash of the folded relation.
        relation: ValueKey,
        /// What.
        entity: EntityId,
    },
    /// Two ids are of one thing.
    Merge {
        /// The one that forwards.
        from: EntityId,
        /// The one that stays.
        into: EntityId,
    },
}

/// A statement and when it was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// What is stated.
    pub statement: Statement,
    /// The operation that opened it.
    pub by: AssertionId,
    /// Since when it is known.
    pub recorded_from: RecordedAt,
    /// Until when.
    pub recorded_to: Option<RecordedAt>,
    /// The operation that closed it.
    pub closed_by: Option<AssertionId>,
}

/// Something that changes what is known about entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Where it comes from.
    pub source: AssertionId,
    /// When it was recorded.
    pub recorded: RecordedAt,
    /// What it does.
    pub what: What,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// States something.
    State(Statement),
    /// A name belongs to another entity than was thought: what is called so from now on is that one.
    Separate {
        /// The name.
        name: ValueKey,
        /// The entity that loses it.
        from: EntityId,
        /// The entity that gets it.
        to: EntityId,
    },
    /// Takes back everything that an earlier operation did: splits what it merged, forgets what it
    /// named, gives back what it separated.
    Undo(AssertionId),
}

/// What is known about some entities. A view loads the rows that concern a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registry {
    rows: Vec<Row>,
}

impl Registry {
    /// With these rows.
    pub fn new(rows: Vec<Row>) -> Registry {
        Registry { rows }
    }

    /// All rows, also closed ones.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Applies an operation. Returns the rows that it opened or closed, as they are now.
    pub fn apply(&mut self, operation: &Operation) -> Vec<Row> {
        let changed = match operation.what {
            What::State(statement) => self.state(statement, operation).into_iter().collect(),
            What::Separate { name, from, to } => {
                let lost = self.close(operation, |row| {
                    row.statement == Statement::Name { entity: from, name }
                });
                let gained = match lost.is_empty() {
                    true => None,
                    false => self.state(Statement::Name { entity: to, name }, operation),
                };
                lost.into_iter().chain(gained).collect()
            }
            What::Undo(source) => self.undo(source, operation),
        };
        self.check();
        changed
    }

    /// The entity that an id stands for, as known at an instant.
    pub fn canonical(&self, id: EntityId, at: RecordedAt) -> EntityId {
        let mut id = id;
        // Merges join different entities only, so that following them ends.
        for _ in 0..=self.rows.len() {
            let next = self.rows.iter().filter(|row| row.is_current(at)).find_map(|row| match row
                .statement
            {
                Statement::Merge { from, into } if from == id => Some(into),
                _ => None,
            });
            match next {
                Some(into) => id = into,
                None => break,
            }
        }
        id
    }

    /// Every entity that is called so.
    pub fn named(&self, name: ValueKey, at: RecordedAt) -> BTreeSet<EntityId> {
        let current = self.rows.iter().filter(|row| row.is_current(at));
        current
            .filter_map(|row| match row.statement {
                Statement::Name { entity, name: its } if its == name => {
                    Some(self.canonical(entity, at))
                }
                _ => None,
            })
            .collect()
    }

    /// Everything that an entity is called.
    pub fn names(&self, id: EntityId, at: RecordedAt) -> BTreeSet<ValueKey> {
        let id = self.canonical(id, at);
        let current = self.rows.iter().filter(|row| row.is_current(at));
        current
            .filter_map(|row| match row.statement {
                Statement::Name { entity, name } if self.canonical(entity, at) == id => Some(name),
                _ => None,
            })
            .collect()
    }

    /// What is known as the owner's under a relation.
    pub fn held(&self, owner: EntityId, relation: ValueKey, at: RecordedAt) -> BTreeSet<EntityId> {
        let owner = self.canonical(owner, at);
        let current = self.rows.iter().filter(|row| row.is_current(at));
        current
            .filter_map(|row| match row.statement {
                Statement::Link { owner: its, relation: under, entity }
                    if under == relation && self.canonical(its, at) == owner =>
                {
                    Some(self.canonical(entity, at))
                }
                _ => None,
            })
            .collect()
    }

    fn state(&mut self, statement: Statement, operation: &Operation) -> Option<Row> {
        let statement = match statement {
            // The ends of the chains are joined, so that an id forwards once and never in a circle.
            Statement::Merge { from, into } => {
                let from = self.canonical(from, operation.recorded);
                let into = self.canonical(into, operation.recorded);
                if from == into {
                    return None;
                }
                Statement::Merge { from, into }
            }
            other => other,
        };
        let is_known = |row: &Row| row.statement == statement && row.recorded_to.is_none();
        if self.rows.iter().any(is_known) {
            return None;
        }
        let row = Row {
            statement,
            by: operation.source,
            recorded_from: operation.recorded,
            recorded_to: None,
            closed_by: None,
        };
        self.rows.push(row);
        Some(row)
    }

    fn close(&mut self, operation: &Operation, is_it: impl Fn(&Row) -> bool) -> Vec<Row> {
        let mut closed = Vec::new();
        for row in self.rows.iter_mut().filter(|row| row.recorded_to.is_none()) {
            if is_it(row) {
                row.recorded_to = Some(operation.recorded);
                row.closed_by = Some(operation.source);
                closed.push(*row);
            }
        }
        closed
    }

    fn undo(&mut self, source: AssertionId, operation: &Operation) -> Vec<Row> {
        let lost: Vec<Statement> = self
            .rows
            .iter()
            .filter(|row| row.closed_by == Some(source))
            .map(|row| row.statement)
            .collect();
        let mut changed = self.close(operation, |row| row.by == source);
        for statement in lost {
            changed.extend(self.state(statement, operation));
        }
        changed
    }

    /// An id forwards to at most one other.
    fn check(&self) {
        let forwarding = self.rows.iter().filter(|row| row.recorded_to.is_none());
        let forwarding: Vec<EntityId> = forwarding
            .filter_map(|row| match row.statement {
                Statement::Merge { from, .. } => Some(from),
                _ => None,
            })
            .collect();
        let distinct: BTreeSet<&EntityId> = forwarding.iter().collect();
        assert_eq!(distinct.len(), forwarding.len(), "an id forwards to one other");
    }
}

impl Row {
    /// Whether it is known at an instant.
    pub fn is_current(&self, at: RecordedAt) -> bool {
        self.recorded_from <= at && self.recorded_to.is_none_or(|to| at < to)
    }
}

/// "My wife is Sara": what was known as the owner's without a name turns out to be what has one.
pub fn identify(
    registry: &Registry,
    owner: EntityId,
    relation: ValueKey,
    named: EntityId,
    at: RecordedAt,
) -> Vec<What> {
    let named = registry.canonical(named, at);
    let held = registry.held(owner, relation, at);
    // Only a lone nameless one can be meant: somebody with a name is somebody else.
    let nameless: Vec<EntityId> =
        held.iter().copied().filter(|id| registry.names(*id, at).is_empty()).collect();
    let merge = match nameless.as_slice() {
        [one] if *one != named => Some(What::State(Statement::Merge { from: *one, into: named })),
        _ => None,
    };
    let link = What::State(Statement::Link { owner, relation, entity: named });
    merge.into_iter().chain((!held.contains(&named)).then_some(link)).collect()
}
