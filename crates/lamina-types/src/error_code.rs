//! The table of public error codes: name, HTTP status, whether the same request may succeed later.
//!
//! One place, exhaustive. Every code has a page under `docs/errors/`.

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:literal, retriable: $retriable:literal;)*) => {
        /// A public error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// All codes, in table order.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant),*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)* }
            }

            /// The HTTP status it is answered with, unless a ruling names another.
            pub fn status(self) -> u16 {
                match self { $(ErrorCode::$variant => $status,)* }
            }

            /// Whether the same request may succeed later.
            pub fn retriable(self) -> bool {
                match self { $(ErrorCode::$variant => $retriable,)* }
            }
        }
    };
}

error_codes! {
    /// Not JSON (400), or JSON with an unknown or wrongly typed field (422, ruling 17).
    InvalidBody = "INVALID_BODY", 400, retriable: false;
    /// Not a request that HTTP allows.
    MalformedRequest = "MALFORMED_REQUEST", 400, retriable: false;
    /// A required field or query parameter is absent.
    MissingRequiredField = "MISSING_REQUIRED_FIELD", 400, retriable: false;
    /// A query parameter has a value that cannot be read.
    InvalidParameter = "INVALID_PARAMETER", 422, retriable: false;
    /// The route, or the thing it names, does not exist.
    NotFound = "NOT_FOUND", 404, retriable: false;
    /// The route exists, the method does not.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405, retriable: false;
    /// The body did not arrive in time.
    RequestTimeout = "REQUEST_TIMEOUT", 408, retriable: true;
    /// The same key was used with another body.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT", 409, retriable: false;
    /// The scope is registered already.
    ScopeRegistrationExists = "SCOPE_REGISTRATION_EXISTS", 409, retriable: false;
    /// A legal hold keeps the words of the scope.
    LegalHold = "LEGAL_HOLD", 409, retriable: false;
    /// The scope has records, and the request does not say what becomes of them.
    ScopeHasRecords = "SCOPE_HAS_RECORDS", 409, retriable: false;
    /// The blob is still referenced by an event.
    BlobInUse = "BLOB_IN_USE", 409, retriable: false;
    /// The conflict was decided otherwise, or there is nothing left to decide.
    ConflictNotOpen = "CONFLICT_NOT_OPEN", 409, retriable: false;
    /// A vocabulary of this name is registered already.
    RetentionSweepRunning = "RETENTION_SWEEP_RUNNING", 409, retriable: true;
    WalCompactionRunning = "WAL_COMPACTION_RUNNING", 409, retriable: true;
    VocabularyExists = "VOCABULARY_EXISTS", 409, retriable: false;
    /// The entity that it was merged into was itself merged since.
    EntityMergedFurther = "ENTITY_MERGED_FURTHER", 409, retriable: false;
    /// What a preview showed is not what there is any more (R281).
    PreviewDrifted = "PREVIEW_DRIFTED", 409, retriable: false;
    /// It was forgotten.
    ResourceDeleted = "RESOURCE_DELETED", 410, retriable: false;
    /// The body is larger than the route takes.
    BodyTooLarge = "BODY_TOO_LARGE", 413, retriable: false;
    /// The blob is larger than the server takes.
    BlobTooLarge = "BLOB_TOO_LARGE", 413, retriable: false;
    /// The content type is not one the route reads.
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", 415, retriable: false;
    /// The envelope failed validation; `details.field` and `details.reason` say where.
    InvalidEnvelope = "INVALID_ENVELOPE", 422, retriable: false;
    /// The scope path does not follow the grammar.
    InvalidScopeGrammar = "INVALID_SCOPE_GRAMMAR", 422, retriable: false;
    /// Not an RFC 3339 timestamp.
    InvalidTimestamp = "INVALID_TIMESTAMP", 422, retriable: false;
    /// A time in words that is none (R375).
    UnparseableTemporal = "UNPARSEABLE_TEMPORAL", 422, retriable: false;
    /// Not a cursor this server made.
    InvalidCursor = "INVALID_CURSOR", 422, retriable: false;
    /// Not a value that `wait` takes.
    InvalidWait = "INVALID_WAIT", 422, retriable: false;
    /// An id of another kind, or no id at all.
    InvalidId = "INVALID_ID", 422, retriable: false;
    /// Nothing is selected, and nobody said that everything is meant (R276).
    EmptySelectorWithoutConfirmation = "EMPTY_SELECTOR_WITHOUT_CONFIRMATION", 422, retriable: false;
    /// Some records are selected, and everything is said to be meant.
    AmbiguousSelectorConfirmAll = "AMBIGUOUS_SELECTOR_CONFIRM_ALL", 400, retriable: false;
    /// Some events are named, and everything of the scope is said to be erased (C37).
    AmbiguousSelector = "AMBIGUOUS_SELECTOR", 400, retriable: false;
    /// No preview of this caller, or one that has expired.
    UnknownPreviewId = "UNKNOWN_PREVIEW_ID", 422, retriable: false;
    /// The scope type is neither built in nor allowed.
    UnregisteredScopeType = "UNREGISTERED_SCOPE_TYPE", 422, retriable: false;
    /// The route needs a bearer token, and there is none.
    MissingToken = "MISSING_TOKEN", 401, retriable: false;
    /// No trusted key made this token, or it is not one that this server takes.
    InvalidTokenSignature = "INVALID_TOKEN_SIGNATURE", 401, retriable: false;
    /// The token is past its time, or before it.
    ExpiredToken = "EXPIRED_TOKEN", 401, retriable: false;
    /// The token was revoked.
    RevokedToken = "REVOKED_TOKEN", 401, retriable: false;
    /// The token is not for a tenant of this server.
    WrongTenant = "WRONG_TENANT", 401, retriable: false;
    /// The request names an actor that the caller cannot be.
    ActorMismatch = "ACTOR_MISMATCH", 401, retriable: false;
    /// The effective policy lacks the capability.
    PolicyDenied = "POLICY_DENIED", 403, retriable: false;
    /// The scope lists its members, and the caller's role there is not enough.
    NotAMember = "NOT_A_MEMBER", 403, retriable: false;
    /// The caller used up its rate.
    RateLimited = "RATE_LIMITED", 429, retriable: true;
    /// The request's headers are larger than the server takes.
    HeadersTooLarge = "HEADERS_TOO_LARGE", 431, retriable: false;
    /// Something broke here; the log has the details under the request id.
    Internal = "INTERNAL", 500, retriable: true;
    /// Specified, but not built yet.
    NotImplemented = "NOT_IMPLEMENTED", 501, retriable: false;
    /// The log cannot take writes.
    WalUnavailable = "WAL_UNAVAILABLE", 503, retriable: true;
    /// A derived layer is behind or out of order; the rest works.
    DerivedLayerUnavailable = "DERIVED_LAYER_UNAVAILABLE", 503, retriable: true;
    /// The model that is asked for is not configured, or does not answer (ruling 6).
    AnswerUnavailable = "ANSWER_UNAVAILABLE", 503, retriable: false;
    /// The code plane is not part of this server.
    CodePlaneDisabled = "CODE_PLANE_DISABLED", 503, retriable: false;
    /// The route needs something the operator has not configured.
    NotConfigured = "NOT_CONFIGURED", 503, retriable: false;
    /// The route is experimental and not enabled on this deployment.
    ExperimentalDisabled = "EXPERIMENTAL_DISABLED", 403, retriable: false;
    /// The server is shutting down or has too much to do.
    Overloaded = "OVERLOADED", 503, retriable: true;
    /// The stored bytes of a blob are missing or are not those that were uploaded.
    BlobDamaged = "BLOB_DAMAGED", 503, retriable: false;
    /// The stored bytes of a record do not hold their checksums.
    RecordDamaged = "RECORD_DAMAGED", 503, retriable: false;
}
