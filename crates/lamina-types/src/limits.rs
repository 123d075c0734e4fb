//! Every limit of the vocabulary and the wire, with a name. Each is tested at its edge.

/// Segments of a scope path (R067).
pub const SCOPE_SEGMENTS_MAX: usize = 32;
/// Characters of a scope path (R068).
pub const SCOPE_CHARS_MAX: usize = 4_096;
/// Characters of the citation of an event: a scope, in which each `/` may take three, a number and a seal.
pub const CITATION_CHARS_MAX: usize = SCOPE_CHARS_MAX + 2 * SCOPE_SEGMENTS_MAX + 128;
/// Characters of an actor id (ruling 18).
pub const ACTOR_CHARS_MAX: usize = 256;
/// Characters of the name of a tenant.
pub const TENANT_CHARS_MAX: usize = 64;
/// Characters of the name of a capability.
pub const CAPABILITY_CHARS_MAX: usize = 128;
/// Bytes of a token. Identity providers that list groups in a token stay below it.
pub const TOKEN_BYTES_MAX: usize = 16_384;
/// Characters of the issuer of a token.
pub const ISSUER_CHARS_MAX: usize = 512;
/// Characters of the id of a token (`jti`).
pub const TOKEN_ID_CHARS_MAX: usize = 128;
/// Characters of the id of a key (`kid`).
pub const KEY_ID_CHARS_MAX: usize = 256;
/// Audiences of a token.
pub const TOKEN_AUDIENCES_MAX: usize = 16;
/// Capabilities that a token may narrow to.
pub const TOKEN_CAPABILITIES_MAX: usize = 128;
/// `CAPABILITY:PREFIX` entries of a token.
pub const TOKEN_SCOPES_MAX: usize = 128;
/// How long a token lives at most (R132).
pub const TOKEN_LIFE_US_MAX: i64 = 24 * 3_600 * 1_000_000;
/// How long a token of a `service:` lives at most (R146).
pub const SERVICE_TOKEN_LIFE_US_MAX: i64 = 30 * 24 * 3_600 * 1_000_000;
/// How far the clock of an issuer may be ahead of ours (R140).
pub const TOKEN_CLOCK_SKEW_US_MAX: i64 = 60 * 1_000_000;
/// Characters of `observed_actor.session`.
pub const SESSION_CHARS_MAX: usize = 256;
/// Characters of an idempotency key (R101).
pub const IDEMPOTENCY_KEY_CHARS_MAX: usize = 64;
/// Revoked tokens that are remembered (R148).
pub const REVOCATIONS_MAX: u64 = 1_000_000;
/// How long a revocation is remembered after the token has ended by itself: longer than any clock
/// that decides whether it has may be off.
pub const REVOCATION_GRACE_US: i64 = 3_600 * 1_000_000;
/// Bytes of a policy document, and of what a scope asks of derivation.
pub const POLICY_BYTES_MAX: usize = 65_536;
/// Policies of one deployment, of all tiers.
pub const POLICIES_MAX: usize = 10_000;
/// Tenants of one deployment.
pub const TENANTS_MAX: u32 = 65_536;
/// Labels of one event (ruling 18).
pub const LABELS_MAX: usize = 64;
/// Characters of one label (ruling 18).
pub const LABEL_CHARS_MAX: usize = 256;
/// Characters of a modality; a source descriptor may repeat it in so many bytes.
pub const MODALITY_CHARS_MAX: usize = 128;
/// Characters of `context.intent`.
pub const INTENT_CHARS_MAX: usize = 256;
/// `context.preceded_by` ids.
pub const PRECEDED_BY_MAX: usize = 64;
/// `context.refers_to` items.
pub const REFERS_TO_MAX: usize = 64;
/// Bytes of `context.location` as JSON.
pub const LOCATION_BYTES_MAX: usize = 4_096;
/// Characters of a language tag.
pub const LANGUAGE_CHARS_MAX: usize = 64;
/// Characters of a time zone name.
pub const TIMEZONE_CHARS_MAX: usize = 64;
/// Characters of `expr_original` of a referred time.
pub const EXPRESSION_CHARS_MAX: usize = 1_024;
/// Alternative readings of one referred time.
pub const CANDIDATES_MAX: usize = 16;
/// Characters of a predicate.
pub const PREDICATE_CHARS_MAX: usize = 256;
/// Characters of the id of an entity or concept in a triple.
pub const REFERENCE_ID_CHARS_MAX: usize = 256;
/// Characters of the name of an entity in a triple.
pub const REFERENCE_NAME_CHARS_MAX: usize = 1_024;
/// Characters of a declared belief.
pub const BELIEF_STATEMENT_CHARS_MAX: usize = 4_096;
/// Records that a declared belief may name in support.
pub const BELIEF_SUPPORTS_MAX: usize = 64;
/// Characters of the audit note of a request.
pub const AUDIT_NOTE_CHARS_MAX: usize = 2_000;
/// Bytes of a text that an audit row keeps of a request; longer ones are cut.
pub const AUDIT_TEXT_BYTES_MAX: usize = 2_048;
/// Labels a query may ask for.
pub const QUERY_LABELS_MAX: usize = 64;
/// Errors a refused bulk request lists.
pub const BULK_ERRORS_SHOWN_MAX: usize = 50;
/// `content.media` items.
pub const MEDIA_MAX: usize = 64;
/// `scripts` items.
pub const SCRIPTS_MAX: usize = 16;
/// Bytes of the flattened text of one event, role prefix included (ruling 18).
pub const TEXT_BYTES_MAX: usize = 1_048_576;
/// Bytes of the source descriptor.
pub const SOURCE_BYTES_MAX: usize = 262_144;
/// Bytes of the origin of an imported event, as JSON.
pub const ORIGIN_BYTES_MAX: usize = 262_144;
/// Bytes of `source.source_id`.
pub const SOURCE_ID_BYTES_MAX: usize = 4_096;
/// Bytes of `source.content_kind`.
pub const SOURCE_KIND_BYTES_MAX: usize = 256;
/// Bytes of a fragment id.
pub const FRAGMENT_ID_BYTES_MAX: usize = 1_024;
/// Bytes of a text in a locator.
pub const LOCATOR_TEXT_BYTES_MAX: usize = 8_192;
/// Segments of a path in a locator.
pub const LOCATOR_PATH_SEGMENTS_MAX: usize = 128;
/// Bytes of one such segment.
pub const LOCATOR_SEGMENT_BYTES_MAX: usize = 1_024;
/// Largest integer every JSON reader keeps exact.
pub const SAFE_INTEGER_MAX: u64 = 9_007_199_254_740_991;
/// Fragments of a source descriptor.
pub const SOURCE_FRAGMENTS_MAX: usize = 1_024;
/// Items of one bulk write (R251).
pub const BULK_ITEMS_MAX: usize = 1_000;
/// Bytes of a JSON body (ruling 18).
pub const BODY_BYTES_MAX: usize = 4 * 1_024 * 1_024;
/// Bytes of a bulk body (ruling 18).
pub const BULK_BODY_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// Nesting of a JSON body (ruling 18).
pub const JSON_DEPTH_MAX: usize = 64;
/// Keys of one JSON object.
pub const JSON_KEYS_MAX: usize = 65_536;
/// Bytes of a blob by default (R331, C45).
pub const BLOB_BYTES_MAX: u64 = 100 * 1_024 * 1_024;
/// Bytes of the source of an import by default.
pub const IMPORT_BYTES_MAX: u64 = 10 * 1_024 * 1_024 * 1_024;
/// Page size when none is asked for (ruling 18).
pub const PAGE_DEFAULT: usize = 50;
/// Page size of lifecycle and audit lists when none is asked for (6.1).
pub const PAGE_DEFAULT_LIFECYCLE: usize = 100;
/// Largest page (ruling 18).
pub const PAGE_MAX: usize = 1_000;
/// How long `wait` waits before it answers with the stages so far (ruling 18).
pub const WAIT_MS_MAX: u64 = 30_000;
/// How long `POST /v1/forget` waits for words to leave the files of the search index before it answers with a warning.
pub const FORGET_WAIT_MS_MAX: u64 = 10_000;
/// How long an idempotency key is remembered (ruling 9).
pub const IDEMPOTENCY_TTL_US: i64 = 24 * 3_600 * 1_000_000;
/// How long lifecycle history is kept (ruling 15).
pub const LIFECYCLE_TTL_US: i64 = 7 * 24 * 3_600 * 1_000_000;
/// How far behind a lifecycle stream may fall (R361).
pub const STREAM_LAG_MS_MAX: u64 = 30_000;
/// How far back a lifecycle stream can resume (R360).
pub const STREAM_REPLAY_US: i64 = 3_600 * 1_000_000;

/// Bytes of one log entry: head and both sections.
pub const ENTRY_BYTES_MAX: usize = 2 * 1_024 * 1_024;
/// Bytes of one batch of the log.
pub const BATCH_BYTES_MAX: usize = 8 * 1_024 * 1_024;
/// Causes of one log entry.
pub const CAUSES_MAX: usize = 1_024;

/// Patterns in one of the two lists of a policy document.
pub const POLICY_PATTERNS_MAX: usize = 256;
/// Characters of one pattern.
pub const POLICY_PATTERN_CHARS_MAX: usize = 128;
/// Scope types a deployment may add to the built-in ones.
pub const POLICY_SCOPE_TYPES_MAX: usize = 64;
/// Characters of such a type.
pub const POLICY_SCOPE_TYPE_CHARS_MAX: usize = 64;
/// Requests a rate may allow in one period.
pub const RATE_COUNT_MAX: u32 = 10_000_000;
/// The longest period a policy may name, in days: 100 years.
pub const POLICY_PERIOD_DAYS_MAX: i64 = 36_500;
/// How much larger the bucket of an importer is than that of a writer, unless a policy says (R426).
pub const IMPORTER_RATE_FACTOR: u32 = 10;
/// Settings of a policy document.
pub const POLICY_DEFAULTS_MAX: usize = 64;
/// Members of a scope.
pub const MEMBERS_MAX: usize = 1_000;
/// Characters of a word in the policies of a scope.
pub const SCOPE_POLICY_CHARS_MAX: usize = 128;
/// Characters of the words that audit rows are searched by.
pub const AUDIT_WORDS_CHARS_MAX: usize = 256;
/// Rules of retention of one tenant.
pub const RETENTION_RULES_MAX: usize = 256;
/// Sources that one rule of retention names.
pub const RETENTION_SOURCES_MAX: usize = 64;
/// Characters of the name of a source.
pub const RETENTION_SOURCE_CHARS_MAX: usize = 128;
/// The longest retention, in days: a hundred years.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// Events that one sweep of retention looks at.
pub const RETENTION_EVENTS_MAX: u64 = 100_000;
/// How far the wall clock may step against the monotonic one, or stand behind the log, before it counts as wrong.
pub const CLOCK_SKEW_US_MAX: i64 = 60 * 1_000_000;
/// How long a server may be off before its first hour passes without automatic deletion.
pub const CLOCK_PAUSE_US_MAX: i64 = 24 * 3_600 * 1_000_000;
/// How far the wall clock may be ahead of the log before somebody has to vouch for it.
pub const CLOCK_GAP_US_MAX: i64 = 45 * 24 * 3_600 * 1_000_000;
/// Overdue events that an automatic sweep takes from a scope or a tenant, whatever share of it they are.
pub const SWEEP_OVERDUE_FREE_MAX: u64 = 10;
/// Vocabularies of one tenant.
pub const VOCABULARIES_MAX: usize = 100;
/// Characters of the name of a vocabulary.
pub const VOCABULARY_NAME_CHARS_MAX: usize = 64;
/// Terms in one of the lists of a vocabulary.
pub const VOCABULARY_TERMS_MAX: usize = 1_000;
/// Characters of the id, the label, an alias, the category or a value of a term.
pub const TERM_CHARS_MAX: usize = 256;
/// Aliases of a term.
pub const TERM_ALIASES_MAX: usize = 64;
/// Values of a term.
pub const TERM_VALUES_MAX: usize = 256;
/// Characters of the description of a vocabulary or of the definition of a term.
pub const VOCABULARY_TEXT_CHARS_MAX: usize = 2_000;
/// Bytes of a question.
pub const QUERY_BYTES_MAX: usize = 16_384;
/// Characters of a time in words.
pub const TEMPORAL_CHARS_MAX: usize = 256;
/// Conditions in the filters of a question.
pub const FILTERS_MAX: usize = 64;
/// Values of one condition.
pub const FILTER_VALUES_MAX: usize = 256;
/// Tokens that a pack may be asked to hold.
pub const PACK_TOKENS_MAX: u64 = 1_000_000;
/// Records of one layer in a pack.
pub const LAYER_RECORDS_MAX: usize = 1_000;
/// How long a pack can be referred to (R118, R440).
pub const PACK_TTL_US: i64 = 60 * 1_000_000;
/// Tokens that an answer may be asked to have.
pub const ANSWER_TOKENS_MAX: u64 = 32_768;
/// Characters of the instructions that come with a question.
pub const ANSWER_INSTRUCTIONS_CHARS_MAX: usize = 4_000;
/// Characters of the name of a model.
pub const MODEL_NAME_CHARS_MAX: usize = 256;
/// Headings of a document.
pub const COMPOSE_SECTIONS_MAX: usize = 32;
/// Characters of a heading.
pub const COMPOSE_SECTION_CHARS_MAX: usize = 256;
/// Words for stretches of time that a tenant has.
pub const PHRASES_MAX: usize = 256;
/// Characters of the name of a phrase.
pub const PHRASE_NAME_CHARS_MAX: usize = 64;
/// Ids of one request to forget.
pub const FORGET_IDS_MAX: usize = 1_000;
/// Characters of a name or predicate in a request to forget.
pub const FORGET_NAME_CHARS_MAX: usize = 512;
/// Records that one request to forget selects; whoever wants more says so by stretches of time.
pub const FORGET_RECORDS_MAX: usize = 1_000_000;
/// How long the manifest of an erasure can be read (R279).
pub const ERASURE_MANIFEST_TTL_US: i64 = 24 * 3_600 * 1_000_000;
/// How long a preview of a request to forget can be referred to.
pub const FORGET_PREVIEW_TTL_US: i64 = 3_600 * 1_000_000;

/// Other ways to ask a question that one recall may have.
pub const QUERY_VARIANTS_MAX: usize = 4;
/// Bytes of one of them.
pub const QUERY_VARIANT_BYTES_MAX: usize = 4_096;
/// Reads that a server works on or lets wait in line, unless the operator sets another number.
pub const READS_IN_FLIGHT_MAX: u64 = 512;
