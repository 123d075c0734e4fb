//! What each error code means and what to do about it, in words.
//!
//! One table, exhaustive: a code added to `lamina-types` does not compile until it is explained
//! here. The pages under `docs/errors/` and the default messages are made from these texts.

use lamina_types::ErrorCode;

/// The words for one code.
#[derive(Debug, Clone, Copy)]
pub struct Help {
    /// One sentence: what the code says.
    pub meaning: &'static str,
    /// When it is answered.
    pub when: &'static [&'static str],
    /// One sentence: what to do.
    pub remedy: &'static str,
    /// A message as it may appear in the envelope.
    pub example: &'static str,
}

/// Per code: meaning, when, remedy, example.
macro_rules! explain {
    ($($code:ident: $meaning:literal, [$($when:literal),* $(,)?], $remedy:literal, $example:literal;)*) => {
        /// The words for this code.
        pub fn help(code: ErrorCode) -> Help {
            match code {
                $(ErrorCode::$code => Help {
                    meaning: $meaning,
                    when: &[$($when),*],
                    remedy: $remedy,
                    example: $example,
                },)*
            }
        }
    };
}

explain! {
    InvalidBody:
        "The body is not JSON of the expected shape.",
        [
            "400: the text is not JSON, is empty, is not UTF-8, repeats a key, is nested deeper than 64 levels, or holds a number that does not fit. `details.line` and `details.column` say where.",
            "422: it is JSON, but a field is unknown or has the wrong type. `details.field` names it; `details.suggestion` names the field that was probably meant.",
        ],
        "Correct the named place and send the request again.",
        "`context.happened_at`: unknown field; use `context.observed_at`, the time of the event";
    MalformedRequest:
        "What was sent is not a request that HTTP allows.",
        ["The request line or a header line cannot be read. The connection is closed."],
        "Use an HTTP client, or see what a proxy on the way did to the request.",
        "What was sent is not a request that HTTP allows.";
    MissingRequiredField:
        "A required parameter is absent.",
        ["A query parameter that the route cannot do without was not given."],
        "Add the parameter that `details.field` names.",
        "`scope`: this parameter is required";
    InvalidParameter:
        "A query parameter has a value that cannot be read.",
        [
            "`limit` is not a whole number from 1 to 1000.",
            "An enumerated parameter such as `view`, `sort` or `order` has another value.",
            "A parameter that takes one value was given twice.",
        ],
        "Use one of the values that `details.reason` lists.",
        "`limit`: must be a whole number from 1 to 1000";
    NotFound:
        "There is nothing here.",
        [
            "No route has this path.",
            "The id is well formed, but nothing has it and you may read the place where it would be.",
        ],
        "Check the path and the id; `GET /v1/openapi.json` lists every route.",
        "There is no event evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b.";
    MethodNotAllowed:
        "The route exists, but not for this method.",
        ["The `Allow` header lists the methods the path has."],
        "Use one of the methods in the `Allow` header.",
        "This path answers to POST only.";
    RequestTimeout:
        "The request body did not arrive in time.",
        ["The client opened a request and stopped sending."],
        "Send the request again; nothing was written.",
        "The body did not arrive within 30 s.";
    IdempotencyConflict:
        "This idempotency key was used before, with another body.",
        [
            "The same caller sent the same key to the same endpoint family within 24 hours, and the bodies differ in more than `context.observed_at` and the language hints.",
            "Two items of one bulk request share a key but not a body.",
        ],
        "Use a new key for a new experience; repeat the first body exactly to replay it.",
        "`idempotency_key`: already used with another body";
    ScopeRegistrationExists:
        "The scope is registered already.",
        [
            "`POST /v1/scopes` with the path of a scope that somebody registered by request.",
        ],
        "Change its members with `PUT /v1/scopes/members`, or remove it first.",
        "The scope is registered already.";
    ScopeHasRecords:
        "The scope has records, and the request does not say what becomes of them.",
        [
            "`DELETE /v1/scopes` without `records`, while events stand in the scope.",
        ],
        "Send `records=keep` to leave them readable, or `records=forget` to forget them.",
        "The scope has records; say with records=keep or records=forget what becomes of them.";
    BlobInUse:
        "The blob is still referenced by an event.",
        [
            "`DELETE /v1/blobs/{blob_id}` while an event that was not forgotten refers to the blob.",
        ],
        "Forget the events that refer to it first.",
        "blob_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b is referenced by 2 events.";
    ConflictNotOpen:
        "The conflict is not open any more.",
        [
            "It was decided before, and otherwise. The same decision again is answered like the first.",
            "Something that was said later, or while it was being decided, left nothing to decide.",
        ],
        "Read the conflict again; its status says what became of it.",
        "The conflict was decided otherwise, or there is nothing left to decide.";
    RetentionSweepRunning:
        "A sweep of retention is running.",
        ["Two sweeps at once; also one that nobody asked for, which runs from time to time."],
        "Wait until `GET /v1/admin/retention` says that none is running, and ask again.",
        "A sweep of retention is running.";
    WalCompactionRunning:
        "A compaction is running.",
        ["Two compactions at once, by whichever route."],
        "Wait for the other one, and ask again.",
        "A compaction is running.";
    VocabularyExists:
        "A vocabulary of this name is registered already.",
        ["`POST /v1/vocabularies` with a name that is taken."],
        "Replace it with PUT, merge into it with PATCH, or use another name.",
        "A vocabulary of this name is registered already.";
    EntityMergedFurther:
        "What the entity was merged into was itself merged since.",
        [
            "`POST /v1/entities/{entity_id}/split` while a later merge builds on the one to be undone.",
        ],
        "Split what was merged last first.",
        "The entity that it was merged into was merged further; split that one first.";
    LegalHold:
        "A legal hold keeps the words of the scope.",
        [
            "`POST /v1/forget` or its preview with `redact_events` selects events of a scope that a legal hold is on, or on a scope above it. Nothing goes.",
        ],
        "`details.held_scope` is the scope that the hold is on. Whoever administers the tenant can lift it with `DELETE /v1/admin/legal-holds`. Derived records can still be forgotten with `derived_only`.",
        "A legal hold on `org:acme/user:alice` keeps the words of this scope.";
    PreviewDrifted:
        "What the preview showed is not what there is any more.",
        [
            "Records were written, forgotten or derived since the preview was made, and the same selector matches others now.",
        ],
        "Ask for a new preview, look at it, and send its id.",
        "What the preview showed is not what there is any more; ask for a new one.";
    ResourceDeleted:
        "It was here and was forgotten.",
        ["The id belonged to a record that was erased, and you may know that it existed."],
        "Stop using the id; it will not come back.",
        "evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b was forgotten.";
    BodyTooLarge:
        "The body is larger than the route takes.",
        ["A JSON body over 4 MiB, or a bulk body over 16 MiB."],
        "Split the request, or upload large content as a blob and refer to it.",
        "The body is larger than 4194304 bytes.";
    BlobTooLarge:
        "The blob is larger than this server takes.",
        ["An upload over the configured limit, 100 MiB unless changed."],
        "Upload a smaller file, or raise the limit in the configuration.",
        "The blob is larger than 104857600 bytes.";
    UnsupportedMediaType:
        "The route does not read this content type.",
        [
            "A JSON route was sent something other than `application/json` while the envelope is strict.",
        ],
        "Set `Content-Type: application/json`.",
        "This route reads application/json.";
    InvalidEnvelope:
        "The experience envelope breaks a rule.",
        [
            "A required field is missing, or a value is outside its limits. `details.field` and `details.reason` say which and why.",
            "An item of a bulk request is invalid: nothing was written, and `details.errors` lists every refused item with its index.",
        ],
        "Correct the named field and send the envelope again; nothing was written.",
        "`content.role`: required for kind message: one of user, assistant, tool, system";
    InvalidScopeGrammar:
        "The scope is not a path of `type:id` segments.",
        [
            "A scope in a body or a query does not follow `type:id/type:id/…`, has more than 32 segments or more than 4096 characters.",
        ],
        "Write the scope like `org:acme/user:alice`: types `[a-z][a-z0-9_]*`, ids `[A-Za-z0-9_-]+`.",
        "`scope`: segment 1 is not `type:id`";
    InvalidTimestamp:
        "A timestamp is not RFC 3339.",
        [
            "The offset is missing, a field is out of range, the year is outside 0001 to 9999, or the second is 60.",
        ],
        "Write it like `2026-05-13T15:42:00Z` or `2026-05-13T17:42:00+02:00`.",
        "`context.observed_at`: the UTC offset is missing; end with `Z` or `+hh:mm`";
    UnparseableTemporal:
        "A time in words could not be read.",
        [
            "`temporal.natural` is not one of the phrases that are understood, names something that nobody remembers, or is a phrase of the tenant that is not registered.",
        ],
        "Say it like `last 30 days`, `in March`, `Q3 2025` or `before the launch`, or send `temporal.valid_during` instead.",
        "`temporal.natural`: `the day of reckoning` is not a time that is understood";
    InvalidCursor:
        "The cursor was not made by this server for this query.",
        [
            "The cursor is damaged, comes from another server, or the filters of the query changed between two pages.",
        ],
        "Start again without a cursor, and change only `limit` between pages.",
        "`cursor`: not a cursor of this query";
    InvalidWait:
        "`wait` has a value that does not exist.",
        ["`?wait=` is none of accepted, captured, indexed, consolidated, settled."],
        "Use one of the listed values, or leave `wait` out.",
        "`wait`: must be one of accepted, captured, indexed, consolidated, settled";
    InvalidId:
        "The id is of another kind, or no id at all.",
        [
            "An id has the wrong prefix (`lce_` where `evt_` is expected), or is not 32 hex digits after it.",
        ],
        "Use an id of the kind that `details.reason` names.",
        "`since_lifecycle_id`: expected an id that starts with `lce_`";
    EmptySelectorWithoutConfirmation:
        "Nothing is selected, and nobody said that everything is meant.",
        [
            "The selector of a request to forget is absent, or every field of it is null or empty, and `confirm_all` is not true.",
        ],
        "Say which records are meant, or send `confirm_all: true` without a selector to forget everything in the scope.",
        "`selector`: selects nothing; send `confirm_all: true` to forget everything in the scope";
    AmbiguousSelectorConfirmAll:
        "Some records are selected, and everything is said to be meant.",
        ["A request to forget has both a selector and `confirm_all: true`."],
        "Send one of the two.",
        "`confirm_all`: everything is meant, or what the selector says: send one of the two";
    AmbiguousSelector:
        "Some events are named, and everything is said to be meant.",
        ["A request to erase has both a selector and `confirm_all: true`."],
        "Send one of the two.",
        "`confirm_all`: everything is meant, or what the selector says: send one of the two";
    UnknownPreviewId:
        "There is no such preview.",
        [
            "The preview was made for another caller, it is older than an hour (of an erasure: 24 hours), or the server was restarted since.",
            "The preview matched other events or records than the request selects. The cascade may differ; the scope and what is matched there may not. `details.reason` says so.",
        ],
        "Ask for a new preview of this scope and selector, and send its id.",
        "`from_preview_id`: is no preview of yours, or has expired; ask for a new one";
    UnregisteredScopeType:
        "The scope has a type that is neither built in nor allowed here.",
        [
            "A segment's type is outside the built-in list, and the deployment does not allow custom types for this caller.",
        ],
        "Use a built-in type (org, dept, team, app, user, agent, service, ws, project, global), or have the operator allow the type.",
        "`scope`: the type `ns` is not registered";
    MissingToken:
        "The route needs a bearer token, and there is none.",
        ["There is no `Authorization: Bearer TOKEN` header, or it has another scheme, and the preset is not `dev_local`."],
        "Get a token from the issuer that the deployment trusts (`lamina-issuer mint`, or your identity provider) and send it.",
        "This deployment needs a token: send `Authorization: Bearer TOKEN`.";
    InvalidTokenSignature:
        "No trusted key made this token, or it is not one that this server takes.",
        [
            "It is neither PASETO `v4.public` nor a JWT signed with RS256 or ES256.",
            "Its issuer is not trusted, its key is unknown, or the signature does not match.",
            "A claim is missing or malformed, or the token would live longer than the server allows. `details.reason` says which.",
        ],
        "Mint a new token; if that fails too, compare the `iss` and the key id of the token with the keys that the server trusts.",
        "The signature of the token does not match the key it names.";
    ExpiredToken:
        "The token is past its time, or before it.",
        [
            "`exp` has passed.",
            "`iat` or `nbf` is more than a minute ahead of the server's clock.",
        ],
        "Mint a new token; if it is refused at once, compare the clocks of issuer and server.",
        "The token has expired.";
    RevokedToken:
        "The token was revoked.",
        ["Its `jti` is on the revocation list."],
        "Mint a new token, if the subject should still have access.",
        "The token was revoked.";
    WrongTenant:
        "The token is not for a tenant of this server.",
        ["`aud` does not name exactly one tenant as `cortexdb:tenant:NAME`, or names one that does not exist here."],
        "Mint a token whose `aud` is the tenant you want to work in.",
        "The token names no tenant: `aud` must be `cortexdb:tenant:NAME`.";
    ActorMismatch:
        "The request names an actor that the caller cannot be.",
        ["`X-Cortex-Actor` is not an actor id, or differs from the subject of the token."],
        "Send the actor the token was issued for, or leave the header out.",
        "X-Cortex-Actor is not the actor of the token.";
    PolicyDenied:
        "The effective policy does not allow this.",
        [
            "A tier of the policy lacks the capability that the route needs. `details` names the capability and the tier.",
        ],
        "Ask for the capability, or use a scope in which you have it.",
        "scope.write is denied by the deployment tier.";
    NotAMember:
        "The scope is somebody's, and your role there is not enough.",
        [
            "The scope, or one above it, was registered with members, and the caller is not among them.",
            "The caller is a reader and wants to write, or a writer and wants to change members or policy.",
            "Somebody owns the scope, also by a first write, and the caller wants to register it, change its members or policy, remove or erase it, or cancel what others wrote there.",
            "Others have scopes below it, and what is asked for would reach into them.",
        ],
        "Ask an owner of the scope for a role, or to do it; `GET /v1/scopes?path=` names them. An operator of the deployment can repair a scope whose owners are gone.",
        "scope.write is denied by the scope policy.";
    RateLimited:
        "The caller used up its rate.",
        ["More requests than the bucket of this actor holds."],
        "Wait for `Retry-After` seconds.",
        "Too many writes; try again in 1 s.";
    HeadersTooLarge:
        "The request's headers are larger than the server takes.",
        [
            "All header lines together are over 65536 bytes, or there are more than 100 of them.",
            "The address is over 65534 bytes (414).",
        ],
        "Send fewer or shorter headers.",
        "The headers are larger than 65536 bytes.";
    Internal:
        "Something broke inside the server.",
        ["An unexpected fault. The server's log has the details under the request id."],
        "Try again; if it persists, report the request id.",
        "Something broke inside the server. Try again; if it persists, report the request id.";
    NotImplemented:
        "The route is specified but not built yet.",
        [
            "The path and method are part of the contract, and this version has no code behind them.",
        ],
        "Look at `capabilities` of `GET /v1/admin/version` before using a route.",
        "POST /v1/import/mem0 is specified but not built yet.";
    WalUnavailable:
        "The log cannot take writes now.",
        [
            "The disk is full: writes resume by themselves when space returns.",
            "A write to the disk failed: the writer stays closed until the server is restarted.",
        ],
        "Try again with the same idempotency key; nothing of this request was written.",
        "The log cannot take writes: no space left.";
    DerivedLayerUnavailable:
        "A derived layer is behind or out of order.",
        ["The answer leaves out the layer that `details` names; the others are complete."],
        "Try again later, or ask without that layer.",
        "The search index is being rebuilt.";
    AnswerUnavailable:
        "The model that the request names cannot answer.",
        [
            "`answer_model` or `model` names a model that is not configured on this server.",
            "The named model is configured and did not answer in time, or not usably.",
        ],
        "Leave the name out, or name `extractive`: the answer is then quoted from what is recalled.",
        "The model `gpt-x` is not configured here.";
    CodePlaneDisabled:
        "The code plane is not part of this server.",
        ["Every path under `/v1/code/`."],
        "Do not call these routes on this server.",
        "The code plane is not part of this server.";
    NotConfigured:
        "The route needs something the operator has not configured.",
        ["For example a token issuer, for the routes that mint tokens."],
        "Configure it, or use a server that has it.",
        "This server does not issue tokens.";
    ExperimentalDisabled:
        "The route is experimental and not enabled here.",
        ["An experimental route under a preset that does not enable them."],
        "Set `CORTEX_ENABLE_EXPERIMENTAL=1` on the server, knowing that the route may change without notice.",
        "POST /v1/erasures is experimental and not enabled on this deployment.";
    Overloaded:
        "The server is shutting down or has too much to do.",
        ["A queue is full, or the process is on its way out."],
        "Try again after `Retry-After` seconds with the same idempotency key.",
        "The server is shutting down.";
    BlobDamaged:
        "The stored bytes of this blob are missing or are not those that were uploaded; they are not sent.",
        [
            "A disk changed or lost the file of the blob below `blobs/` of the data directory.",
            "A copy of the data directory left the file out.",
        ],
        "The operator runs `lamina check`, which names the file, and puts it back from a backup; or upload the bytes again.",
        "The stored bytes of this blob are missing or are not those that were uploaded; they are not sent.";
    RecordDamaged:
        "The stored bytes of this record do not hold their checksums; they are not shown.",
        ["A disk changed or lost a part of the log. Other records are served as before."],
        "The operator runs `lamina check` on a copy of the data directory, which names the place, and restores a backup.",
        "The stored bytes of this record do not hold their checksums; they are not shown.";
}

#[cfg(test)]
mod tests;
