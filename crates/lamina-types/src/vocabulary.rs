//! Controlled vocabularies: names that a tenant has agreed on for predicates or relations.

use crate::ScopePath;
use crate::layer::Cardinality;

/// A vocabulary, as it is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// What it is called.
    pub name: String,
    /// What its terms are.
    pub kind: VocabularyKind,
    /// What it is for.
    pub description: Option<String>,
    /// Where it is in force, with everything below; everywhere if there is none.
    pub scope: Option<ScopePath>,
    /// Predicates of facts.
    pub predicates: Vec<VocabularyTerm>,
    /// Relations between concepts.
    pub relations: Vec<VocabularyTerm>,
    /// Whatever the kind says.
    pub terms: Vec<VocabularyTerm>,
}

/// What the terms of a vocabulary are, where a list does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum VocabularyKind {
    /// Predicates of facts.
    #[default]
    Predicate = 0,
    /// Relations between concepts.
    Relation = 1,
}

/// One term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularyTerm {
    /// As it is stored.
    pub id: String,
    /// What people call it.
    pub label: Option<String>,
    /// What else they call it.
    pub aliases: Vec<String>,
    /// What it belongs with.
    pub category: Option<String>,
    /// What it means.
    pub definition: Option<String>,
    /// What its objects are; anything, if it does not say.
    pub datatype: Option<Datatype>,
    /// The only objects it can have; any, if there are none.
    pub values: Vec<String>,
    /// How many objects a subject has at a time, if that is declared.
    pub cardinality: Option<Cardinality>,
    /// Whether it is in use.
    pub active: bool,
    /// From when it is meant to be used, as submitted.
    pub valid_from: Option<String>,
    /// Until when, as submitted.
    pub valid_to: Option<String>,
    /// The term to use instead.
    pub replaced_by: Option<String>,
}

/// What the objects of a term are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Datatype {
    /// Words, or anything else that is no entity.
    String = 0,
    /// A whole number.
    Integer = 1,
    /// Somebody or something.
    Entity = 2,
}

impl VocabularyTerm {
    /// A term that says nothing but its id.
    pub fn new(id: String) -> VocabularyTerm {
        VocabularyTerm {
            id,
            label: None,
            aliases: Vec::new(),
            category: None,
            definition: None,
            datatype: None,
            values: Vec::new(),
            cardinality: None,
            active: true,
            valid_from: None,
            valid_to: None,
            replaced_by: None,
        }
    }
}

impl Vocabulary {
    /// The terms that name predicates.
    pub fn of_predicates(&self) -> impl Iterator<Item = &VocabularyTerm> {
        self.of(VocabularyKind::Predicate, &self.predicates)
    }

    /// The terms that name relations.
    pub fn of_relations(&self) -> impl Iterator<Item = &VocabularyTerm> {
        self.of(VocabularyKind::Relation, &self.relations)
    }

    fn of<'a>(
        &'a self,
        kind: VocabularyKind,
        list: &'a [VocabularyTerm],
    ) -> impl Iterator<Item = &'a VocabularyTerm> {
        let terms = if self.kind == kind { self.terms.as_slice() } else { &[] };
        list.iter().chain(terms)
    }
}
