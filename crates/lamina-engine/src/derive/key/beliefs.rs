//! The keys of beliefs.
//!
//! A claim is known by its scope, by its subject and predicate (`said`) and by its value. What was
//! said about it stands under it in the order of the log, so that it can be taken again from the
//! beginning when something is withdrawn.

use lamina_core::derive::facts::AssertionId;
use lamina_store::view::Tag;
use lamina_types::{BeliefId, EpisodeId, Micros, RecordedAt, ValidAt};

use super::{Key, tail_number};

mod records {
    pub(super) const BELIEF: u8 = 70;
    pub(super) const LISTED: u8 = 71;
    pub(super) const ABOUT: u8 = 72;
}

mod sources {
    pub(super) const CLAIM: u8 = 70;
    pub(super) const PIECE: u8 = 71;
    pub(super) const VOICE: u8 = 72;
    pub(super) const VOICE_IN: u8 = 73;
    pub(super) const RECENT: u8 = 74;
    pub(super) const MADE: u8 = 75;
    pub(super) const DECLARED: u8 = 76;
    pub(super) const SAMPLE: u8 = 77;
    pub(super) const HEIR: u8 = 78;
    pub(super) const TERMED: u8 = 79;
}

/// Kinds whose keys begin with an id, and with the offset of an entry.
pub(super) const SHOWN_BY_ID: [u8; 1] = [records::BELIEF];
pub(super) const MADES: u8 = sources::MADE;
/// Kinds whose keys begin with a scope.
pub(super) const SHOWN_IN_SCOPE: [u8; 2] = [records::LISTED, records::ABOUT];
pub(super) const MADE_IN_SCOPE: [u8; 6] = [
    sources::CLAIM,
    sources::PIECE,
    sources::VOICE,
    sources::VOICE_IN,
    sources::RECENT,
    sources::HEIR,
];

/// A claim that something can be believed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClaimKey {
    /// The ordinal of the scope.
    pub(crate) scope: u64,
    /// Its subject and predicate.
    pub(crate) said: Tag,
    /// Its object.
    pub(crate) value: Tag,
}

impl ClaimKey {
    fn under(&self, tenant: u32, kind: u8) -> Key {
        Key::of(tenant, kind).number(self.scope).bytes(&self.said).bytes(&self.value)
    }
}

/// What became of a belief.
pub(crate) fn belief(tenant: u32, id: BeliefId) -> Vec<u8> {
    Key::of(tenant, records::BELIEF).bytes(id.as_bytes()).0
}

/// The beliefs of a scope, in the order in which they came to be.
pub(crate) fn listed(tenant: u32, scope: u64, at: RecordedAt, id: BeliefId) -> Vec<u8> {
    Key::of(tenant, records::LISTED).number(scope).instant(at.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`listed`] for one scope.
pub(crate) fn all_listed(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::LISTED).number(scope).all()
}

/// The beliefs about somebody or something.
pub(crate) fn about(
    tenant: u32,
    scope: u64,
    subject: &Tag,
    at: RecordedAt,
    id: BeliefId,
) -> Vec<u8> {
    let key = Key::of(tenant, records::ABOUT).number(scope).bytes(subject);
    key.instant(at.0.0).bytes(id.as_bytes()).0
}

/// The bounds of [`about`] for one subject.
pub(crate) fn all_about(tenant: u32, scope: u64, subject: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, records::ABOUT).number(scope).bytes(subject).all()
}

/// The belief in a claim.
pub(crate) fn claim(tenant: u32, claim: &ClaimKey) -> Vec<u8> {
    claim.under(tenant, sources::CLAIM).0
}

/// The bounds of [`claim`] for one subject and predicate.
pub(crate) fn all_claims(tenant: u32, scope: u64, said: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::CLAIM).number(scope).bytes(said).all()
}

/// The id that the next belief in a claim takes up.
pub(crate) fn heir(tenant: u32, claim: &ClaimKey) -> Vec<u8> {
    claim.under(tenant, sources::HEIR).0
}

/// The bounds of [`heir`] for one subject and predicate: the claims that nothing is believed of any more.
pub(crate) fn all_heirs(tenant: u32, scope: u64, said: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::HEIR).number(scope).bytes(said).all()
}

/// Something that was said about a claim.
pub(crate) fn piece(tenant: u32, claim: &ClaimKey, at: AssertionId) -> Vec<u8> {
    let key = claim.under(tenant, sources::PIECE).number(at.offset);
    key.bytes(&at.ordinal.to_be_bytes()).0
}

/// The bounds of [`piece`] for one claim.
pub(crate) fn pieces(tenant: u32, claim: &ClaimKey) -> (Vec<u8>, Vec<u8>) {
    claim.under(tenant, sources::PIECE).all()
}

/// In how many episodes a voice was heard on one side of a claim.
pub(crate) fn voice(tenant: u32, claim: &ClaimKey, side: u8, actor: &Tag) -> Vec<u8> {
    claim.under(tenant, sources::VOICE).bytes(&[side]).bytes(actor).0
}

/// How often it was heard in one of them.
pub(crate) fn voice_in(
    tenant: u32,
    claim: &ClaimKey,
    side: u8,
    actor: &Tag,
    episode: Option<EpisodeId>,
) -> Vec<u8> {
    let key = claim.under(tenant, sources::VOICE_IN).bytes(&[side]).bytes(actor);
    let episode = episode.map_or([0; 16], |episode| *episode.as_bytes());
    key.bytes(&[u8::from(episode != [0; 16])]).bytes(&episode).0
}

/// The bounds of [`voice`] and of [`voice_in`] for one claim.
pub(crate) fn voices(tenant: u32, claim: &ClaimKey) -> [(Vec<u8>, Vec<u8>); 2] {
    [sources::VOICE, sources::VOICE_IN].map(|kind| claim.under(tenant, kind).all())
}

/// The claims under one subject and predicate, by when they were last supported.
pub(crate) fn recent(tenant: u32, claim: &ClaimKey, at: RecordedAt) -> Vec<u8> {
    let key = Key::of(tenant, sources::RECENT).number(claim.scope).bytes(&claim.said);
    key.instant(at.0.0).bytes(&claim.value).0
}

/// The bounds of [`recent`] for one subject and predicate.
pub(crate) fn all_recent(tenant: u32, scope: u64, said: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::RECENT).number(scope).bytes(said).all()
}

/// The claims that an entry spoke about.
pub(crate) fn made(tenant: u32, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::MADE).number(offset).0
}

/// An answer that says something under a term of a vocabulary.
pub(crate) fn termed(tenant: u32, vocabulary: &Tag, predicate: &Tag, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::TERMED).bytes(vocabulary).bytes(predicate).number(offset).0
}

/// The bounds of [`termed`] for one term.
pub(crate) fn all_termed(tenant: u32, vocabulary: &Tag, predicate: &Tag) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::TERMED).bytes(vocabulary).bytes(predicate).all()
}

/// The declarations under one subject and predicate, by when they begin to hold.
pub(crate) fn declared(tenant: u32, claim: &ClaimKey, from: ValidAt) -> Vec<u8> {
    let key = Key::of(tenant, sources::DECLARED).number(claim.scope).bytes(&claim.said);
    key.instant(from.0.0).bytes(&claim.value).0
}

/// The bounds of [`declared`] before and from an instant on.
pub(crate) fn all_declared(
    tenant: u32,
    scope: u64,
    said: &Tag,
    from: ValidAt,
) -> [(Vec<u8>, Vec<u8>); 2] {
    let question = || Key::of(tenant, sources::DECLARED).number(scope).bytes(said);
    let (first, end) = question().all();
    let middle = question().instant(from.0.0).0;
    [(first, middle.clone()), (middle, end)]
}

/// What feedback said about a prediction.
pub(crate) fn sample(tenant: u32, scope: u64, at: RecordedAt, offset: u64) -> Vec<u8> {
    Key::of(tenant, sources::SAMPLE).number(scope).instant(at.0.0).number(offset).0
}

/// The bounds of [`sample`] for one scope.
pub(crate) fn samples(tenant: u32, scope: u64) -> (Vec<u8>, Vec<u8>) {
    Key::of(tenant, sources::SAMPLE).number(scope).all()
}

/// When the feedback of a [`sample`] key was recorded.
pub(crate) fn sampled_at(key: &[u8]) -> Option<RecordedAt> {
    let (rest, _) = key.split_last_chunk::<8>()?;
    Some(RecordedAt(Micros((tail_number(rest)? ^ (1 << 63)).cast_signed())))
}
