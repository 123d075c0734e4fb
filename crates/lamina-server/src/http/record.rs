//! What a request came to, gathered while it runs: the decision for the headers and for the audit
//! log, and what the body was without its words.

use axum::http::HeaderValue;
use lamina_core::policy::{Denial, Tier};
use lamina_types::{AuditId, EventId, ScopePath};
use parking_lot::Mutex;

/// What the policy said.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) capability: &'static str,
    pub(crate) tier: Tier,
    pub(crate) allowed: bool,
    pub(crate) scope: Option<ScopePath>,
}

/// A capability that a request needed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) capability: &'static str,
    pub(crate) scope: Option<ScopePath>,
}

/// What is known of a request when it is answered.
#[derive(Debug, Default)]
pub(crate) struct Record {
    known: Mutex<Known>,
}

/// Everything that is known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) decision: Option<Decision>,
    /// Everything that the policy was asked for and allowed.
    pub(crate) conditions: Vec<Condition>,
    /// The row of the audit log that the engine has promised already.
    pub(crate) audit_id: Option<AuditId>,
    /// The event that was written or read.
    pub(crate) event: Option<EventId>,
    /// Peppered hash and size of the body.
    pub(crate) body: Option<([u8; 32], u64)>,
    /// The tool that was called, and the status that its HTTP route would have had.
    pub(crate) tool: Option<(&'static str, u16)>,
    /// What the body asks for is experimental, though the route is not.
    pub(crate) experimental: bool,
    pub(crate) spent: AccessTimes,
}

/// The time that deciding about access took, in microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AccessTimes {
    /// Telling who calls.
    pub(crate) auth_us: i64,
    /// Asking the policy.
    pub(crate) policy_us: i64,
}

impl Record {
    /// The policy allowed it. The last word of several counts, and a denial is never overruled.
    pub(crate) fn allowed(&self, capability: &'static str, tier: Tier, scope: Option<&ScopePath>) {
        let mut known = self.known.lock();
        if known.decision.as_ref().is_none_or(|decision| decision.allowed) {
            let scope = scope.cloned();
            known.decision = Some(Decision { capability, tier, allowed: true, scope });
        }
    }

    /// The policy denied it.
    pub(crate) fn denied(&self, denial: &Denial, scope: Option<&ScopePath>) {
        let Denial { capability, tier, .. } = *denial;
        let scope = scope.cloned();
        self.known.lock().decision = Some(Decision { capability, tier, allowed: false, scope });
    }

    /// The token refused it before the policy was asked.
    pub(crate) fn refused_by_token(&self, capability: &'static str) {
        let decision = Decision { capability, tier: Tier::Actor, allowed: false, scope: None };
        self.known.lock().decision.get_or_insert(decision);
    }

    /// Notes a capability that the policy allowed.
    pub(crate) fn condition(&self, capability: &'static str, scope: Option<&ScopePath>) {
        let condition = Condition { capability, scope: scope.cloned() };
        let mut known = self.known.lock();
        if !known.conditions.contains(&condition) {
            known.conditions.push(condition);
        }
    }

    /// Everything that the policy was asked for and allowed.
    pub(crate) fn conditions(&self) -> Vec<Condition> {
        self.known.lock().conditions.clone()
    }

    /// What was decided.
    pub(crate) fn decision(&self) -> Option<Decision> {
        self.known.lock().decision.clone()
    }

    /// What was decided was only a question: what follows is decided anew.
    pub(crate) fn forget(&self) {
        self.known.lock().decision = None;
    }

    /// The event that was written or read.
    pub(crate) fn event(&self, id: EventId) {
        self.known.lock().event = Some(id);
    }

    /// The row that the entry of this change names.
    pub(crate) fn audit_id(&self, id: AuditId) {
        self.known.lock().audit_id = Some(id);
    }

    /// A tool is called, or was answered.
    pub(crate) fn tool(&self, name: &'static str, status: u16) {
        self.known.lock().tool = Some((name, status));
    }

    pub(crate) fn body(&self, hash: [u8; 32], bytes: u64) {
        self.known.lock().body = Some((hash, bytes));
    }

    /// What is asked for is less stable than its route.
    pub(crate) fn experimental(&self) {
        self.known.lock().experimental = true;
    }

    /// The caller is known, after so many microseconds.
    pub(crate) fn authenticated(&self, took_us: i64) {
        self.known.lock().spent.auth_us = took_us;
    }

    /// The policy was asked, for so many microseconds.
    pub(crate) fn asked_policy(&self, took_us: i64) {
        self.known.lock().spent.policy_us += took_us;
    }

    /// The time that deciding about access took until now.
    pub(crate) fn spent(&self) -> AccessTimes {
        self.known.lock().spent
    }

    pub(crate) fn take(&self) -> Known {
        std::mem::take(&mut self.known.lock())
    }
}

impl Decision {
    /// `X-Cortex-Policy` (R208).
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        let decision = if self.allowed { "allow" } else { "deny" };
        let (tier, capability) = (self.tier.as_str(), self.capability);
        let text = format!("tier={tier}; decision={decision}; capability={capability}");
        HeaderValue::try_from(text).ok()
    }
}
