//! How concepts are related: over which edges, and what vocabularies call their relations.

use lamina_core::derive::concepts::explore::{self, Reached};
use lamina_core::derive::concepts::{Edge, Relation};
use lamina_types::{ConceptId, RecordedAt};

use super::words::Words;
use super::{MayUnderstand, RelatedConcept};
use crate::Error;
use crate::derive::concepts::graph::Stored;
use crate::derive::concepts::things;
use crate::engine::Inner;

/// What a vocabulary calls a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRelation {
    /// The relation.
    pub relation: Relation,
    /// What it is called.
    pub name: String,
    /// By which vocabulary.
    pub vocabulary: String,
}

impl Inner {
    pub(super) fn related(
        &self,
        may: &MayUnderstand,
        id: ConceptId,
        relation: Option<&str>,
        depth: u32,
        limit: usize,
    ) -> Result<Option<Vec<RelatedConcept>>, Error> {
        let tenant = may.concepts.caller().tenant;
        let (row, _) = self.concept_named(tenant, id)?;
        self.covered(may, tenant, row.scope)?;
        let relation = match relation {
            None => None,
            Some(name) => match self.relation_named(tenant, row.scope, name)? {
                None => return Ok(None),
                known => known,
            },
        };
        let graph = Stored::new(&*self.views, tenant, row.scope);
        let reached = explore::related(&graph, row.concept.id, relation, depth, limit);
        let reached: Vec<Reached> = graph.finish(reached)?;
        let mut words = Words::new(self, tenant);
        let now = RecordedAt(lamina_types::Micros(i64::MAX));
        let mut all = Vec::new();
        for Reached { id, depth, by, weight } in reached {
            let Some(seen) = self.concept_at(tenant, id, now)? else { continue };
            let known = self.known_at(now);
            let reading = self.reading(tenant, &seen, known)?;
            let concept = self.concept_record(&mut words, &seen, reading, known)?;
            let relation = self.relations_of(tenant, row.scope, &[by])?;
            let relation = relation.into_iter().find(|one| one.relation == by.relation);
            all.push(RelatedConcept { concept, depth, by, relation, weight });
        }
        Ok(Some(all))
    }

    /// The relation of a name: one that every tenant has, or one of a vocabulary in force.
    fn relation_named(
        &self,
        tenant: u32,
        scope: u64,
        name: &str,
    ) -> Result<Option<Relation>, Error> {
        if let Some(known) = Relation::DEFAULT.into_iter().find(|one| one.as_str() == Some(name)) {
            return Ok(Some(known));
        }
        let added = self.custom_relations(tenant, scope)?;
        Ok(added.into_iter().find(|one| one.name == name).map(|one| one.relation))
    }

    /// What vocabularies call the relations of edges that not every tenant has.
    pub(super) fn relations_of(
        &self,
        tenant: u32,
        scope: u64,
        edges: &[Edge],
    ) -> Result<Vec<NamedRelation>, Error> {
        if !edges.iter().any(|edge| matches!(edge.relation, Relation::Custom(_))) {
            return Ok(Vec::new());
        }
        self.custom_relations(tenant, scope)
    }

    /// The relations that vocabularies add in a scope.
    pub(super) fn custom_relations(
        &self,
        tenant: u32,
        scope: u64,
    ) -> Result<Vec<NamedRelation>, Error> {
        let keyed = self.keyed(tenant)?;
        let scope = self.scope_path(tenant, scope)?;
        let known = self.admin.standing.vocabularies(tenant);
        let named = known.relations(&scope).into_iter().map(|(vocabulary, name)| {
            let mac = keyed.mac(things::RELATION, &[name.as_bytes()]);
            let relation = *mac.first_chunk().expect("32 bytes have a first half");
            NamedRelation {
                relation: Relation::Custom(relation),
                name: name.to_owned(),
                vocabulary: vocabulary.to_owned(),
            }
        });
        Ok(named.collect())
    }
}
