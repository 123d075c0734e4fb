//! What is fuzzed: everything that reads the bytes of strangers, a function each.
//!
//! The programs of `fuzz/` call these with what a fuzzer chose, the property tests of this module with
//! what is generated in every check. Each panics where something does not hold.

use std::path::Path;
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_api::v1::admin::IndexAuditRequest;
use lamina_api::v1::answer::{AnswerRequest, ComposeRequest};
use lamina_api::v1::audit::{AuditQuery, AuditVerifyRequest};
use lamina_api::v1::auth::{MintRequest, RevokeRequest, SignupRequest};
use lamina_api::v1::beliefs::{BeliefsBuildRequest, BeliefsQuery, DeclareRequest};
use lamina_api::v1::conflicts::{ConflictsQuery, ResolveRequest};
use lamina_api::v1::cost::CostQuery;
use lamina_api::v1::entities::{EntitiesQuery, MergeRequest, SplitRequest};
use lamina_api::v1::episodes::{BuildRequest, EpisodesQuery};
use lamina_api::v1::erasures::{ErasureRequest, LegalHoldRequest};
use lamina_api::v1::events::EventsQuery;
use lamina_api::v1::experience::{AdmitContext, Strictness, identity, read, read_bulk};
use lamina_api::v1::facts::FactsQuery;
use lamina_api::v1::forget::ForgetRequest;
use lamina_api::v1::lifecycle::{CancelRequest, LifecycleQuery, StreamQuery};
use lamina_api::v1::phrases::PhraseRequest;
use lamina_api::v1::policy::PolicyBody;
use lamina_api::v1::recall::RecallRequest;
use lamina_api::v1::retention::{RuleRequest, SweepRequest};
use lamina_api::v1::scopes::{MembersBody, PruneRequest, ScopeRegistration};
use lamina_api::v1::understanding::{ConceptQuery, ConceptsQuery, RelatedQuery, SynthesizeRequest};
use lamina_api::v1::vocabularies::VocabularyRequest;
use lamina_api::v1::wal::CompactRequest;
use lamina_auth::{KeySet, Minter, trust_file, verify};
use lamina_env::SteadyClock;
use lamina_env::sim::{SimClock, SimDisk, SimRng};
use lamina_store::ballast::Ballast;
use lamina_store::entry::{Kind, SYSTEM_SCOPE};
use lamina_store::keys::Keys;
use lamina_store::log::{KnownTail, Log, NewEntry, NoViews, OpenOptions, Section, SegmentLog};
use lamina_types::{ActorId, Micros, ScopePath};

const NOW: Micros = Micros(1_700_000_000_000_000);
/// Edits of the log stay where its records are.
const EDITED_BYTES: u64 = 4_096;

/// Words that would tell whoever sent a body about this program instead of about the body.
pub const INTERNAL_WORDS: &[&str] = &[
    "invalid type",
    "invalid value",
    "invalid length",
    "expected a sequence",
    "expected struct",
    "struct ",
    "newtype",
    "untagged",
    "data did not match",
    "f64",
    "i64",
    "u64",
    "u32",
    "u8",
    "usize",
    "Option<",
    "Vec<",
];

/// A refusal speaks of the request.
fn refusal(error: &ApiError, sent: &str) {
    for word in INTERNAL_WORDS.iter().filter(|word| !sent.contains(**word)) {
        assert!(!error.message.contains(word), "{} says `{word}`", error.message);
    }
}

/// Envelopes, single and bulk, lenient and strict.
pub fn envelope(body: &[u8]) {
    let caller: ActorId = "user:fuzz".parse().expect("well formed");
    let sent = String::from_utf8_lossy(body);
    for strictness in [Strictness::Lenient, Strictness::Strict] {
        let context = AdmitContext {
            caller: &caller,
            now: NOW,
            strictness,
            header_idempotency_key: None,
            generated_key: &|| "generated".to_owned(),
            scope_type_allowed: &|_| true,
        };
        match read(body, &context) {
            Ok(admitted) => assert!(!identity(&admitted.experience).is_empty()),
            Err(error) => refusal(&error, &sent),
        }
        if let Err(error) = read_bulk(body, &context) {
            refusal(&error, &sent);
        }
    }
}

/// The bodies of every other route.
pub fn bodies(body: &[u8]) {
    let sent = String::from_utf8_lossy(body);
    let refused = [
        RecallRequest::read(body).err(),
        AnswerRequest::read(body).err(),
        ComposeRequest::read(body).err(),
        ForgetRequest::read(body, None).err(),
        ErasureRequest::read(body, Some("key")).err(),
        LegalHoldRequest::read(body).err(),
        BuildRequest::read(body).err(),
        DeclareRequest::read(body).err(),
        BeliefsBuildRequest::read(body).err(),
        SynthesizeRequest::read(body, None).err(),
        ResolveRequest::read(body).err(),
        MergeRequest::read(body).err(),
        SplitRequest::read(body).err(),
        VocabularyRequest::read(body).err(),
        VocabularyRequest::read_part("name", body).err(),
        PhraseRequest::read(body).err(),
        ScopeRegistration::read(body).err(),
        MembersBody::read(body).err(),
        PruneRequest::read(body).err(),
        PolicyBody::read(body).err(),
        CancelRequest::read(body).err(),
        AuditVerifyRequest::read(body).err(),
        RevokeRequest::read(body).err(),
        MintRequest::read(body).err(),
        SignupRequest::read(body).err(),
        RuleRequest::read(body).err(),
        SweepRequest::read(body).err(),
        CompactRequest::read(body).err(),
        IndexAuditRequest::read(body).err(),
    ];
    refused.iter().flatten().for_each(|error| refusal(error, &sent));
}

/// The filters of streams and lists.
pub fn queries(text: &str) {
    let pairs: Vec<(String, String)> = text
        .split('&')
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let refused = [
        StreamQuery::parse(&pairs, None).err(),
        StreamQuery::parse(&pairs, Some(text)).err(),
        LifecycleQuery::parse(&pairs).err(),
        EventsQuery::parse(&pairs).err(),
        EpisodesQuery::parse(&pairs).err(),
        FactsQuery::parse(&pairs).err(),
        BeliefsQuery::parse(&pairs).err(),
        ConceptsQuery::parse(&pairs).err(),
        ConceptQuery::parse(&pairs).err(),
        RelatedQuery::parse(&pairs).err(),
        EntitiesQuery::parse(&pairs).err(),
        ConflictsQuery::parse(&pairs).err(),
        AuditQuery::parse(&pairs).err(),
        CostQuery::parse(&pairs).err(),
    ];
    refused.iter().flatten().for_each(|error| refusal(error, text));
}

/// Scope paths: what is accepted is what was written, and lies in all of its ancestors.
pub fn scope(text: &str) {
    if let Ok(path) = text.parse::<ScopePath>() {
        assert_eq!(path.as_str(), text);
        assert!(path.self_and_ancestors().iter().all(|ancestor| ancestor.contains(&path)));
    }
}

/// Files of other programs: the JSON readers, and the bundles, proofs and logs of the memory export contract.
pub fn portable(bytes: &[u8]) {
    lamina_portable::targets::json(bytes);
    lamina_portable::targets::zaxy(bytes);
}

/// Tokens and sets of keys: nothing gets in that no trusted key has signed.
pub fn token(text: &str) {
    let minter = Minter::generate("https://fuzz.example", &SimRng::new(1)).expect("one word");
    let mut keys = KeySet::new();
    let file = trust_file(minter.iss(), &[minter.public().clone()]);
    keys.add_trust_file(&file).expect("just made");
    assert!(verify(text, &keys, NOW).is_err());
    drop(KeySet::new().add_trust_file(text));
    drop(KeySet::new().set_jwks("https://fuzz.example", text));
}

/// A log whose bytes were changed: it refuses to open, or serves entries that verify. Of each three
/// bytes two say where and one says what.
pub fn log(edits: &[u8]) {
    let disk = Arc::new(SimDisk::new());
    let folder = Path::new("/data/keys");
    let keys = Keys::open(Arc::clone(&disk) as _, folder, Arc::new(SimRng::new(1)), true);
    let keys = Arc::new(keys.expect("a fresh directory gets keys"));
    let (mut log, _) = SegmentLog::open(options(&disk, &keys)).expect("an empty log opens");
    log.start(Arc::new(NoViews)).expect("an empty log starts");
    for number in 0..4u8 {
        let entry = NewEntry {
            kind: Kind::Control,
            sub: 1,
            tenant: 1,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: Section::absent(),
            what: Section::seal([number + 1; 32], &[number; 40]),
        };
        log.append(vec![entry], None).expect("an intact log takes entries");
    }
    drop(log);
    let is_segment = |path: &Path| path.extension().is_some_and(|end| end == "seg");
    let segment = disk.files().into_iter().find(|path| is_segment(path));
    let segment = segment.expect("a log with entries has a segment");
    let (edits, _) = edits.as_chunks::<3>();
    for [low, high, byte] in edits {
        let position = u64::from(u16::from_le_bytes([*low, *high])) % EDITED_BYTES;
        disk.poke(&segment, position, &[*byte]).expect("the file is there");
    }
    if let Ok((log, _)) = SegmentLog::open(options(&disk, &keys)) {
        let entries = log.reader().read(0, None, 100, 1 << 20);
        assert!(entries.is_ok(), "an opened log reads: {entries:?}");
    }
}

/// Evidence bundles: an archive of these bytes, and a directory whose files they are.
pub fn evidence_bundle(bytes: &[u8]) {
    lamina_aegx::targets::bundle(bytes);
}

fn options(disk: &Arc<SimDisk>, keys: &Arc<Keys>) -> OpenOptions {
    OpenOptions {
        disk: Arc::clone(disk) as _,
        dir: "/data".into(),
        clock: Arc::new(SteadyClock::new(Arc::new(SimClock::at(NOW)))),
        rng: Arc::new(SimRng::new(2)),
        keys: Arc::clone(keys),
        segment_bytes: 1 << 20,
        ballast: Ballast::new(Arc::clone(disk) as _, Path::new("/data"), 4_096),
        epoch: 0,
        known: KnownTail::default(),
    }
}

#[cfg(test)]
mod tests;
