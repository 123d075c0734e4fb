//! Recalls between everything else: one that begins after an erasure was acknowledged shows nothing of it.

use std::sync::Arc;

use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::ReadPermit;
use lamina_engine::open::FIRST_TENANT;
use lamina_engine::read::recall::{MayRecall, Recalled, StandingOffices};
use lamina_env::sim::rng::SimRng;
use lamina_types::ScopePath;
use lamina_types::capability::{Capability, ScopeReadLocal, UnderstandingRead};
use lamina_types::recall::{
    CitationMode, Detail, Filter, PackView, Recall, StandingChoice, Temporal,
};

use super::model::{Acknowledged, Certainty};
use super::world::World;

/// Asks for the words of an event, there or gone. Gives how many events were shown, and how many of the questions
/// were about erased words.
pub(super) fn ask(world: &World, choices: &SimRng) -> Result<(u64, u64), String> {
    let Some(process) = world.process.as_ref().filter(|process| !process.stopped) else {
        return Ok((0, 0));
    };
    let events: Vec<&Acknowledged> = world.model.events.values().collect();
    // Every other question is about words that are gone, if some are.
    let gone: Vec<&Acknowledged> =
        events.iter().copied().filter(|event| event.erased == Certainty::Yes).collect();
    let among = if gone.is_empty() || choices.below(2) == 0 { &events } else { &gone };
    let Some(about) = among.get(choices.below(among.len() as u64) as usize) else {
        return Ok((0, 0));
    };
    let scope: ScopePath = about.said.scope.parse().map_err(|error| format!("{error:?}"))?;
    let may = MayRecall {
        reach: Arc::new(ReadPermit::Local(permit::<ScopeReadLocal>(&scope)?)),
        concepts: Some(permit::<UnderstandingRead>(&scope)?),
        standing: StandingOffices::everybody(),
    };
    let question = question(scope, about.said.text.chars().take(80).collect());
    let recalled = match process.recall.recall(&may, &question) {
        Ok(recalled) => recalled,
        // A disk that fails is no disk that shows what is gone.
        Err(_) if world.faulted() => return Ok((0, 0)),
        Err(error) => return Err(format!("a recall failed: {error}")),
    };
    shows_nothing(&recalled, &gone)?;
    Ok((recalled.events.len() as u64, u64::from(about.erased == Certainty::Yes)))
}

/// Neither words nor ids of what is gone are in an answer. Records that stay for others name what they stand on.
fn shows_nothing(recalled: &Recalled, gone: &[&Acknowledged]) -> Result<(), String> {
    let events = recalled.events.iter().map(|event| event.record.id);
    let facts = recalled.facts.iter().flat_map(|fact| fact.record.supports.iter().copied());
    let episodes = recalled.episodes.iter().flat_map(|one| one.record.events.iter().copied());
    let standing = recalled.standing.iter().map(|one| one.id);
    let shown: Vec<_> = events.chain(standing).collect();
    let named: Vec<_> = facts.chain(episodes).collect();
    let text = format!("{recalled:?}");
    for event in gone {
        if shown.contains(&event.event) || (!event.stays && named.contains(&event.event)) {
            return Err(format!("a recall names {}, which was erased", event.event));
        }
        if text.contains(event.said.own_words()) {
            return Err(format!("a recall has words of {}, which was erased", event.event));
        }
    }
    Ok(())
}

fn permit<C: Capability>(scope: &ScopePath) -> Result<lamina_core::policy::Permit<C>, String> {
    let policy = Policy::new(Preset::DevLocal).ok_or("dev_local is built")?;
    let actor = "user:alice".parse().map_err(|error| format!("{error:?}"))?;
    let caller = Caller::local(actor, FIRST_TENANT);
    policy.permit(&caller, Some(scope)).map_err(|denied| format!("{denied:?}"))
}

fn question(scope: ScopePath, query: String) -> Recall {
    Recall {
        scope,
        view: PackView::Granular,
        query,
        variants: Vec::new(),
        language: None,
        include: Vec::new(),
        exclude_content: false,
        temporal: Temporal::default(),
        filter: Filter::default(),
        standing: StandingChoice::Owners,
        tokens_max: None,
        layer_limits: [None; 5],
        citation_mode: CitationMode::StructuredOnly,
        detail: Detail::None,
        stream: false,
        idempotency_key: None,
        floor: Some(0.0),
        selection: None,
    }
}
