//! One open stream. It outlives the decision that let it begin, so it asks again, and is told of the
//! policies that bear on it (R188, R384, R385).

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use lamina_api::v1::lifecycle::{
    CapabilityDiff, Lagging, LifecycleBody, PolicyChanged as Changed, PolicyRevoked, Said,
};
use lamina_core::policy::{Caller, Document, Effect};
use lamina_engine::{
    PolicyBook, PolicyChanged, PolicyRecord, PolicyTarget, StreamItem, Subscription,
};
use lamina_types::capability::{Capability as _, LifecycleSubscribe, NAMES, ScopeReadLocal};
use lamina_types::{LifecycleId, ScopePath};
use tokio::sync::watch;

use super::row;
use crate::http::call::Desk;
use crate::http::handlers::policy::tier;
use crate::http::sse;

/// Who listens, and to what.
pub(super) struct Place {
    pub(super) caller: Caller,
    /// The same caller where the stream is from.
    pub(super) there: Caller,
    /// `None` is the whole tenant.
    pub(super) scope: Option<ScopePath>,
}

pub(super) struct Listener {
    subscription: Subscription,
    /// The last row that was sent.
    pub(super) last: Option<LifecycleId>,
    /// Whether it wants to hear of policies.
    pub(super) hears: bool,
    policies: watch::Receiver<Arc<PolicyBook>>,
    /// The policies that the stream was last held against.
    book: Arc<PolicyBook>,
    /// What is to be said before anything else.
    words: VecDeque<Bytes>,
    /// What was taken from the subscription and not sent yet: a wait may be given up at any time.
    pending: Option<StreamItem>,
    desk: Desk,
    place: Place,
}

impl Listener {
    pub(super) fn new(
        subscription: Subscription,
        policies: watch::Receiver<Arc<PolicyBook>>,
        desk: Desk,
        place: Place,
    ) -> Listener {
        let book = Arc::clone(&policies.borrow());
        let (words, pending) = (VecDeque::new(), None);
        let (last, hears) = (None, true);
        Listener { subscription, last, hears, policies, book, words, pending, desk, place }
    }

    /// Why the stream may not go on, if it may not.
    async fn ended(&self) -> Option<String> {
        if let Err(reason) = self.allows(self.place.scope.as_ref()).await {
            return Some(reason);
        }
        let grant = self.place.caller.grant.as_ref()?;
        let engine = &self.desk.app.engine;
        if grant.exp <= engine.now() {
            return Some("the token has expired".to_owned());
        }
        let revoked = engine.is_revoked(&grant.iss, &grant.jti).unwrap_or(true);
        revoked.then(|| "the token was revoked".to_owned())
    }

    /// Whether the caller may hear of a scope, which takes the right to read there.
    async fn allows(&self, scope: Option<&ScopePath>) -> Result<(), String> {
        let caller = &self.place.caller;
        let stack = self.desk.app.stack(caller, scope).await;
        let stack = stack.map_err(|_| "the policies cannot be read".to_owned())?;
        let asked: &[&str] = match scope {
            Some(_) => &[ScopeReadLocal::NAME, LifecycleSubscribe::NAME],
            None => &[LifecycleSubscribe::NAME],
        };
        let allowed = stack.allows_all(caller, asked, scope);
        allowed.map(drop).map_err(|denial| denial.to_string())
    }

    /// The last word of a stream that may not go on.
    fn revoked(&mut self, reason: String) -> sse::Next {
        let at = self.desk.app.engine.now();
        let said = Said { id: self.subscription.mark(), scope: self.place.scope.as_ref(), at };
        let row = LifecycleBody::policy_revoked(said, &PolicyRevoked { reason });
        match frame(&row) {
            Some(frame) => sse::Next::Last(frame),
            None => sse::Next::Done,
        }
    }

    /// Takes note of policies that have changed. What another tenant decides is not told, not even that
    /// it decided something; nor is the policy of a scope that the caller may not read.
    async fn follow(&mut self, book: Arc<PolicyBook>) {
        let mut told = Vec::new();
        for changed in book.since(&self.book, &self.place.there, self.place.scope.as_ref()) {
            let hidden = match (&changed.target, &self.place.scope) {
                (PolicyTarget::Scope(path), None) => self.allows(Some(path)).await.is_err(),
                _ => false,
            };
            if self.hears && !hidden {
                told.push(changed);
            }
        }
        for changed in told {
            let row = self.changed(&changed);
            self.words.extend(frame(&row));
        }
        self.book = book;
    }

    fn changed(&mut self, changed: &PolicyChanged) -> LifecycleBody {
        let PolicyChanged { target, before, after } = changed;
        let engine = &self.desk.app.engine;
        let (home, _) = self.place.there.origin();
        let scope = match target {
            PolicyTarget::Scope(path) => Some(path),
            _ => self.place.scope.as_ref(),
        };
        let shape = Changed {
            tier: tier(target).as_str().to_owned(),
            scope_or_actor: match target {
                PolicyTarget::Deployment => None,
                PolicyTarget::Tenant => Some(engine.tenant_name(home)),
                PolicyTarget::Scope(path) => Some(path.to_string()),
                PolicyTarget::Actor(actor) => Some(actor.to_string()),
            },
            capability_diff: self.difference(target, before.as_deref(), after.as_deref()),
        };
        let at = after.as_ref().map_or_else(|| engine.now(), |record| record.recorded_at.0);
        let version = match (after, before) {
            (Some(after), _) => after.version,
            // Taking a policy back is one more change of it.
            (None, before) => before.as_ref().map_or(1, |before| before.version + 1),
        };
        let said = Said { id: self.subscription.mark(), scope, at };
        LifecycleBody::policy_changed(said, version, &shape)
    }

    /// What a tier says of each capability now and did not before.
    fn difference(
        &self,
        target: &PolicyTarget,
        before: Option<&PolicyRecord>,
        after: Option<&PolicyRecord>,
    ) -> CapabilityDiff {
        let boot = self.desk.app.boot().document;
        let denies = |record: Option<&PolicyRecord>, capability: &str| {
            let opinion = |document: &Document| document.opinion(capability);
            match target {
                // The deployment's silence denies; below it silence inherits.
                PolicyTarget::Deployment => {
                    let document = record.map_or(&boot, |record| &record.document);
                    opinion(document) != Some(Effect::Allow)
                }
                _ => record.and_then(|it| opinion(&it.document)) == Some(Effect::Deny),
            }
        };
        let mut difference = CapabilityDiff::default();
        for capability in NAMES {
            match (denies(before, capability), denies(after, capability)) {
                (true, false) => difference.allowed.push((*capability).to_owned()),
                (false, true) => difference.denied.push((*capability).to_owned()),
                _ => {}
            }
        }
        difference
    }

    /// The frame of an item, or nothing if the caller may not see it.
    async fn told(&mut self, item: &StreamItem) -> Option<sse::Next> {
        match item {
            StreamItem::Event(shown) => {
                if let Some(reason) = self.ended().await {
                    return Some(self.revoked(reason));
                }
                // Of a whole tenant only what the caller may see.
                self.allows(Some(&shown.event.scope)).await.ok()?;
                self.last = Some(shown.event.id);
                // A shape of ours serializes; if one did not, the stream would end and be resumed,
                // not go on with a hole in it.
                Some(frame(&row(shown)).map_or(sse::Next::Done, sse::Next::Frame))
            }
            StreamItem::Lagging { behind_ms } => {
                let shape = Lagging::new(*behind_ms, self.last);
                let data = serde_json::to_vec(&shape).unwrap_or_default();
                Some(sse::Next::Last(sse::frame(None, "lagging", &data)))
            }
        }
    }
}

impl sse::Source for Listener {
    async fn next(&mut self) -> sse::Next {
        loop {
            let book = Arc::clone(&self.policies.borrow_and_update());
            if !Arc::ptr_eq(&book, &self.book) {
                if let Some(reason) = self.ended().await {
                    return self.revoked(reason);
                }
                self.follow(book).await;
            }
            if let Some(word) = self.words.pop_front() {
                return sse::Next::Frame(word);
            }
            if self.pending.is_none() {
                tokio::select! {
                    item = self.subscription.next() => match item {
                        Some(item) => self.pending = Some(item),
                        None => return sse::Next::Done,
                    },
                    changed = self.policies.changed() => match changed {
                        Ok(()) => continue,
                        Err(_) => return sse::Next::Done,
                    },
                }
            }
            if let Some(item) = self.pending.clone() {
                let next = self.told(&item).await;
                self.pending = None;
                if let Some(next) = next {
                    return next;
                }
            }
        }
    }
}

/// A row as it goes over the wire; its id is what a listener resumes from (C39).
fn frame(row: &LifecycleBody) -> Option<Bytes> {
    let data = serde_json::to_vec(row).ok()?;
    Some(sse::frame(Some(&row.lifecycle_id), &row.event, &data))
}
