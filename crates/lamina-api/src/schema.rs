//! JSON Schemas (draft 2020-12) of every shape in the contract, made from the types that read and
//! write it. The names are those of appendix D where it has one.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::error::ErrorEnvelope;
use crate::page::Page;
use crate::routes::{AnswerBody, Body, ROUTES, RouteSpec};
use crate::v1::admin::{
    ChunksBody, Compaction, Flushed, Health, IndexAuditBody, IndexAuditRequest, LayerStats, Ready,
    Version,
};
use crate::v1::answer::{AnswerBody as AnswerShape, AnswerRequest, ComposeBody, ComposeRequest};
use crate::v1::audit::{
    AuditChain, AuditRowBody, AuditVerified, AuditVerifyRequest, ChainVerified,
};
use crate::v1::auth::{
    MintRequest, MintedToken, RevokeRequest, SignedUp, SignupRequest, TokenClaims, Whoami,
};
use crate::v1::beliefs::{
    BeliefBody, BeliefsBuildRequest, BeliefsPage, BuiltBody, DeclareRequest, HistoryBody, WhyBody,
};
use crate::v1::blobs::{BlobDeleted, BlobUploaded};
use crate::v1::claims::{ClaimHistory, ClaimsPage};
use crate::v1::conflicts::{ConflictBody, ConflictsPage, ResolveRequest};
use crate::v1::cost::CostBody;
use crate::v1::entities::{EntitiesPage, KnownEntityBody, MergeRequest, SplitRequest};
use crate::v1::episodes::{BuildRequest, EpisodeBody, EpisodesBuilt, EpisodesPage};
use crate::v1::erasures::{
    ErasureCancelled, ErasureJobBody, ErasureManifestBody, ErasurePreviewBody, ErasureRequest,
    ErasureStarted, LegalHoldBody, LegalHoldList, LegalHoldRequest,
};
use crate::v1::events::{EventBody, EventsPage};
use crate::v1::experience::{
    BulkAccepted, BulkBody, ByIdempotencyKey, ExperienceAccepted, ExperienceCompleted,
    ExperienceEnvelope, WriteStatus,
};
use crate::v1::exports::{ExportJobBody, ExportRequest};
use crate::v1::facts::{DerivationStatus, FactBody, FactsPage, TimelineBody};
use crate::v1::forget::{ForgetPreviewBody, ForgetRequest, ForgottenBody};
use crate::v1::import::{ImportAccepted, ImportCancelled, ImportJobBody, ImportRequest};
use crate::v1::keyed;
use crate::v1::lifecycle::{
    CancelRequest, CancelResponse, Lagging, LifecycleAggregate, LifecycleBody, PolicyChanged,
    PolicyRevoked,
};

use crate::v1::clock::{ClockBody, ConfirmRequest};
use crate::v1::phrases::{PhraseBody, PhraseList, PhraseRequest};
use crate::v1::policy::{Effective, PolicyBody, PolicyRecord};
use crate::v1::recall::{PackBody, RecallRequest, TemporalBlock};
use crate::v1::retention::{
    PolicyBody as RetentionPolicyBody, RuleRequest, StatusBody, SweepRequest, SweptBody,
};
use crate::v1::scopes::{MembersBody, PruneRequest, Pruned, ScopeBody, ScopeRegistration};
use crate::v1::understanding::{
    ConceptBody, ConceptHistory, ConceptsPage, CoverageBody, RelatedPage, SynthesizeRequest,
    Synthesized,
};
use crate::v1::vocabularies::{VocabularyBody, VocabularyList, VocabularyRequest};
use crate::v1::wal::{CompactRequest, CompactedBody, WalBody};

type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Every shape that has a file of its own.
const SHAPES: &[(&str, MakeSchema)] = &[
    ("experience_envelope", of::<ExperienceEnvelope>),
    ("experience_bulk", of::<BulkBody>),
    ("experience_accepted", of::<ExperienceAccepted>),
    ("experience_completed", of::<ExperienceCompleted>),
    ("bulk_accepted", of::<BulkAccepted>),
    ("write_status", of::<WriteStatus>),
    ("by_idempotency_key", of::<ByIdempotencyKey>),
    ("event", of::<EventBody>),
    ("event_page", of::<EventsPage>),
    ("episode", of::<EpisodeBody>),
    ("episode_page", of::<EpisodesPage>),
    ("episodes_build", of::<BuildRequest>),
    ("episodes_built", of::<EpisodesBuilt>),
    ("fact", of::<FactBody>),
    ("fact_page", of::<FactsPage>),
    ("fact_timeline", of::<TimelineBody>),
    ("entity", of::<KnownEntityBody>),
    ("entity_page", of::<EntitiesPage>),
    ("entity_merge", of::<MergeRequest>),
    ("entity_split", of::<SplitRequest>),
    ("belief", of::<BeliefBody>),
    ("belief_page", of::<BeliefsPage>),
    ("belief_declaration", of::<DeclareRequest>),
    ("belief_why", of::<WhyBody>),
    ("belief_history", of::<HistoryBody>),
    ("beliefs_build", of::<BeliefsBuildRequest>),
    ("beliefs_built", of::<BuiltBody>),
    ("concept", of::<ConceptBody>),
    ("concept_page", of::<ConceptsPage>),
    ("concept_history", of::<ConceptHistory>),
    ("related_concepts", of::<RelatedPage>),
    ("understanding_coverage", of::<CoverageBody>),
    ("synthesize_request", of::<SynthesizeRequest>),
    ("synthesize_accepted", of::<Synthesized>),
    ("derivation_status", of::<DerivationStatus>),
    ("recall_request", of::<RecallRequest>),
    ("temporal_block", of::<TemporalBlock>),
    ("stratified_pack", of::<PackBody>),
    ("answer_request", of::<AnswerRequest>),
    ("answer_response", of::<AnswerShape>),
    ("compose_request", of::<ComposeRequest>),
    ("composition", of::<ComposeBody>),
    ("forget_request", of::<ForgetRequest>),
    ("forgotten", of::<ForgottenBody>),
    ("forget_preview", of::<ForgetPreviewBody>),
    ("export_request", of::<ExportRequest>),
    ("export_job", of::<ExportJobBody>),
    ("erasure_request", of::<ErasureRequest>),
    ("erasure_preview", of::<ErasurePreviewBody>),
    ("erasure_manifest", of::<ErasureManifestBody>),
    ("erasure_started", of::<ErasureStarted>),
    ("erasure_job", of::<ErasureJobBody>),
    ("erasure_cancelled", of::<ErasureCancelled>),
    ("legal_hold_request", of::<LegalHoldRequest>),
    ("legal_hold", of::<LegalHoldBody>),
    ("legal_hold_list", of::<LegalHoldList>),
    ("retention_policy_request", of::<RuleRequest>),
    ("retention_policy", of::<RetentionPolicyBody>),
    ("retention_status", of::<StatusBody>),
    ("retention_sweep_request", of::<SweepRequest>),
    ("retention_swept", of::<SweptBody>),
    ("clock_status", of::<ClockBody>),
    ("clock_confirm_request", of::<ConfirmRequest>),
    ("wal_status", of::<WalBody>),
    ("wal_compact_request", of::<CompactRequest>),
    ("wal_compacted", of::<CompactedBody>),
    ("conflict", of::<ConflictBody>),
    ("conflict_page", of::<ConflictsPage>),
    ("resolve_request", of::<ResolveRequest>),
    ("vocabulary", of::<VocabularyBody>),
    ("vocabulary_list", of::<VocabularyList>),
    ("vocabulary_request", of::<VocabularyRequest>),
    ("temporal_phrase_request", of::<PhraseRequest>),
    ("temporal_phrase", of::<PhraseBody>),
    ("temporal_phrase_list", of::<PhraseList>),
    ("claim_page", of::<ClaimsPage>),
    ("claim_history", of::<ClaimHistory>),
    ("cost", of::<CostBody>),
    ("lifecycle_event", of::<LifecycleBody>),
    ("lifecycle_event_page", of::<Page<LifecycleBody>>),
    ("lifecycle_aggregate", of::<LifecycleAggregate>),
    ("lifecycle_lagging", of::<Lagging>),
    ("lifecycle_policy_changed", of::<PolicyChanged>),
    ("lifecycle_policy_revoked", of::<PolicyRevoked>),
    ("cancel_request", of::<CancelRequest>),
    ("cancel_response", of::<CancelResponse>),
    ("import_request", of::<ImportRequest>),
    ("import_accepted", of::<ImportAccepted>),
    ("import_job", of::<ImportJobBody>),
    ("import_cancelled", of::<ImportCancelled>),
    ("blob_uploaded", of::<BlobUploaded>),
    ("blob_deleted", of::<BlobDeleted>),
    ("health", of::<Health>),
    ("ready", of::<Ready>),
    ("version", of::<Version>),
    ("flushed", of::<Flushed>),
    ("compaction", of::<Compaction>),
    ("layer_stats", of::<LayerStats>),
    ("index_audit_request", of::<IndexAuditRequest>),
    ("index_audit", of::<IndexAuditBody>),
    ("event_chunks", of::<ChunksBody>),
    ("scope", of::<ScopeBody>),
    ("scope_page", of::<Page<ScopeBody>>),
    ("scope_registration", of::<ScopeRegistration>),
    ("scope_members", of::<MembersBody>),
    ("prune_request", of::<PruneRequest>),
    ("pruned", of::<Pruned>),
    ("policy", of::<PolicyBody>),
    ("policy_record", of::<PolicyRecord>),
    ("capability_set", of::<Effective>),
    ("audit_row", of::<AuditRowBody>),
    ("audit_row_page", of::<Page<AuditRowBody>>),
    ("audit_verify_request", of::<AuditVerifyRequest>),
    ("audit_verified", of::<AuditVerified>),
    ("audit_chain", of::<AuditChain>),
    ("audit_chain_verified", of::<ChainVerified>),
    ("token_claims", of::<TokenClaims>),
    ("whoami", of::<Whoami>),
    ("revoke_request", of::<RevokeRequest>),
    ("mint_request", of::<MintRequest>),
    ("minted_token", of::<MintedToken>),
    ("signup_request", of::<SignupRequest>),
    ("signed_up", of::<SignedUp>),
    ("error_envelope", of::<ErrorEnvelope>),
];

/// The names of all shapes.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|(name, _)| *name)
}

/// One shape as a schema document of its own; `None` if there is none of that name.
pub fn document(name: &str) -> Option<Value> {
    let (name, make) = SHAPES.iter().find(|(known, _)| *known == name)?;
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    make(&mut generator);
    let mut definitions = generator.take_definitions(true);
    // The shape itself moves from the definitions to the root, unless it refers to itself.
    let root = definitions.remove(*name)?;
    let mut document = Map::new();
    document.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    document.insert("$id".into(), format!("{name}.schema.json").into());
    document.insert("title".into(), (*name).into());
    if let Value::Object(root) = root {
        document.extend(root);
    }
    with_key(name, &mut document);
    if !definitions.is_empty() {
        document.insert("$defs".into(), Value::Object(definitions));
    }
    Some(Value::Object(document))
}

/// All shapes and what they are made of, as the components of an OpenAPI document.
pub fn components() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut generator = settings.into_generator();
    for (_, make) in SHAPES {
        make(&mut generator);
    }
    let mut components: Vec<(String, Value)> =
        generator.take_definitions(true).into_iter().collect();
    components.sort_by(|(a, _), (b, _)| a.cmp(b));
    let keyed = |(name, mut shape): (String, Value)| {
        if let Value::Object(shape) = &mut shape {
            with_key(&name, shape);
        }
        (name, shape)
    };
    components.into_iter().map(keyed).collect()
}

/// Every body of a change may have an idempotency key (R197). What is also answered has none.
fn with_key(name: &str, shape: &mut Map<String, Value>) {
    let reads = |route: &&RouteSpec| matches!(route.body, Body::Json(body) | Body::OptionalJson(body) if body == name);
    let answered = |route: &RouteSpec| {
        let mut bodies = route.answers.iter().map(|answer| answer.body);
        bodies.any(|body| matches!(body, AnswerBody::Json(body) if body == name))
    };
    let changes = ROUTES.iter().filter(reads).any(RouteSpec::keeps_answers);
    if changes
        && !ROUTES.iter().any(answered)
        && let Some(Value::Object(properties)) = shape.get_mut("properties")
    {
        let about = "A key for the request: the same again is answered as before.";
        let key = json!({
            "description": about, "type": ["string", "null"], "minLength": 1, "maxLength": 64,
        });
        properties.insert(keyed::FIELD.to_owned(), key);
    }
}

#[cfg(test)]
pub(crate) mod tests;
