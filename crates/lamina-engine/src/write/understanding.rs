//! Asking for understanding to be made again: what is open is over, and concepts take in what they do
//! not know of yet. The work is the fold's; this says what is wanted, in pieces that it can take.

use std::ops::ControlFlow;

use lamina_core::derive::concepts::things::folded;
use lamina_core::policy::Permit;
use lamina_store::codec::control::Synthesize;
use lamina_store::entry::{Kind, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::NewEntry;
use lamina_types::capability::UnderstandingSynthesize;
use lamina_types::{JobId, ScopePath};
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::derive::concepts::key;
use crate::derive::concepts::things::THING;
use crate::derive::key::fact_key;
use crate::derive::read::{get, walk};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

/// Concepts that one entry asks to be synthesized again.
const CONCEPTS_PER_ENTRY: usize = 500;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synthesis {
    /// The scope.
    pub scope: ScopePath,
    /// Only concepts that gather one of these; empty: all.
    pub topics: Vec<String>,
    /// Also those that know of everything.
    pub force: bool,
    /// The same key again is the same job.
    pub idempotency_key: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthesized {
    /// The job.
    pub job: JobId,
    /// It was asked for before.
    pub replayed: bool,
}

impl Engine {
    /// Synthesizes a scope again. When this returns it is done.
    pub async fn synthesize(
        &self,
        permit: &Permit<UnderstandingSynthesize>,
        asked: Synthesis,
        noted: &Noted,
    ) -> Result<Synthesized, Error> {
        if !permit.covers(&asked.scope) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let job = JobId::mint(self.now(), lamina_env::rng::draw::<8>(&*self.inner.env.rng));
        let mut wanted = self.inner.wanted(permit, &asked, job)?;
        if let Some(known) = self.inner.job_of(tenant, &wanted)? {
            return Ok(Synthesized { job: known, replayed: true });
        }
        let Some(scope) = self.inner.views.scope_ordinal(tenant, &asked.scope)? else {
            // Nothing was ever written there: there is nothing to understand.
            return Ok(Synthesized { job, replayed: false });
        };
        self.settled(tenant, scope).await?;
        for (from, to) in self.inner.pieces(tenant, scope)? {
            (wanted.from, wanted.to) = (from, to);
            let entry = NewEntry {
                kind: Kind::Control,
                sub: control::UNDERSTANDING_SYNTHESIZED,
                tenant,
                scope,
                causes: Vec::new(),
                who: by(&self.inner.env, permit, noted),
                what: section(&*self.inner.env.rng, &wanted.encode()),
            };
            let (reply, answer) = oneshot::channel();
            self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await?;
        }
        self.inner.caught_up().await;
        // Two that came at once with one key: the first of them is the job of both.
        let known = self.inner.job_of(tenant, &wanted)?.unwrap_or(job);
        Ok(Synthesized { job: known, replayed: known != job })
    }
}

impl Inner {
    fn wanted(
        &self,
        permit: &Permit<UnderstandingSynthesize>,
        asked: &Synthesis,
        job: JobId,
    ) -> Result<Synthesize, Error> {
        let caller = permit.caller();
        let keyed = self.keyed(caller.tenant)?;
        let tag = |domain: &str, parts: &[&[u8]]| -> [u8; 16] {
            *keyed.mac(domain, parts).first_chunk().expect("32 bytes have a first half")
        };
        let topics = asked.topics.iter().filter_map(|topic| folded(topic));
        let topics: Vec<[u8; 16]> = topics.map(|topic| tag(THING, &[topic.as_bytes()])).collect();
        let key = asked.idempotency_key.as_ref().map(|key| {
            let mut body: Vec<&[u8]> = vec![asked.scope.as_str().as_bytes()];
            body.push(if asked.force { b"1" } else { b"0" });
            body.extend(asked.topics.iter().map(String::as_bytes));
            let actor = caller.actor.as_str().as_bytes();
            (tag("synthesis.key", &[actor, key.as_bytes()]), tag("synthesis.body", &body))
        });
        Ok(Synthesize { job, key, force: asked.force, topics, from: i64::MIN, to: i64::MAX })
    }

    /// The job that was asked for under the key before.
    fn job_of(&self, tenant: u32, wanted: &Synthesize) -> Result<Option<JobId>, Error> {
        let Some((key, body)) = &wanted.key else { return Ok(None) };
        let Some(row) = get(&self.views, Space::Records, &key::job(tenant, key))? else {
            return Ok(None);
        };
        let (job, known) = row.split_first_chunk::<16>().ok_or(Error::NotFound)?;
        if known == body {
            Ok(Some(JobId::from_bytes(*job)))
        } else {
            Err(Error::IdempotencyConflict { index: 0 })
        }
    }

    /// The concepts of a scope in pieces of a size that one entry can take, by when they came to be.
    fn pieces(&self, tenant: u32, scope: u64) -> Result<Vec<(i64, i64)>, Error> {
        let (from, to) = key::all_listed(tenant, scope);
        let mut cuts = Vec::new();
        let (mut count, mut last) = (0, i64::MIN);
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            let at = fact_key(key).map_or(last, |key| key.at);
            // Those that came to be together stay together.
            if count >= CONCEPTS_PER_ENTRY && at != last {
                cuts.push(at);
                count = 0;
            }
            (count, last) = (count + 1, at);
            ControlFlow::Continue(())
        })?;
        let starts = std::iter::once(i64::MIN).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([i64::MAX]);
        Ok(starts.zip(ends).collect())
    }
}
