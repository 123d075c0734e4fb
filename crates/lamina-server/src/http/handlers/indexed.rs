//! `POST /v1/admin/index-audit` and `GET /v1/admin/events/{event_id}/chunks`: what the search index has.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::admin::{ByteRange, ChunkBody, ChunksBody, IndexAuditBody, IndexAuditRequest};
use lamina_engine::read::indexed::{Chunk, IndexAudit};
use lamina_types::EventId;
use lamina_types::capability::{AdminHealth, Capability as _, DiagnosticsRead, ScopeReadLocal};

use super::events;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

/// Looks for events that the index lacks.
pub(super) async fn audit(mut call: Call) -> Result<Response, Failure> {
    let body = call.optional_json_body(call.app.limits.body_bytes).await?;
    let (scope, repair) = IndexAuditRequest::read(&body)?;
    let caller = call.caller()?;
    let desk = call.desk.clone();
    let permit = desk.permit::<AdminHealth>(&caller, scope.as_ref()).await?;
    // Administrators keep the index of the whole tenant; everybody else that of scopes they may read.
    let engine = &desk.app.engine;
    let sight = match (caller.administers(), &scope) {
        (true, _) => None,
        (false, Some(scope)) => {
            desk.ask(&caller, &[ScopeReadLocal::NAME], Some(scope)).await?;
            Some(engine.sight(desk.app.boot(), &permit).await)
        }
        (false, None) => Some(engine.sight(desk.app.boot(), &permit).await),
    };
    let found = engine.index_audit(&permit, sight, scope, repair).await?;
    let IndexAudit { checked, missing, unembedded, examples, repaired, behind, complete } = found;
    let missing_events = examples.iter().map(ToString::to_string).collect();
    reply::json(
        StatusCode::OK,
        &IndexAuditBody {
            checked,
            missing,
            unembedded,
            missing_events,
            repaired,
            behind,
            complete,
        },
    )
}

/// How one event is in the index.
pub(super) async fn chunks(mut call: Call) -> Result<Response, Failure> {
    let id: EventId = call.path_id("event_id").await?;
    let caller = call.caller()?;
    let desk = call.desk.clone();
    let (scope, _) = events::home(desk.clone(), caller.clone(), id).await?;
    desk.ask(&caller, &[DiagnosticsRead::NAME], Some(&scope)).await?;
    let permit = desk.permit::<ScopeReadLocal>(&caller, Some(&scope)).await?;
    desk.record.event(id);
    let chunks = desk.app.engine.chunks(permit, id).await?;
    let shown = |chunk: Chunk| ChunkBody {
        chunk_id: format!("{id}#{}", chunk.number),
        text_source: "content",
        byte_range: ByteRange { start: chunk.bytes.0, end: chunk.bytes.1 },
        text: chunk.text,
        lexical: chunk.lexical,
        vector: chunk.vector,
    };
    let chunks: Vec<ChunkBody> = chunks.into_iter().map(shown).collect();
    let shape = ChunksBody { event_id: id.to_string(), chunk_count: chunks.len(), chunks };
    reply::json(StatusCode::OK, &shape)
}
