//! What a request came to, gathered while it runs.

use axum::http::HeaderValue;
use lamina_core::policy::{Denial, Tier};
use parking_lot::Mutex;

/// What the policy said.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) capability: &'static str,
    pub(crate) tier: Tier,
    pub(crate) allowed: bool,
}

/// What is known of a request when it is answered.
#[derive(Debug, Default)]
pub(crate) struct Record {
    decision: Mutex<Option<Decision>>,
}

impl Record {
    /// The policy allowed it. The last word of several counts, and a denial is never overruled.
    pub(crate) fn allowed(&self, capability: &'static str, tier: Tier) {
        let mut decision = self.decision.lock();
        if decision.as_ref().is_none_or(|decision| decision.allowed) {
            *decision = Some(Decision { capability, tier, allowed: true });
        }
    }

    /// The policy denied it.
    pub(crate) fn denied(&self, denial: &Denial) {
        let Denial { capability, tier, .. } = *denial;
        *self.decision.lock() = Some(Decision { capability, tier, allowed: false });
    }

    /// A denial that was only a question: what follows is decided anew.
    pub(crate) fn forget(&self) {
        *self.decision.lock() = None;
    }

    pub(crate) fn decision(&self) -> Option<Decision> {
        self.decision.lock().clone()
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
