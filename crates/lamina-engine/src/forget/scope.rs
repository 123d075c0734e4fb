//! Everything in a scope that is being removed (R305).

use lamina_core::policy::Permit;
use lamina_types::ScopePath;
use lamina_types::capability::ForgetGdpr;
use lamina_types::forget::{Cascade, Forget, Layers, Selector};

use super::{ForgetAsked, ForgetPermit};
use crate::admin::Noted;
use crate::{Engine, Error};

/// How often what others write meanwhile is forgotten too.
const ROUNDS_MAX: usize = 3;

impl Engine {
    /// Has everything in a scope forgotten, with the words of its events: a scope that nobody has any more is open to
    /// whoever comes, and so would be what stayed in it.
    pub(crate) async fn forget_scope(
        &self,
        permit: &Permit<ForgetGdpr>,
        path: &ScopePath,
        noted: &Noted,
    ) -> Result<(), Error> {
        let forget = Forget {
            scope: path.clone(),
            layers: Layers::ALL,
            selector: Selector::default(),
            cascade: Cascade::RedactEvents,
        };
        let held = self.held(permit.caller().tenant).await?;
        if held.iter().any(|above| above.contains(path)) {
            let events = self.scope_get(permit, path).await?.events;
            return Err(Error::ScopeHasRecords { events });
        }
        for _ in 0..ROUNDS_MAX {
            let forget = forget.clone();
            let asked = ForgetAsked { forget, requested: 0, preview: None, idempotency_key: None };
            let whole = ForgetPermit::Gdpr(permit.clone());
            self.forget_unawaited(whole, asked, noted.clone()).await?;
            if self.scope_get(permit, path).await?.events == 0 {
                return Ok(());
            }
        }
        let events = self.scope_get(permit, path).await?.events;
        Err(Error::ScopeHasRecords { events })
    }
}
