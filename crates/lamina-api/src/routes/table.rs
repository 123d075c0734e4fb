//! The table itself: built routes first, each with its shapes, then what is specified or called by
//! real clients and not built yet.

use lamina_types::ErrorCode as E;

use super::Method::{Any, Delete, Get, Patch, Post, Put};
use super::Tier::{Beta, Experimental, Stable};
use super::params::{
    ABOUT, ANSWER_ERRORS, AS_OF, AS_OF_RECORDED, AS_OF_VALID, BELIEF, CONFLICT_CURSOR,
    CONFLICT_STATUS, CURSOR, DEPRECATED, ERASURE_ERRORS, FORGET_ERRORS, IDEMPOTENCY_KEY,
    IMPORT_ANSWERS, IMPORT_ERRORS, IMPORT_PARAMS, KNOWN_AS_OF, LIMIT, MIN_CONFIDENCE, NAMED,
    OF_BATCH, OF_ERASURE, OF_EVENT, OF_EXPORT, OF_IMPORT, OF_JOB, ONE_BELIEF_ERRORS, PREDICATE,
    RECORDED_DURING, RELATION, SCOPE, SINCE_LIFECYCLE, STANCE, SUBJECT, SUPERSEDED, TOPIC,
    UPLOAD_KEY, VALID_AS_OF, VALID_DURING, VIEW, WAIT, WRITE_ERRORS, answer, header, query,
    required,
};
use super::{AnswerBody, Body, RouteSpec, Values};

/// Every route of the contract. One row per line: the formatter would spread it over a thousand.
#[rustfmt::skip]
pub const ROUTES: &[RouteSpec] = &[
    // Writing.
    RouteSpec::new(Post, "/v1/experience", Stable, "scope.write", "Write one experience").built(
        &[WAIT, IDEMPOTENCY_KEY],
        Body::Json("experience_envelope"),
        &[
            answer(202, "Durable; stages run on.", AnswerBody::Json("experience_accepted")),
            answer(200, "The awaited stage is complete.", AnswerBody::Json("experience_completed")),
        ],
        WRITE_ERRORS,
    ),
    RouteSpec::new(Post, "/v1/experience/bulk", Stable, "scope.write", "Write up to 1000 experiences, all or none").built(
        &[WAIT, IDEMPOTENCY_KEY],
        Body::Json("experience_bulk"),
        &[answer(202, "All items are durable.", AnswerBody::Json("bulk_accepted"))],
        WRITE_ERRORS,
    ),
    RouteSpec::new(Get, "/v1/experience/by-idempotency-key/{key}", Stable, "scope.read.local", "Find the event of an idempotency key").built(
        &[],
        Body::None,
        &[answer(200, "The event of the key.", AnswerBody::Json("by_idempotency_key"))],
        &[E::NotFound, E::ResourceDeleted, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/experience/status", Beta, "scope.read.local", "What became of a write").built(
        &[
            query("idempotency_key", "The key of the write.", Values::Text),
            query("event_id", "The event of the write.", Values::Id("evt")),
            SCOPE,
        ],
        Body::None,
        &[answer(200, "Whether the write is known, and how far it has come.", AnswerBody::Json("write_status"))],
        &[E::MissingRequiredField, E::InvalidId, E::InvalidParameter, E::PolicyDenied],
    ),
    // Reading events.
    RouteSpec::new(Get, "/v1/events", Stable, "scope.read.local", "List memory events").built(
        &[
            query("scope", "The scope. Required, unless a citation names it.", Values::Text),
            query("citation", "The event of this citation and no other; also one that was cancelled. Its seal has 64 digits or the first 12 of them. No other parameter goes with it but the same scope.", Values::Text),
            query("view", "How far to read from the scope.", Values::OneOf(&["local", "holistic", "descend"])),
            query("since", "Observed at or after.", Values::Time),
            query("until", "Observed before.", Values::Time),
            query("recorded_since", "Recorded at or after.", Values::Time),
            query("recorded_until", "Recorded before.", Values::Time),
            query("as_of", "Recorded at or before.", Values::Time),
            query("observed_actor", "Done by this actor; `actor` means the same.", Values::Text),
            query("modality", "Of this modality.", Values::Text),
            query("labels", "With at least one of these labels, separated by commas.", Values::Text),
            query("sort", "The time to sort by.", Values::OneOf(&["observed", "recorded"])),
            query("order", "The direction.", Values::OneOf(&["desc", "asc"])),
            LIMIT,
            CURSOR,
        ],
        Body::None,
        &[answer(200, "A page of events.", AnswerBody::Json("event_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidTimestamp, E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/events/{event_id}", Stable, "scope.read.local", "Read one memory event, also a cancelled one").built(
        &[],
        Body::None,
        &[answer(200, "The event.", AnswerBody::Json("event"))],
        &[E::InvalidId, E::NotFound, E::ResourceDeleted, E::PolicyDenied, E::RecordDamaged],
    ),
    // Blobs.
    RouteSpec::new(Post, "/v1/blobs", Stable, "blob.upload", "Upload a blob").built(
        &[UPLOAD_KEY],
        Body::File,
        &[answer(201, "The blob is stored.", AnswerBody::Json("blob_uploaded"))],
        &[E::InvalidBody, E::BlobTooLarge, E::UnsupportedMediaType, E::RequestTimeout, E::IdempotencyConflict, E::PolicyDenied, E::WalUnavailable],
    ),
    RouteSpec::new(Get, "/v1/blobs/{blob_id}", Stable, "blob.read", "Read the bytes of a blob").built(
        &[],
        Body::None,
        &[answer(200, "The bytes, with the content type they were uploaded with.", AnswerBody::Bytes)],
        &[E::InvalidId, E::NotFound, E::ResourceDeleted, E::PolicyDenied, E::BlobDamaged],
    ),
    RouteSpec::new(Delete, "/v1/blobs/{blob_id}", Beta, "blob.upload", "Delete a blob that no event refers to").built(
        &[],
        Body::None,
        &[answer(200, "The blob is gone.", AnswerBody::Json("blob_deleted"))],
        &[E::InvalidId, E::NotFound, E::BlobInUse, E::PolicyDenied, E::WalUnavailable],
    ),
    // Lifecycle.
    RouteSpec::new(Get, "/v1/lifecycle/stream", Stable, "lifecycle.subscribe", "Follow lifecycle events as they happen").built(
        &[
            SCOPE,
            OF_EVENT,
            OF_JOB,
            OF_IMPORT,
            OF_EXPORT,
            OF_ERASURE,
            OF_BATCH,
            NAMED,
            SINCE_LIFECYCLE,
            header("Last-Event-ID", "The last lifecycle event seen; wins over the parameter.", Values::Id("lce")),
        ],
        Body::None,
        &[answer(200, "Server-sent events; `id:` is the lifecycle id.", AnswerBody::Events("lifecycle_event"))],
        &[E::InvalidScopeGrammar, E::InvalidId, E::InvalidParameter, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/lifecycle", Stable, "lifecycle.subscribe", "List lifecycle events in order").built(
        &[SCOPE, OF_EVENT, OF_JOB, OF_IMPORT, OF_EXPORT, OF_ERASURE, OF_BATCH, NAMED, SINCE_LIFECYCLE, LIMIT, CURSOR],
        Body::None,
        &[answer(200, "A page of lifecycle events.", AnswerBody::Json("lifecycle_event_page"))],
        &[E::InvalidScopeGrammar, E::InvalidId, E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/lifecycle/event/{lifecycle_id}", Stable, "lifecycle.subscribe", "Read one lifecycle event").built(
        &[],
        Body::None,
        &[answer(200, "The lifecycle event.", AnswerBody::Json("lifecycle_event"))],
        &[E::InvalidId, E::NotFound, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/lifecycle/memory-event/{event_id}", Stable, "lifecycle.subscribe", "How far one memory event has come").built(
        &[],
        Body::None,
        &[answer(200, "Its stages.", AnswerBody::Json("lifecycle_aggregate"))],
        &[E::InvalidId, E::NotFound, E::ResourceDeleted, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/lifecycle/memory-event/{event_id}/cancel", Stable, "scope.write", "Stop the remaining stages of a memory event").built(
        &[],
        Body::OptionalJson("cancel_request"),
        &[answer(200, "What was stopped.", AnswerBody::Json("cancel_response"))],
        &[E::InvalidBody, E::InvalidId, E::NotFound, E::ResourceDeleted, E::PolicyDenied, E::WalUnavailable],
    ),
    // The server itself.
    RouteSpec::new(Get, "/v1/admin/health", Stable, "", "How the server is").built(
        &[],
        Body::None,
        &[
            answer(200, "Healthy or degraded.", AnswerBody::Json("health")),
            answer(503, "Unhealthy.", AnswerBody::Json("health")),
        ],
        &[],
    ),
    RouteSpec::new(Get, "/v1/admin/ready", Beta, "", "Whether requests will be served").built(
        &[],
        Body::None,
        &[answer(200, "Ready.", AnswerBody::Json("ready")), answer(503, "Not ready.", AnswerBody::Json("ready"))],
        &[],
    ),
    RouteSpec::new(Get, "/v1/admin/metrics", Stable, "admin.health", "Metrics in the Prometheus format").built(
        &[query("format", "`json` for JSON.", Values::OneOf(&["prometheus", "json"]))],
        Body::None,
        &[answer(200, "The metrics.", AnswerBody::Metrics)],
        &[E::InvalidParameter, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/admin/version", Stable, "", "What the server is and can do").built(
        &[],
        Body::None,
        &[answer(200, "The version.", AnswerBody::Json("version"))],
        &[],
    ),
    RouteSpec::new(Get, "/v1/health", Beta, "", "How the server is, in short").built(
        &[],
        Body::None,
        &[
            answer(200, "Healthy or degraded.", AnswerBody::Json("health")),
            answer(503, "Unhealthy.", AnswerBody::Json("health")),
        ],
        &[],
    ),
    RouteSpec::new(Get, "/v1/ready", Beta, "", "Whether requests will be served").built(
        &[],
        Body::None,
        &[answer(200, "Ready.", AnswerBody::Json("ready")), answer(503, "Not ready.", AnswerBody::Json("ready"))],
        &[],
    ),
    RouteSpec::new(Get, "/v1/openapi.json", Beta, "", "This document").built(
        &[], Body::None,
        &[answer(200, "OpenAPI 3.1.", AnswerBody::OpenApi)],
        &[],
    ),
    // Recall and answers.
    RouteSpec::new(Post, "/v1/recall", Stable, "scope.read.local", "Recall a stratified pack").built(
        &[],
        Body::Json("recall_request"),
        &[answer(200, "What is known, in layers.", AnswerBody::Json("stratified_pack"))],
        &[E::InvalidBody, E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidTimestamp, E::UnparseableTemporal, E::IdempotencyConflict, E::PolicyDenied, E::DerivedLayerUnavailable],
    ),
    RouteSpec::new(Post, "/v1/answer", Stable, "llm.invoke", "Answer a question from what is recalled").built(&[], Body::Json("answer_request"), &[answer(200, "The answer, with markers.", AnswerBody::Json("answer_response"))], ANSWER_ERRORS),
    RouteSpec::new(Post, "/v1/compose", Beta, "llm.invoke", "Write a document from what is recalled").built(&[], Body::Json("compose_request"), &[answer(200, "The document, in Markdown.", AnswerBody::Json("composition"))], ANSWER_ERRORS),
    // Forgetting.
    RouteSpec::new(Post, "/v1/forget", Stable, "forget.cascade.derived_only", "Forget by selector").built(&[IDEMPOTENCY_KEY], Body::Json("forget_request"), &[answer(200, "What was forgotten.", AnswerBody::Json("forgotten"))], FORGET_ERRORS),
    RouteSpec::new(Post, "/v1/forget/preview", Beta, "forget.cascade.derived_only", "What a forget would remove").built(&[], Body::Json("forget_request"), &[answer(200, "What would be forgotten.", AnswerBody::Json("forget_preview"))], FORGET_ERRORS),
    RouteSpec::new(Post, "/v1/erasures", Experimental, "forget.gdpr", "Erase a person's experiences").built(&[IDEMPOTENCY_KEY], Body::Json("erasure_request"), &[answer(202, "It has begun.", AnswerBody::Json("erasure_started"))], ERASURE_ERRORS),
    RouteSpec::new(Post, "/v1/erasures/preview", Experimental, "forget.gdpr", "What an erasure would remove").built(&[], Body::Json("erasure_request"), &[answer(200, "What would become of the records.", AnswerBody::Json("erasure_preview"))], ERASURE_ERRORS),
    RouteSpec::new(Get, "/v1/erasures/preview/{preview_id}/manifest", Experimental, "forget.gdpr", "The full plan of an erasure").built(&[], Body::None, &[answer(200, "The plan, line by line.", AnswerBody::Json("erasure_manifest"))], &[E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Get, "/v1/erasures/{erasure_id}", Experimental, "forget.gdpr", "How far an erasure has come").built(&[], Body::None, &[answer(200, "Its phase and its numbers.", AnswerBody::Json("erasure_job"))], &[E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Get, "/v1/erasures/{erasure_id}/manifest", Experimental, "forget.gdpr", "The plan of an erasure that has begun").built(&[], Body::None, &[answer(200, "The plan, line by line.", AnswerBody::Json("erasure_manifest"))], &[E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Post, "/v1/erasures/{erasure_id}/cancel", Experimental, "forget.gdpr", "Stop an erasure at a phase boundary").built(&[], Body::None, &[answer(200, "Whether it stops.", AnswerBody::Json("erasure_cancelled"))], &[E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Put, "/v1/admin/legal-holds", Experimental, "policy.administer.tenant", "Keep a scope from being erased").built(&[], Body::Json("legal_hold_request"), &[answer(200, "The hold.", AnswerBody::Json("legal_hold"))], &[E::InvalidBody, E::InvalidScopeGrammar, E::NotFound, E::PolicyDenied, E::UnsupportedMediaType, E::WalUnavailable]),
    RouteSpec::new(Get, "/v1/admin/legal-holds", Experimental, "policy.administer.tenant", "The scopes that are kept from being erased").built(&[LIMIT, CURSOR], Body::None, &[answer(200, "A page of holds, by scope.", AnswerBody::Json("legal_hold_list"))], &[E::InvalidParameter, E::InvalidCursor, E::PolicyDenied]),
    RouteSpec::new(Delete, "/v1/admin/legal-holds", Experimental, "policy.administer.tenant", "Lift the hold of a scope").built(&[required(SCOPE)], Body::None, &[answer(204, "It is lifted.", AnswerBody::Nothing)], &[E::MissingRequiredField, E::InvalidScopeGrammar, E::NotFound, E::PolicyDenied, E::WalUnavailable]),
    // Derived layers.
    RouteSpec::new(Get, "/v1/episodes", Stable, "scope.read.local", "List episodes").built(
        &[required(SCOPE), VIEW, query("actor", "With this actor among those who take part; also `observed_actor`.", Values::Text), query("overlapping", "Under way at some time in `from..to`.", Values::Text), query("with_causal_chain", "Also what led to what.", Values::OneOf(&["false", "true"])), AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, LIMIT, CURSOR], Body::None,
        &[answer(200, "A page of episodes, the last that began to be known first.", AnswerBody::Json("episode_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/episodes/build", Beta, "scope.write", "Build episodes now").built(
        &[], Body::Json("episodes_build"),
        &[answer(200, "The episodes of the scope.", AnswerBody::Json("episodes_built"))],
        &[E::InvalidEnvelope, E::InvalidBody, E::InvalidScopeGrammar, E::PolicyDenied, E::WalUnavailable],
    ),
    RouteSpec::new(Get, "/v1/facts", Stable, "scope.read.local", "List facts").built(
        &[required(SCOPE), VIEW, SUBJECT, PREDICATE, AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, MIN_CONFIDENCE, SUPERSEDED, LIMIT, CURSOR], Body::None,
        &[answer(200, "A page of facts, the last learned first.", AnswerBody::Json("fact_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/facts/timeline", Stable, "scope.read.local", "How a fact changed over time").built(
        &[required(SCOPE), VIEW, required(SUBJECT), PREDICATE, AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, MIN_CONFIDENCE, SUPERSEDED, LIMIT, CURSOR], Body::None,
        &[answer(200, "What held, oldest first.", AnswerBody::Json("fact_timeline"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/entities", Experimental, "scope.read.local", "List those that facts are about").built(
        &[required(SCOPE), VIEW, query("name", "Called so: a name, an actor, or an entity's id.", Values::Text), LIMIT, query("cursor", "`next_cursor` of the page before.", Values::Id("ent"))], Body::None,
        &[answer(200, "A page of entities, the first that was heard of first.", AnswerBody::Json("entity_page"))], &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/entities/{entity_id}/merge", Experimental, "policy.administer.tenant", "Two entities are one").built(
        &[], Body::Json("entity_merge"), &[answer(200, "The entity that stays.", AnswerBody::Json("entity"))], &[E::InvalidEnvelope, E::InvalidBody, E::InvalidId, E::InvalidParameter, E::NotFound, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Post, "/v1/entities/{entity_id}/split", Experimental, "policy.administer.tenant", "An entity that was merged stands for itself again").built(
        &[], Body::OptionalJson("entity_split"), &[answer(200, "The entity.", AnswerBody::Json("entity"))], &[E::InvalidBody, E::InvalidId, E::InvalidParameter, E::NotFound, E::EntityMergedFurther, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Get, "/v1/beliefs", Beta, "scope.read.local", "List beliefs").built(
        &[required(SCOPE), VIEW, ABOUT, PREDICATE, STANCE, AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, MIN_CONFIDENCE, SUPERSEDED, LIMIT, CURSOR], Body::None,
        &[answer(200, "A page of beliefs, the latest first.", AnswerBody::Json("belief_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/beliefs", Beta, "scope.write", "Declare a belief").built(
        &[], Body::Json("belief_declaration"),
        &[answer(201, "The belief; what was declared under its subject and predicate before is closed.", AnswerBody::Json("belief"))],
        &[E::InvalidBody, E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidTimestamp, E::InvalidId, E::UnregisteredScopeType, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Post, "/v1/beliefs/build", Beta, "scope.write", "What a scope makes beliefs of").built(
        &[], Body::Json("beliefs_build"),
        &[answer(200, "What there is, and why the rest is no belief.", AnswerBody::Json("beliefs_built"))],
        &[E::InvalidBody, E::MissingRequiredField, E::InvalidScopeGrammar, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType],
    ),
    RouteSpec::new(Get, "/v1/beliefs/why", Beta, "scope.read.local", "Why a belief is held").built(
        &[required(BELIEF), AS_OF_RECORDED], Body::None,
        &[answer(200, "The belief, what it stands on, and that in sentences.", AnswerBody::Json("belief_why"))],
        ONE_BELIEF_ERRORS,
    ),
    RouteSpec::new(Get, "/v1/beliefs/history", Beta, "scope.read.local", "How a belief was revised").built(
        &[required(BELIEF), AS_OF_RECORDED], Body::None,
        &[answer(200, "As it is, and as it was shown before.", AnswerBody::Json("belief_history"))],
        ONE_BELIEF_ERRORS,
    ),
    RouteSpec::new(Get, "/v1/beliefs/{belief_id}", Beta, "scope.read.local", "Read one belief").built(
        &[AS_OF_RECORDED], Body::None,
        &[answer(200, "The belief.", AnswerBody::Json("belief"))],
        &[E::InvalidId, E::InvalidTimestamp, E::NotFound, E::ResourceDeleted, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/understanding", Beta, "understanding.read", "List concepts").built(
        &[required(SCOPE), VIEW, TOPIC, query("depth", "And what is within so many steps of those about the topic.", Values::Integer(0, 5)), AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, MIN_CONFIDENCE, DEPRECATED, LIMIT, CURSOR],
        Body::None,
        &[answer(200, "A page of concepts, the last that came to be first.", AnswerBody::Json("concept_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/understanding/coverage", Beta, "understanding.read", "How much is understood").built(
        &[required(SCOPE), VIEW],
        Body::None,
        &[answer(200, "How much is understood.", AnswerBody::Json("understanding_coverage"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/understanding/synthesize", Experimental, "understanding.synthesize", "Synthesize concepts now").built(
        &[IDEMPOTENCY_KEY],
        Body::Json("synthesize_request"),
        &[answer(202, "The job; the built-in synthesizer is done.", AnswerBody::Json("synthesize_accepted"))],
        &[E::InvalidBody, E::InvalidScopeGrammar, E::IdempotencyConflict, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Get, "/v1/understanding/{concept_id}", Beta, "understanding.read", "Read one concept").built(
        &[AS_OF, AS_OF_VALID, AS_OF_RECORDED, DEPRECATED],
        Body::None,
        &[answer(200, "The concept, or the version that the id names.", AnswerBody::Json("concept"))],
        &[E::NotFound, E::InvalidId, E::InvalidParameter, E::InvalidTimestamp, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/understanding/{concept_id}/related", Beta, "understanding.read", "Concepts related to one").built(
        &[RELATION, query("depth", "At most so many steps.", Values::Integer(1, 5)), LIMIT, CURSOR],
        Body::None,
        &[answer(200, "The nearest first, then the strongest.", AnswerBody::Json("related_concepts"))],
        &[E::NotFound, E::InvalidId, E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/concepts", Beta, "understanding.read", "List concepts").built(
        &[required(SCOPE), VIEW, TOPIC, query("depth", "And what is within so many steps of those about the topic.", Values::Integer(0, 5)), AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, MIN_CONFIDENCE, DEPRECATED, LIMIT, CURSOR],
        Body::None,
        &[answer(200, "A page of concepts, the last that came to be first.", AnswerBody::Json("concept_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/concepts/coverage", Beta, "understanding.read", "How much is understood").built(
        &[required(SCOPE), VIEW],
        Body::None,
        &[answer(200, "How much is understood.", AnswerBody::Json("understanding_coverage"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/concepts/{concept_id}", Beta, "understanding.read", "Read one concept").built(
        &[AS_OF, AS_OF_VALID, AS_OF_RECORDED, DEPRECATED],
        Body::None,
        &[answer(200, "The concept, or the version that the id names.", AnswerBody::Json("concept"))],
        &[E::NotFound, E::InvalidId, E::InvalidParameter, E::InvalidTimestamp, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/concepts/{concept_id}/history", Beta, "understanding.read", "The versions of a concept").built(
        &[],
        Body::None,
        &[answer(200, "Every version, the latest first.", AnswerBody::Json("concept_history"))],
        &[E::NotFound, E::InvalidId, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/derivation/status", Beta, "scope.read.local", "Whether derivation has caught up").built(
        &[required(SCOPE)],
        Body::None,
        &[answer(200, "How far derivation is.", AnswerBody::Json("derivation_status"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/cost", Beta, "scope.read.local", "What a language model has taken for a scope").built(
        &[required(SCOPE), VIEW, query("estimate", "Also what it would take to ask about every event of the scope.", Values::OneOf(&["false", "true"]))],
        Body::None,
        &[answer(200, "What was spent, day by day, and what may be.", AnswerBody::Json("cost"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/conflicts", Beta, "scope.read.local", "List conflicting claims").built(
        &[required(SCOPE), VIEW, CONFLICT_STATUS, AS_OF, AS_OF_RECORDED, LIMIT, CONFLICT_CURSOR], Body::None,
        &[answer(200, "A page of conflicts, the last found first.", AnswerBody::Json("conflict_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/conflicts/{conflict_id}", Beta, "scope.read.local", "Read one conflict").built(
        &[AS_OF, AS_OF_RECORDED], Body::None,
        &[answer(200, "The conflict, with a record for each side.", AnswerBody::Json("conflict"))],
        &[E::InvalidId, E::InvalidTimestamp, E::NotFound, E::ResourceDeleted, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/conflicts/{conflict_id}/resolve", Beta, "scope.write", "Resolve a conflict").built(
        &[], Body::Json("resolve_request"),
        &[answer(200, "The conflict as it is now.", AnswerBody::Json("conflict"))],
        &[E::InvalidBody, E::InvalidId, E::InvalidTimestamp, E::NotFound, E::ResourceDeleted, E::ConflictNotOpen, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Get, "/v1/claims", Beta, "scope.read.local", "List claims on both axes of time").built(
        &[required(SCOPE), VIEW, SUBJECT, PREDICATE, AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_AS_OF, KNOWN_AS_OF, VALID_DURING, RECORDED_DURING, MIN_CONFIDENCE, SUPERSEDED, LIMIT, CURSOR], Body::None,
        &[answer(200, "A page of claims, the last recorded first.", AnswerBody::Json("claim_page"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/claims/history", Beta, "scope.read.local", "The history of one claim").built(
        &[required(SCOPE), VIEW, required(SUBJECT), required(PREDICATE), AS_OF, AS_OF_VALID, AS_OF_RECORDED, VALID_DURING, RECORDED_DURING, LIMIT, CURSOR], Body::None,
        &[answer(200, "Every version, the first recorded first.", AnswerBody::Json("claim_history"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    // Scopes.
    RouteSpec::new(Get, "/v1/scopes", Stable, "scope.read.local", "Read a scope, or list scopes").built(
        &[query("path", "One scope.", Values::Text), query("prefix", "Or all at and below this one.", Values::Text), query("auto_provisioned", "Made by a first write.", Values::OneOf(&["true", "false"])), LIMIT, CURSOR],
        Body::None,
        &[answer(200, "The scope, or a page of them.", AnswerBody::Json("scope"))],
        &[E::NotFound, E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/scopes", Stable, "policy.administer.scope", "Register a scope").built(
        &[],
        Body::Json("scope_registration"),
        &[answer(201, "The scope.", AnswerBody::Json("scope"))],
        &[E::InvalidBody, E::InvalidScopeGrammar, E::ScopeRegistrationExists, E::NotAMember, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Delete, "/v1/scopes", Stable, "policy.administer.scope", "Remove a scope").built(
        &[required(query("path", "The scope.", Values::Text)), query("records", "What becomes of its records.", Values::OneOf(&["keep", "forget"]))],
        Body::None,
        &[answer(204, "It is removed.", AnswerBody::Nothing)],
        &[E::ScopeHasRecords, E::MissingRequiredField, E::NotFound, E::NotAMember, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/scopes/list", Beta, "scope.read.local", "List scopes").built(
        &[query("prefix", "All at and below this one.", Values::Text), query("auto_provisioned", "Made by a first write.", Values::OneOf(&["true", "false"])), LIMIT, CURSOR],
        Body::None,
        &[answer(200, "A page of scopes.", AnswerBody::Json("scope_page"))],
        &[E::InvalidScopeGrammar, E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Put, "/v1/scopes/members", Stable, "policy.administer.scope", "Replace the members of a scope").built(
        &[required(query("path", "The scope.", Values::Text))],
        Body::Json("scope_members"),
        &[answer(200, "The scope.", AnswerBody::Json("scope"))],
        &[E::InvalidBody, E::MissingRequiredField, E::NotFound, E::NotAMember, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/scopes/prune", Experimental, "policy.administer.tenant", "Remove scopes that nobody uses").built(
        &[],
        Body::Json("prune_request"),
        &[answer(200, "What went, or would.", AnswerBody::Json("pruned"))],
        &[E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    // Policy.
    RouteSpec::new(Get, "/v1/policy/effective", Stable, "", "What the caller may do").built(
        &[
            query("actor", "Of this actor, instead of the caller; takes `policy.administer.actor`.", Values::Text),
            SCOPE,
        ],
        Body::None,
        &[answer(200, "Every capability, and who decided it.", AnswerBody::Json("capability_set"))],
        &[E::InvalidParameter, E::InvalidScopeGrammar, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/policy/deployment", Stable, "", "The policy of the deployment").built(
        &[],
        Body::None,
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[],
    ),
    RouteSpec::new(Put, "/v1/policy/deployment", Experimental, "policy.administer.deployment", "Replace the policy of the deployment").built(
        &[],
        Body::Json("policy"),
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/policy/tenant/{tenant_id}", Stable, "policy.administer.tenant", "The policy of a tenant").built(
        &[],
        Body::None,
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::PolicyDenied],
    ),
    RouteSpec::new(Put, "/v1/policy/tenant/{tenant_id}", Experimental, "policy.administer.tenant", "Replace the policy of a tenant").built(
        &[],
        Body::Json("policy"),
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/policy/scope", Stable, "policy.administer.scope", "The policy of a scope").built(
        &[required(query("path", "The scope.", Values::Text))],
        Body::None,
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::NotAMember, E::PolicyDenied],
    ),
    RouteSpec::new(Put, "/v1/policy/scope", Experimental, "policy.administer.scope", "Replace the policy of a scope").built(
        &[required(query("path", "The scope.", Values::Text))],
        Body::Json("policy"),
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::MissingRequiredField, E::InvalidScopeGrammar, E::NotAMember, E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/policy/scope/{scope_path}", Stable, "policy.administer.scope", "The policy of a scope, in the path").built(
        &[],
        Body::None,
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::InvalidScopeGrammar, E::NotAMember, E::PolicyDenied],
    ),
    RouteSpec::new(Put, "/v1/policy/scope/{scope_path}", Experimental, "policy.administer.scope", "Replace the policy of a scope, in the path").built(
        &[],
        Body::Json("policy"),
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::InvalidScopeGrammar, E::NotAMember, E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/policy/actor/{actor_id}", Stable, "policy.administer.actor", "The policy of an actor").built(
        &[],
        Body::None,
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::InvalidId, E::PolicyDenied],
    ),
    RouteSpec::new(Put, "/v1/policy/actor/{actor_id}", Experimental, "policy.administer.actor", "Replace the policy of an actor").built(
        &[],
        Body::Json("policy"),
        &[answer(200, "The policy.", AnswerBody::Json("policy_record"))],
        &[E::InvalidId, E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    // Audit.
    RouteSpec::new(Get, "/v1/audit", Stable, "audit.read", "List rows of the audit log").built(
        &[SCOPE, query("actor", "Of this actor; another than the caller takes `audit.read.cross_actor`.", Values::Text), query("capability", "About this capability.", Values::Text), query("decision", "Only these.", Values::OneOf(&["allow", "deny"])), query("since", "Not before.", Values::Time), query("until", "Before.", Values::Time), query("q", "With all these words, or words that begin with them, in what the row says.", Values::Text), LIMIT, CURSOR],
        Body::None,
        &[answer(200, "A page of rows, newest first.", AnswerBody::Json("audit_row_page"))],
        &[E::InvalidParameter, E::InvalidScopeGrammar, E::InvalidTimestamp, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/audit/verify", Stable, "audit.read", "Check a body against its audit row").built(
        &[],
        Body::Json("audit_verify_request"),
        &[answer(200, "Whether it is the body.", AnswerBody::Json("audit_verified"))],
        &[E::InvalidBody, E::InvalidId, E::NotFound, E::ResourceDeleted, E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/audit/chain", Beta, "audit.read", "The head of the audit chain").built(
        &[query("actor", "Of this actor only.", Values::Text)],
        Body::None,
        &[answer(200, "The chain.", AnswerBody::Json("audit_chain"))],
        &[E::InvalidParameter, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/audit/chain/verify", Beta, "audit.read", "Verify the audit chain").built(
        &[],
        Body::None,
        &[answer(200, "Whether it holds.", AnswerBody::Json("audit_chain_verified"))],
        &[E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/audit/{audit_id}", Stable, "audit.read", "Read one row of the audit log").built(
        &[],
        Body::None,
        &[answer(200, "The row.", AnswerBody::Json("audit_row"))],
        &[E::InvalidId, E::NotFound, E::PolicyDenied],
    ),
    // Import and export.
    RouteSpec::new(Post, "/v1/import", Beta, "import.from.jsonl", "Import memory of another program").built(IMPORT_PARAMS, Body::JsonOrBytes("import_request"), IMPORT_ANSWERS, IMPORT_ERRORS),
    RouteSpec::new(Post, "/v1/import/mem0", Beta, "import.from.mem0", "Import from Mem0").built(IMPORT_PARAMS, Body::JsonOrBytes("import_request"), IMPORT_ANSWERS, IMPORT_ERRORS),
    RouteSpec::new(Post, "/v1/import/zep", Beta, "import.from.zep", "Import from Zep").built(IMPORT_PARAMS, Body::JsonOrBytes("import_request"), IMPORT_ANSWERS, IMPORT_ERRORS),
    RouteSpec::new(Post, "/v1/import/letta", Beta, "import.from.letta", "Import from Letta").built(IMPORT_PARAMS, Body::JsonOrBytes("import_request"), IMPORT_ANSWERS, IMPORT_ERRORS),
    RouteSpec::new(Post, "/v1/import/openai", Beta, "import.from.openai", "Import a ChatGPT export").built(IMPORT_PARAMS, Body::JsonOrBytes("import_request"), IMPORT_ANSWERS, IMPORT_ERRORS),
    RouteSpec::new(Post, "/v1/import/jsonl", Beta, "import.from.jsonl", "Import envelopes, one per line").built(IMPORT_PARAMS, Body::JsonOrBytes("import_request"), IMPORT_ANSWERS, IMPORT_ERRORS),
    RouteSpec::new(Get, "/v1/import/{import_id}", Beta, "import.from.jsonl", "How far an import has come").built(&[], Body::None, &[answer(200, "Its state, refused rows, and the report at the end.", AnswerBody::Json("import_job"))], &[E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Post, "/v1/import/{import_id}/cancel", Beta, "import.from.jsonl", "Stop an import").built(&[], Body::None, &[answer(200, "Whether it stops.", AnswerBody::Json("import_cancelled"))], &[E::InvalidId, E::NotFound, E::PolicyDenied, E::WalUnavailable]),
    RouteSpec::new(Post, "/v1/export", Beta, "export.format.jsonl", "Export a scope").built(&[], Body::Json("export_request"), &[answer(202, "The export, with its bytes if they are few.", AnswerBody::Json("export_job"))], &[E::InvalidBody, E::InvalidScopeGrammar, E::InvalidTimestamp, E::MissingRequiredField, E::PolicyDenied, E::NotAMember, E::InvalidParameter, E::Overloaded, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType]),
    RouteSpec::new(Get, "/v1/export/{export_id}", Beta, "export.format.jsonl", "How far an export has come").built(&[], Body::None, &[answer(200, "The export.", AnswerBody::Json("export_job"))], &[E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Get, "/v1/export/{export_id}/data", Beta, "export.format.jsonl", "The bytes of an export").built(&[], Body::None, &[answer(200, "The bytes, made while they are sent; gzip if the client takes it.", AnswerBody::Bytes)], &[E::InvalidId, E::NotFound, E::PolicyDenied, E::NotAMember, E::InvalidParameter, E::Overloaded]),
    // Vocabularies and phrases.
    RouteSpec::new(Get, "/v1/vocabularies", Beta, "vocabulary.read", "List vocabularies").built(
        &[LIMIT, CURSOR],
        Body::None,
        &[answer(200, "A page of them, by name.", AnswerBody::Json("vocabulary_list"))],
        &[E::InvalidParameter, E::InvalidCursor, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/vocabularies", Beta, "vocabulary.write", "Register a vocabulary").built(
        &[],
        Body::Json("vocabulary_request"),
        &[answer(201, "It is in force.", AnswerBody::Json("vocabulary"))],
        &[E::VocabularyExists, E::InvalidBody, E::InvalidScopeGrammar, E::InvalidTimestamp, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Get, "/v1/vocabularies/{name}", Beta, "vocabulary.read", "Read a vocabulary").built(
        &[query("scope", "The one of this scope, if there are several of the name.", Values::Text)],
        Body::None,
        &[answer(200, "What is in force.", AnswerBody::Json("vocabulary"))],
        &[E::NotFound, E::InvalidScopeGrammar, E::PolicyDenied],
    ),
    RouteSpec::new(Put, "/v1/vocabularies/{name}", Beta, "vocabulary.write", "Replace a vocabulary").built(
        &[],
        Body::Json("vocabulary_request"),
        &[
            answer(200, "It replaces what was in force.", AnswerBody::Json("vocabulary")),
            answer(201, "There was none of this name.", AnswerBody::Json("vocabulary")),
        ],
        &[E::VocabularyExists, E::InvalidBody, E::InvalidScopeGrammar, E::InvalidTimestamp, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Patch, "/v1/vocabularies/{name}", Beta, "vocabulary.write", "Merge into a vocabulary").built(
        &[],
        Body::Json("vocabulary_request"),
        &[answer(200, "What is in force now, whole.", AnswerBody::Json("vocabulary"))],
        &[E::VocabularyExists, E::NotFound, E::InvalidBody, E::InvalidScopeGrammar, E::InvalidTimestamp, E::PolicyDenied, E::RequestTimeout, E::BodyTooLarge, E::UnsupportedMediaType, E::WalUnavailable],
    ),
    RouteSpec::new(Post, "/v1/temporal/phrases", Beta, "temporal.phrases.write", "Register a phrase for a time").built(&[], Body::Json("temporal_phrase_request"), &[answer(201, "The phrase.", AnswerBody::Json("temporal_phrase"))], &[E::InvalidBody, E::InvalidTimestamp, E::InvalidParameter, E::PolicyDenied, E::WalUnavailable]),
    RouteSpec::new(Get, "/v1/temporal/phrases", Beta, "temporal.phrases.read", "List phrases for times").built(&[LIMIT, CURSOR], Body::None, &[answer(200, "A page of them, by name.", AnswerBody::Json("temporal_phrase_list"))], &[E::InvalidParameter, E::InvalidCursor, E::PolicyDenied]),
    RouteSpec::new(Delete, "/v1/temporal/phrases/{name}", Beta, "temporal.phrases.write", "Remove a phrase for a time").built(&[], Body::None, &[answer(204, "It is gone.", AnswerBody::Nothing)], &[E::NotFound, E::PolicyDenied, E::WalUnavailable]),
    // Identity.
    RouteSpec::new(Get, "/v1/auth/whoami", Stable, "", "Who the caller is and what it may do").built(&[], Body::None, &[answer(200, "The caller.", AnswerBody::Json("whoami"))], &[]),
    RouteSpec::new(Post, "/v1/auth/revoke", Stable, "auth.revoke", "Revoke a token").built(
        &[],
        Body::Json("revoke_request"),
        &[answer(204, "It is revoked.", AnswerBody::Nothing)],
        &[E::InvalidBody, E::WalUnavailable, E::PolicyDenied],
    ),
    RouteSpec::new(Post, "/v1/auth/signup", Beta, "", "Get a token for a new user").built(
        &[],
        Body::Json("signup_request"),
        &[answer(200, "The new user, with a token and a scope of its own.", AnswerBody::Json("signed_up"))],
        &[E::InvalidBody, E::PolicyDenied, E::WalUnavailable, E::NotConfigured],
    ),
    RouteSpec::new(Post, "/v1/auth/tokens", Beta, "auth.mint", "Mint a token").built(
        &[],
        Body::Json("mint_request"),
        &[answer(201, "A token, never wider than the caller's own.", AnswerBody::Json("minted_token"))],
        &[E::InvalidBody, E::InvalidScopeGrammar, E::PolicyDenied, E::NotConfigured],
    ),
    // Operators.
    RouteSpec::new(Post, "/v1/admin/flush-views", Experimental, "admin.flush", "Bring the views up to date now").built(&[], Body::None, &[answer(200, "The views are durable.", AnswerBody::Json("flushed"))], &[E::PolicyDenied]),
    RouteSpec::new(Post, "/v1/admin/compact", Experimental, "admin.compact", "Compact the views now").built(&[], Body::None, &[answer(200, "The views are compacted.", AnswerBody::Json("compaction"))], &[E::PolicyDenied]),
    RouteSpec::new(Get, "/v1/admin/layers/stats", Experimental, "diagnostics.read", "Counts and lag per layer").built(
        &[],
        Body::None,
        &[answer(200, "How many records each layer has.", AnswerBody::Json("layer_stats"))],
        &[E::PolicyDenied],
    ),
    RouteSpec::new(Get, "/v1/admin/events/{event_id}/chunks", Experimental, "diagnostics.read", "How an event is indexed").built(&[], Body::None, &[answer(200, "Its parts.", AnswerBody::Json("event_chunks"))], &[E::InvalidId, E::NotFound, E::ResourceDeleted, E::PolicyDenied]),
    RouteSpec::new(Post, "/v1/admin/index-audit", Experimental, "admin.health", "Find events missing in the index").built(&[], Body::OptionalJson("index_audit_request"), &[answer(200, "What is missing.", AnswerBody::Json("index_audit"))], &[E::InvalidBody, E::InvalidScopeGrammar, E::PolicyDenied, E::DerivedLayerUnavailable]),
    RouteSpec::new(Get, "/v1/admin/retention", Experimental, "diagnostics.read", "The state of retention").built(&[], Body::None, &[answer(200, "How it stands.", AnswerBody::Json("retention_status"))], &[E::PolicyDenied]),
    RouteSpec::new(Put, "/v1/admin/retention/policies", Experimental, "admin.compact", "Set the retention of a scope").built(&[], Body::Json("retention_policy_request"), &[answer(200, "It is in force.", AnswerBody::Json("retention_policy"))], &[E::InvalidBody, E::InvalidScopeGrammar, E::InvalidParameter, E::PolicyDenied, E::WalUnavailable]),
    RouteSpec::new(Get, "/v1/admin/retention/policies", Experimental, "diagnostics.read", "The retention of a scope").built(&[required(SCOPE)], Body::None, &[answer(200, "What is said about exactly this scope.", AnswerBody::Json("retention_policy"))], &[E::MissingRequiredField, E::InvalidScopeGrammar, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Delete, "/v1/admin/retention/policies", Experimental, "admin.compact", "Remove the retention of a scope").built(&[required(SCOPE)], Body::None, &[answer(204, "It is gone.", AnswerBody::Nothing)], &[E::MissingRequiredField, E::InvalidScopeGrammar, E::NotFound, E::PolicyDenied, E::WalUnavailable]),
    RouteSpec::new(Post, "/v1/admin/retention/sweep", Experimental, "diagnostics.read", "Remove what is past its retention, or count it").built(&[], Body::OptionalJson("retention_sweep_request"), &[answer(200, "What went, or would.", AnswerBody::Json("retention_swept"))], &[E::InvalidBody, E::InvalidScopeGrammar, E::RetentionSweepRunning, E::PolicyDenied, E::WalUnavailable]),
    RouteSpec::new(Get, "/v1/admin/clock", Beta, "diagnostics.read", "Whether the clock is believed, and what waits").built(&[], Body::None, &[answer(200, "How it stands.", AnswerBody::Json("clock_status"))], &[E::PolicyDenied]),
    RouteSpec::new(Post, "/v1/admin/clock/confirm", Beta, "admin.compact", "Confirm the clock, or a sweep that waits").built(&[], Body::OptionalJson("clock_confirm_request"), &[answer(200, "How it stands now.", AnswerBody::Json("clock_status"))], &[E::InvalidBody, E::InvalidId, E::NotFound, E::PolicyDenied]),
    RouteSpec::new(Get, "/v1/admin/wal", Experimental, "diagnostics.read", "The state of the log").built(&[query("verify", "Also read it and say whether it holds.", Values::OneOf(&["false", "true"]))], Body::None, &[answer(200, "How it stands.", AnswerBody::Json("wal_status"))], &[E::InvalidParameter, E::PolicyDenied]),
    RouteSpec::new(Post, "/v1/admin/wal/compact", Experimental, "diagnostics.read", "Give back what the tables do not need").built(&[], Body::OptionalJson("wal_compact_request"), &[answer(200, "What was done, or would be.", AnswerBody::Json("wal_compacted"))], &[E::InvalidBody, E::WalCompactionRunning, E::PolicyDenied]),
    // The code plane is not part of this server.
    RouteSpec::new(Any, "/v1/code/{*rest}", Experimental, "", "The code plane").unavailable(E::CodePlaneDisabled),
];
