//! Asking for episodes to be made: they are made anyway, so this waits for it, and ends what is open if
//! that is wanted.

use std::time::Duration;

use lamina_core::policy::Permit;
use lamina_store::entry::{Kind, control};
use lamina_store::kv::Direction;
use lamina_store::log::{NewEntry, Section};
use lamina_store::view::EventScan;
use lamina_types::capability::ScopeWrite;
use lamina_types::{EventId, ScopePath, Stage};
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::engine::Inner;
use crate::write::Until;
use crate::write::capture::Request;
use crate::{Engine, Error};

/// How long it is waited for what was written before; after that the answer says what is known.
const BUILD_WAIT_MAX: Duration = Duration::from_secs(10);

/// What building came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EpisodesBuilt {
    /// Episodes of the scope.
    pub episodes: u64,
    /// Events of the scope that still wait to be derived from.
    pub waiting: u64,
}

impl Engine {
    /// Waits until what was written to a scope is in its episodes; `seal` ends those that are open.
    pub async fn episodes_build(
        &self,
        permit: &Permit<ScopeWrite>,
        scope: &ScopePath,
        seal: bool,
        noted: &Noted,
    ) -> Result<EpisodesBuilt, Error> {
        if !permit.covers(scope) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let Some(ordinal) = self.inner.views.scope_ordinal(tenant, scope)? else {
            return Ok(EpisodesBuilt::default());
        };
        self.settled(tenant, ordinal).await?;
        if seal {
            let entry = NewEntry {
                kind: Kind::Control,
                sub: control::EPISODES_SEALED,
                tenant,
                scope: ordinal,
                causes: Vec::new(),
                who: by(&self.inner.env, permit, noted),
                what: Section::absent(),
            };
            let (reply, answer) = oneshot::channel();
            self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await?;
        }
        self.inner.caught_up().await;
        let episodes = self.inner.episodes_count(tenant, ordinal)?;
        let waiting =
            self.blocking(move |inner| inner.derivation_of(tenant, vec![ordinal])).await?;
        Ok(EpisodesBuilt { episodes, waiting: waiting.waiting })
    }
}

impl Engine {
    /// Waits for what was written to a scope to be derived from, as long as that is worth waiting for.
    pub(crate) async fn settled(&self, tenant: u32, scope: u64) -> Result<(), Error> {
        // Answers come in the order of events: the last is behind all others.
        if let Some(event) = self.inner.last_event(tenant, scope)? {
            let extracted = Until::Stage(Stage::Extracted);
            self.wait_for(tenant, event, extracted, BUILD_WAIT_MAX).await?;
        }
        Ok(())
    }
}

impl Inner {
    /// The event of a scope that was recorded last.
    fn last_event(&self, tenant: u32, scope: u64) -> Result<Option<EventId>, Error> {
        let page = self.views.event_scan(&EventScan::recorded(
            tenant,
            vec![scope],
            Direction::Backward,
            1,
        ))?;
        Ok(page.rows.first().map(|row| row.id))
    }
}
