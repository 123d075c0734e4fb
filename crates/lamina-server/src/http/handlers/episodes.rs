//! `GET /v1/episodes` and `POST /v1/episodes/build`.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::time;
use lamina_api::v1::episodes::{
    BuildRequest, CausalLink, EpisodeBody, EpisodesBuilt, EpisodesPage, EpisodesQuery,
};
use lamina_core::derive::episodes::Ending;
use lamina_engine::read::episodes::{EpisodeRecord, EpisodeState, EpisodesQuery as Question};
use lamina_engine::read::facts::FactKey;
use lamina_types::limits::PAGE_DEFAULT;
use lamina_types::{RecordedAt, ScopePath, ScopeView};

use super::events::traversed;
use super::facts::{pinned, position};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

/// One page of episodes.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = EpisodesQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mac = |bytes: &[u8]| engine.cursor_mac(caller.tenant, bytes);
    let (recorded, after) =
        pinned(query.start(&mac)?, query.times.as_of_recorded, engine.log_time())?;
    let question = Question {
        scope: query.scope.clone(),
        actor: query.actor.clone(),
        recorded,
        in_the_past: query.times.as_of_recorded.is_some(),
        valid: query.times.as_of_valid,
        valid_during: query.times.valid_during,
        recorded_during: query.times.recorded_during,
        overlapping: query.overlapping,
        with_chain: query.with_causal_chain,
        after,
        limit: query.limit,
    };
    let page = engine.episodes(permit, question).await?;
    let next = page.next.map(|key: FactKey| query.next_cursor(&position(recorded, key), &mac));
    let items = page.items.into_iter().map(shown).collect();
    let scopes = page.traversed.map(|scopes| scopes.into_iter().map(traversed).collect());
    let (has_more, next_cursor) = (next.is_some(), next);
    let page = EpisodesPage { items, next_cursor, has_more, scopes_traversed: scopes };
    reply::json(StatusCode::OK, &page)
}

/// Sees to it that everything written to a scope is in its episodes.
pub(super) async fn build(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let (scope, seal) = BuildRequest::read(&body)?;
    let permit = call.desk.permit_write_to(&caller, &scope).await?;
    let engine = call.app.engine.clone();
    let noted = call.noted("");
    let built = engine.episodes_build(&permit, &scope, seal, &noted).await?;
    // Whoever may write and not read is told how many there are, and not what they say.
    let readable = engine.read_permit(&call.app.boot(), &caller, &scope, ScopeView::Local).await?;
    let items = match readable {
        Err(_) => Vec::new(),
        Ok(permit) => {
            let question = latest(scope, RecordedAt(engine.now()));
            engine.episodes(permit, question).await?.items
        }
    };
    let items = items.into_iter().map(shown).collect();
    let body = EpisodesBuilt { built: built.episodes, items, dirty: built.waiting };
    reply::json(StatusCode::OK, &body)
}

fn latest(scope: ScopePath, recorded: RecordedAt) -> Question {
    Question {
        scope,
        actor: None,
        recorded,
        in_the_past: false,
        valid: None,
        valid_during: None,
        recorded_during: None,
        overlapping: None,
        with_chain: false,
        after: None,
        limit: PAGE_DEFAULT,
    }
}

pub(super) fn shown(episode: EpisodeRecord) -> EpisodeBody {
    let events: Vec<String> = episode.events.iter().map(ToString::to_string).collect();
    let started_at = time::print(episode.started.0);
    let (state, partial_reason) = match episode.state {
        EpisodeState::Open => ("open", Some("episode_open")),
        EpisodeState::Closed => ("closed", Some("awaiting_late_events")),
        EpisodeState::Sealed => ("sealed", None),
    };
    let ended = !matches!(episode.state, EpisodeState::Open);
    let followed_by: Vec<String> = episode.followed_by.iter().map(ToString::to_string).collect();
    let link = |(event, role): (lamina_types::EventId, lamina_core::derive::episodes::Role)| {
        CausalLink { event: event.to_string(), role: role.as_str() }
    };
    EpisodeBody {
        id: episode.id.to_string(),
        episode_id: episode.id.to_string(),
        scope: episode.scope.to_string(),
        name: episode.name.unwrap_or_else(|| started_at.clone()),
        summary: episode.summary.unwrap_or_default(),
        supports: events.clone(),
        events,
        ended_at: ended.then(|| time::print(episode.last.0)),
        state,
        ended_by: episode.ended_by.map(ending),
        sealed_at: episode.sealed_at.map(|at| time::print(at.0)),
        valid_from: started_at.clone(),
        valid_to: None,
        recorded_from: time::print(episode.recorded_from.0),
        recorded_to: None,
        started_at,
        actors_involved: episode.actors.iter().map(ToString::to_string).collect(),
        centrality_score: episode.centrality.map(|score| score.as_f64()),
        causal_chain: episode.chain.map(|chain| chain.into_iter().map(link).collect()),
        causal_predecessor: episode.follows.map(|id| id.to_string()),
        causal_successor: followed_by.first().cloned(),
        causal_successors: followed_by,
        partial: partial_reason.is_some(),
        partial_reason,
    }
}

fn ending(why: Ending) -> &'static str {
    match why {
        Ending::Gap => "gap",
        Ending::TopicShift => "topic_shift",
        Ending::Size => "size",
        Ending::Explicit => "explicit",
    }
}
