//! Recall: a question to all layers at once.
//!
//! Events are searched, because every other record stands on them: what is derived is reached through
//! the events that were found, and seen with the knowledge that is asked with. So nothing can be recalled
//! whose evidence cannot, and a question about the past gets the records of that time.
//!
//! The stages are modules in the order in which they run; `lamina_core::read` has the decisions of each under the same
//! name.

pub(in crate::read) mod plan;
mod retrieve;
mod expand;
mod rerank;
mod score;
mod supersede;
mod abstain;
mod chain;
mod derived;
mod pack;

mod alone;
mod authority;
mod authors;
mod excerpt;
mod fates;
mod feedback;
mod gate;
mod profile;
mod recalled;
pub(in crate::read) mod standing;
pub(crate) mod text_cache;
mod variants;
mod verbatim;

use std::sync::Arc;
use std::time::Duration;

use lamina_core::policy::Permit;
use lamina_core::read::abstain::Certainty;
use lamina_core::read::plan::plan;
use lamina_core::read::tuning::Tuning;
use lamina_store::view::remembering;
use lamina_types::Micros;
use lamina_types::capability::UnderstandingRead;
use lamina_types::recall::Recall;

use crate::derive::echo::Shows;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

pub use alone::{RecallAlone, RecallOver};
pub use authority::StandingOffices;
use authors::AuthorReader;
pub use chain::{FactChain, HopRecord};
pub use excerpt::{Excerpt, Fragment};
pub use fates::Knowledge;
pub use pack::Cited;
use plan::Frame;
pub use recalled::{Considered, Dropped, Ranked, Recalled, Trail};
pub use standing::Applies;
use variants::Finding;
pub use verbatim::VERBATIM_MAX;

/// How long a recall waits for the index to have everything that was answered.
pub(in crate::read) const INDEX_WAIT_MAX: Duration = Duration::from_secs(1);

/// What a recall takes: how far it reaches, and whether concepts may be read.
#[derive(Debug)]
pub struct MayRecall {
    /// Which scopes.
    pub reach: Arc<ReadPermit>,
    /// Leave to read concepts; without it the layer stays empty.
    pub concepts: Option<Permit<UnderstandingRead>>,
    /// Who may write instructions for others.
    pub standing: StandingOffices,
}

impl Engine {
    /// What is known about a question.
    pub async fn recall(&self, may: MayRecall, question: Recall) -> Result<Recalled, Error> {
        let answered = self.inner.caught_up().await;
        if let Some(search) = &self.inner.search {
            // An index that is made again takes a while; then events are found by reading.
            search.reached(answered, INDEX_WAIT_MAX).await;
        }
        self.blocking(move |inner| {
            remembering(|| inner.recall(&may, &question, answered, &Tuning::USUAL))
        })
        .await
    }
}

impl Inner {
    pub(in crate::read) fn recall(
        &self,
        may: &MayRecall,
        question: &Recall,
        answered: u64,
        tuning: &Tuning,
    ) -> Result<Recalled, Error> {
        let mut trail = Trail::default();
        let mut watch = Watch::start(self);
        let plan = plan(&question.query);
        let frame = self.frame(may, question, plan, answered)?;
        trail.plan_us = watch.lap();
        let floor = question.floor.unwrap_or(lamina_core::read::abstain::FLOOR);
        let watched = (&mut trail, &mut watch);
        let found = self.find_all((may, answered, floor), &frame, tuning, watched)?;
        let Finding { hits: mut found, mut order, failed, mut relevance } = found;
        let chain = self.chain(&frame)?;
        if let Some(chain) = &chain
            && self.lead_with_chain(&frame, chain, (&mut found, &mut order))?
        {
            relevance = relevance.max(chain.coverage);
        }
        let abstains = !question.query.is_empty() && (relevance < floor || order.is_empty());
        let standing::Applying { found: standing, tokens, over } =
            self.applying(&frame, &may.standing)?;
        let mut recalled = Recalled {
            plan,
            recorded: frame.recorded,
            knowledge: Some(self.knowledge(&frame)),
            asker: Some(may.reach.caller().actor.clone()),
            is_usual_size: question.tokens_max.is_none()
                && question.layer_limits.iter().all(Option::is_none),
            window: frame.window,
            relevance,
            why_not: abstains
                .then(|| self.why_not(&frame, &order, (relevance, floor)))
                .transpose()?,
            certainty: Certainty::of(if order.is_empty() { 0.0 } else { relevance }, floor),
            profile: self.profile(&frame)?,
            chain,
            considered: found.considered(&order),
            unindexed: found.unindexed
                || self.search.as_ref().is_none_or(|search| search.found.is_stopped()),
            unembedded: found.unembedded,
            embedded_by: found.further.as_ref().map(|(model, _)| model.clone()),
            failed,
            standing,
            tokens,
            ..Recalled::nothing(plan, frame.recorded)
        };
        if !abstains {
            let derived = self.derived(may, &frame, tuning, &found, &order)?;
            trail.derived = derived.count;
            trail.derive_us = watch.lap();
            self.pack(&frame, &found, &order, derived, &mut recalled)?;
            recalled.refuted = self.refuted(&self.knowledge(&frame), &recalled.beliefs)?;
            gate::drop_hidden_rivals(&mut recalled, &frame);
            standing::but_answers(&mut recalled);
        } else {
            self.pack_closest(&frame, &found, &order, &mut recalled)?;
        }
        standing::but_over(&mut recalled, &over);
        recalled.authors = AuthorReader::new(self, &frame).read_pack(&recalled)?;
        recalled.traversed = self.walked(&frame, &recalled)?;
        recalled.damaged = std::mem::take(&mut *frame.damaged.lock());
        trail.pack_us = watch.lap();
        recalled.trail = trail;
        self.showed(&frame, &recalled);
        Ok(recalled)
    }
}

impl Inner {
    /// What is found for one way to ask, in its order.
    fn find(
        &self,
        frame: &Frame<'_>,
        tuning: &Tuning,
        (trail, watch): (&mut Trail, &mut Watch<'_>),
    ) -> Result<Finding, Error> {
        let (mut hits, failed) = self.retrieve(frame, tuning, trail)?;
        trail.search_us += watch.lap();
        self.expand(frame, tuning, &mut hits, trail)?;
        self.rerank(frame, tuning, &mut hits)?;
        trail.expand_us += watch.lap();
        self.score(frame, tuning, &mut hits)?;
        let order = self.supersede(frame, tuning, &mut hits)?;
        trail.rank_us += watch.lap();
        let relevance = hits.relevance(&order);
        Ok(Finding { hits, order, failed, relevance })
    }

    /// Remembers what was shown, so that it is recognised when it is written back.
    fn showed(&self, frame: &Frame<'_>, recalled: &Recalled) {
        let (tenant, scope) = (frame.tenant, &frame.question.scope);
        let caller = &frame.reach.caller().actor;
        let shows = Shows { tenant, scope, caller, at: frame.now };
        let facts = recalled.facts.iter().flat_map(|fact| fact.record.supports.iter().copied());
        let episodes = recalled.episodes.iter().flat_map(|one| one.record.events.iter().copied());
        let events = recalled.events.iter().map(|event| event.record.id);
        let standing = recalled.standing.iter().map(|one| one.id);
        self.shared.served.note(&shows, events.chain(standing).chain(facts).chain(episodes));
    }
}

/// Measures steps.
struct Watch<'a> {
    inner: &'a Inner,
    last: Micros,
}

impl<'a> Watch<'a> {
    fn start(inner: &'a Inner) -> Watch<'a> {
        Watch { inner, last: inner.env.clock.monotonic() }
    }

    /// Microseconds since the last step.
    fn lap(&mut self) -> i64 {
        let now = self.inner.env.clock.monotonic();
        let step = now.0 - self.last.0;
        self.last = now;
        step
    }
}

#[cfg(test)]
pub(in crate::read) mod tests;
