//! The parameters that routes share, what they may be, and how rows of the table are written.

use lamina_types::ErrorCode as E;

use super::{Answer, AnswerBody, Param, Values};

pub(super) const fn query(name: &'static str, about: &'static str, values: Values) -> Param {
    Param { name, header: false, required: false, about, values }
}

pub(super) const fn header(name: &'static str, about: &'static str, values: Values) -> Param {
    Param { name, header: true, required: false, about, values }
}

pub(super) const fn required(mut param: Param) -> Param {
    param.required = true;
    param
}

pub(super) const fn answer(status: u16, about: &'static str, body: AnswerBody) -> Answer {
    Answer { status, about, body }
}

pub(super) const SCOPE: Param =
    query("scope", "The scope, a path of `type:id` segments.", Values::Text);
pub(super) const CURSOR: Param = query(
    "cursor",
    "`next_cursor` of the page before; a plain number is taken as an offset.",
    Values::Text,
);
pub(super) const VIEW: Param = query(
    "view",
    "How far to read from the scope.",
    Values::OneOf(&["local", "holistic", "descend"]),
);
pub(super) const SUBJECT: Param =
    query("subject", "About this: an entity's id, an actor, or a name.", Values::Text);
pub(super) const PREDICATE: Param = query("predicate", "With this predicate.", Values::Text);
pub(super) const AS_OF: Param =
    query("as_of", "Where the question stands on both axes of time.", Values::Time);
pub(super) const AS_OF_VALID: Param =
    query("as_of_valid", "The instant in the world it is about.", Values::Time);
pub(super) const AS_OF_RECORDED: Param =
    query("as_of_recorded", "The knowledge it is asked with.", Values::Time);
pub(super) const VALID_DURING: Param =
    query("valid_during", "True at some time in `from..to`.", Values::Text);
pub(super) const RECORDED_DURING: Param =
    query("recorded_during", "Known at some time in `from..to`.", Values::Text);
pub(super) const MIN_CONFIDENCE: Param =
    query("min_confidence", "At least this sure, from 0 to 1.", Values::Text);
pub(super) const ABOUT: Param =
    query("about", "About this: an entity's id, an actor, or a name.", Values::Text);
pub(super) const STANCES: Values =
    Values::OneOf(&["supported", "contradicted", "uncertain", "deprecated"]);
pub(super) const STANCE: Param = query("stance", "How the evidence leans.", STANCES);
pub(super) const BELIEF: Param = query("belief_id", "The belief.", Values::Id("belief"));
pub(super) const SUPERSEDED: Param = query(
    "include_superseded",
    "Also versions that others have replaced.",
    Values::OneOf(&["false", "true"]),
);
pub(super) const VALID_AS_OF: Param =
    query("valid_as_of", "The same as `as_of_valid`.", Values::Time);
pub(super) const KNOWN_AS_OF: Param =
    query("known_as_of", "The same as `as_of_recorded`.", Values::Time);
pub(super) const CONFLICT_STATUS: Param = query(
    "status",
    "Only those that are still to be decided, or all.",
    Values::OneOf(&["open", "all"]),
);
pub(super) const CONFLICT_CURSOR: Param =
    query("cursor", "`next_cursor` of the page before, a whole number.", Values::Text);
pub(super) const TOPIC: Param =
    query("topic", "Only concepts that gather these words.", Values::Text);
pub(super) const DEPRECATED: Param = query(
    "include_deprecated",
    "Also what is not held any more.",
    Values::OneOf(&["false", "true"]),
);
pub(super) const RELATION: Param = query(
    "relation",
    "Over edges of this relation only.",
    Values::OneOf(&[
        "is_a",
        "part_of",
        "specializes",
        "generalizes",
        "depends_on",
        "causes",
        "contradicts",
        "co_occurs_with",
        "related_to",
    ]),
);
pub(super) const LIMIT: Param = query("limit", "Items per page.", Values::Integer(1, 1000));
pub(super) const WAIT: Param = query(
    "wait",
    "What to wait for before answering.",
    Values::OneOf(&["accepted", "captured", "indexed", "consolidated", "settled"]),
);
pub(crate) const IDEMPOTENCY_KEY: Param = header(
    "X-Cortex-Idempotency-Key",
    "The idempotency key, instead of the field in the body.",
    Values::Text,
);
pub(super) const IMPORT_PARAMS: &[Param] = &[
    query("format", "The format of an upload; it is recognized if this is absent.", Values::Text),
    query("scope", "The scope that receives the rows of an upload.", Values::Text),
    query(
        "scope_template",
        "The scope of each row, such as `org:acme/user:{user_id}`.",
        Values::Text,
    ),
    query(
        "dry_run",
        "Report what an upload would do, and write nothing.",
        Values::OneOf(&["true", "false"]),
    ),
    query(
        "ordering",
        "The order of writing.",
        Values::OneOf(&["strict_temporal", "batch_throughput"]),
    ),
    query("name", "The name of the file, for the report.", Values::Text),
    query(
        "modified",
        "When the file was last changed: the time of rows that have none.",
        Values::Time,
    ),
    query(
        "columns",
        "CSV: the column of each field, such as `text=body,time=created`.",
        Values::Text,
    ),
    query(
        "naive_times",
        "How times without a zone are read: `refuse`, `UTC` or `+hh:mm`.",
        Values::Text,
    ),
    query(
        "restore_erased",
        "Write rows again whose events were erased.",
        Values::OneOf(&["true", "false"]),
    ),
    query(
        "require_signature",
        "Portable memory stores: read only one whose signature holds.",
        Values::OneOf(&["true", "false"]),
    ),
    IDEMPOTENCY_KEY,
];
pub(super) const IMPORT_ANSWERS: &[Answer] =
    &[answer(202, "It runs, or is over if it was small.", AnswerBody::Json("import_accepted"))];
pub(super) const IMPORT_ERRORS: &[E] = &[
    E::InvalidBody,
    E::InvalidParameter,
    E::InvalidTimestamp,
    E::InvalidScopeGrammar,
    E::UnregisteredScopeType,
    E::IdempotencyConflict,
    E::BodyTooLarge,
    E::UnsupportedMediaType,
    E::RequestTimeout,
    E::PolicyDenied,
    E::NotAMember,
    E::NotConfigured,
    E::WalUnavailable,
];
pub(super) const UPLOAD_KEY: Param = header(
    "X-Cortex-Idempotency-Key",
    "The idempotency key: the same upload again answers with the same blob.",
    Values::Text,
);
pub(super) const SINCE_LIFECYCLE: Param =
    query("since_lifecycle_id", "Only what came after this lifecycle event.", Values::Id("lce"));
pub(super) const OF_EVENT: Param = query("event_id", "Of this memory event.", Values::Id("evt"));
pub(super) const OF_JOB: Param = query("job_id", "Of this job.", Values::Id("job"));
pub(super) const OF_IMPORT: Param = query("import_id", "Of this import.", Values::Id("imp"));
pub(super) const OF_EXPORT: Param = query("export_id", "Of this export.", Values::Id("exp"));
pub(super) const OF_ERASURE: Param = query("erasure_id", "Of this erasure.", Values::Id("erasure"));
pub(super) const OF_BATCH: Param = query("batch_id", "Of this bulk write.", Values::Id("batch"));
pub(super) const NAMED: Param =
    query("events", "Only these names, separated by commas.", Values::Text);

#[rustfmt::skip]
pub(super) const ONE_BELIEF_ERRORS: &[E] =
    &[E::MissingRequiredField, E::InvalidId, E::InvalidTimestamp, E::NotFound, E::ResourceDeleted, E::PolicyDenied];
pub(super) const WRITE_ERRORS: &[E] = &[
    E::InvalidBody,
    E::InvalidEnvelope,
    E::InvalidScopeGrammar,
    E::InvalidTimestamp,
    E::UnregisteredScopeType,
    E::InvalidWait,
    E::IdempotencyConflict,
    E::ResourceDeleted,
    E::PolicyDenied,
    E::RequestTimeout,
    E::BodyTooLarge,
    E::UnsupportedMediaType,
    E::WalUnavailable,
];
pub(super) const ANSWER_ERRORS: &[E] = &[
    E::InvalidBody,
    E::MissingRequiredField,
    E::InvalidScopeGrammar,
    E::InvalidTimestamp,
    E::UnparseableTemporal,
    E::InvalidId,
    E::NotFound,
    E::IdempotencyConflict,
    E::PolicyDenied,
    E::DerivedLayerUnavailable,
    E::AnswerUnavailable,
];
#[rustfmt::skip]
pub(super) const FORGET_ERRORS: &[E] =
    &[E::LegalHold, E::InvalidBody, E::InvalidScopeGrammar, E::InvalidTimestamp, E::InvalidId, E::InvalidParameter, E::EmptySelectorWithoutConfirmation, E::AmbiguousSelectorConfirmAll, E::UnknownPreviewId, E::PreviewDrifted, E::IdempotencyConflict, E::PolicyDenied, E::UnsupportedMediaType, E::WalUnavailable];
#[rustfmt::skip]
pub(super) const ERASURE_ERRORS: &[E] =
    &[E::InvalidBody, E::InvalidScopeGrammar, E::InvalidId, E::EmptySelectorWithoutConfirmation, E::AmbiguousSelector, E::UnknownPreviewId, E::PreviewDrifted, E::IdempotencyConflict, E::PolicyDenied, E::UnsupportedMediaType, E::WalUnavailable];
