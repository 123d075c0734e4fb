//! What tests ask of selectors.

use std::collections::BTreeSet;

use lamina_types::EventId;
use lamina_types::forget::Forget;

use super::ForgetPermit;
use crate::{Engine, Error};

/// The events whose words a request would remove.
pub(crate) async fn words_of(
    engine: &Engine,
    permit: &ForgetPermit,
    forget: &Forget,
) -> Result<BTreeSet<EventId>, Error> {
    engine.inner.caught_up().await;
    Ok(engine.plan(permit, forget).await?.map(|plan| plan.gone.words).unwrap_or_default())
}
