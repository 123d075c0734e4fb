//! The records of a scope at a point, read page by page and kept whole within a bound.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_api::v1::exports::ExportLayer;
use lamina_engine::read::beliefs::BeliefRecord;
use lamina_engine::read::episodes::EpisodeRecord;
use lamina_engine::read::export::{ExportPageStart, ExportPoint};
use lamina_engine::read::facts::FactRecord;
use lamina_engine::read::understanding::ConceptRecord;
use lamina_portable::export::ExportRecord;
use lamina_portable::pam::BUNDLE_BYTES_MAX;
use lamina_types::capability::VocabularyRead;
use lamina_types::{EventId, EventRecord};

use super::super::reach::ExportReach;
use super::super::walk::ExportStop;
use super::super::{ExportPlan, records};
use super::too_large;

/// Memory of a record beside its words.
const RECORD_BYTES: u64 = 512;

/// The records of a scope.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) events: Vec<EventRecord>,
    pub(super) cancelled: BTreeSet<EventId>,
    /// Vocabularies, merges, decisions and declarations.
    pub(super) controls: Vec<ExportRecord>,
    pub(super) facts: Vec<FactRecord>,
    pub(super) beliefs: Vec<BeliefRecord>,
    pub(super) episodes: Vec<EpisodeRecord>,
    pub(super) concepts: Vec<ConceptRecord>,
    bytes: u64,
}

impl Records {
    fn count(&mut self, bytes: usize) -> Result<(), ExportStop> {
        self.bytes += bytes as u64 + RECORD_BYTES;
        if self.bytes > BUNDLE_BYTES_MAX { Err(too_large()) } else { Ok(()) }
    }
}

/// Reads everything that the plan asks for. Events are read in any case: they say what is private.
pub(super) async fn gather(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    point: &ExportPoint,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<Records, ExportStop> {
    let mut gatherer = Gatherer { reach, plan, point, records: Records::default() };
    gatherer.events(progress).await?;
    if plan.has(ExportLayer::Events) {
        gatherer.vocabularies().await?;
        gatherer.decisions().await?;
    }
    gatherer.facts().await?;
    gatherer.beliefs().await?;
    gatherer.episodes().await?;
    gatherer.concepts().await?;
    Ok(gatherer.records)
}

struct Gatherer<'a> {
    reach: &'a mut ExportReach,
    plan: &'a ExportPlan,
    point: &'a ExportPoint,
    records: Records,
}

impl Gatherer<'_> {
    async fn events(&mut self, progress: &(dyn Fn(u64) + Send + Sync)) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let cancelled = Arc::new(engine.export_cancelled(self.reach.permit(), self.point).await?);
        self.records.cancelled = cancelled.iter().map(|event| event.id).collect();
        let mut after = None;
        loop {
            self.reach.renew(self.plan).await?;
            let start = ExportPageStart { after, cancelled: Arc::clone(&cancelled) };
            let page = engine.export_events(self.reach.permit(), self.point, start).await?;
            for event in page.items {
                let origin = event.experience.origin.as_ref().map_or(0, String::len);
                self.records.count(event.experience.content.flattened_bytes() + origin)?;
                self.records.events.push(event);
            }
            progress(self.records.events.len() as u64);
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn vocabularies(&mut self) -> Result<(), ExportStop> {
        let (desk, caller) = (self.reach.desk().clone(), self.reach.caller().clone());
        let permit = desk.app.stack(&caller, None).await?.permit::<VocabularyRead>(&caller, None);
        let Ok(permit) = permit else { return Ok(()) };
        for record in desk.app.engine.vocabulary_list(&permit) {
            let scope = record.vocabulary.scope.as_ref();
            let is_here = scope.is_some_and(|scope| self.reach.permit().covers(scope));
            if is_here && record.created <= self.point.recorded {
                self.records.controls.extend(records::vocabulary(&record));
            }
        }
        Ok(())
    }

    async fn decisions(&mut self) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        self.reach.renew(self.plan).await?;
        let merges = engine.export_merges(self.reach.permit(), self.point).await?;
        self.records.controls.extend(merges.iter().map(records::merge));
        let mut before = None;
        loop {
            self.reach.renew(self.plan).await?;
            let permit = self.reach.permit();
            let (decided, next) = engine.export_decisions(permit, self.point, before).await?;
            self.records.controls.extend(decided.iter().filter_map(records::decision));
            before = next;
            if before.is_none() {
                break;
            }
        }
        self.reach.renew(self.plan).await?;
        let declared = engine.export_declarations(self.reach.permit(), self.point).await?;
        self.records.controls.extend(declared.iter().map(records::declaration));
        Ok(())
    }

    async fn facts(&mut self) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let mut after = None;
        while self.plan.has(ExportLayer::Facts) {
            self.reach.renew(self.plan).await?;
            let page = engine.export_facts(self.reach.permit(), self.point, after).await?;
            for fact in page.items {
                self.records.count(0)?;
                self.records.facts.push(fact);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn beliefs(&mut self) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let mut after = None;
        while self.plan.has(ExportLayer::Beliefs) {
            self.reach.renew(self.plan).await?;
            let page = engine.export_beliefs(self.reach.permit(), self.point, after).await?;
            for belief in page.items {
                self.records.count(0)?;
                self.records.beliefs.push(belief);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn episodes(&mut self) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let mut after = None;
        while self.plan.has(ExportLayer::Episodes) {
            self.reach.renew(self.plan).await?;
            let page = engine.export_episodes(self.reach.permit(), self.point, after).await?;
            for episode in page.items {
                self.records.count(episode.summary.as_ref().map_or(0, String::len))?;
                self.records.episodes.push(episode);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    async fn concepts(&mut self) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let mut after = None;
        while self.plan.has(ExportLayer::Concepts) {
            self.reach.renew(self.plan).await?;
            let Some(may) = self.reach.concepts() else { break };
            let page = engine.export_concepts(may, self.point, after).await?;
            for concept in page.items {
                self.records.count(concept.summary.as_ref().map_or(0, String::len))?;
                self.records.concepts.push(concept);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }
}
