//! One entry of a chain: its sealed head and its subject. Events alone have words.

use lamina_store::codec::answer::Answer;
use lamina_store::codec::control::By;
use lamina_store::entry::{Entry, Kind, SectionState, control};
use lamina_types::layer::ByteSpan;
use lamina_types::{ActorId, EventId, EventRecord, RecordedAt};

use crate::Error;
use crate::engine::Inner;
use crate::read::ReadPermit;

/// An entry of the chain of a scope.
#[derive(Debug, Clone)]
pub struct ChainItem {
    /// The bytes of the head that the seal covers.
    pub head: Vec<u8>,
    /// Its position in the log, by which others name it as their cause.
    pub offset: u64,
    /// Its position in the chain, from 1.
    pub scope_seq: u64,
    /// Its seal.
    pub seal: [u8; 32],
    /// The seal before it.
    pub prev_seal: [u8; 32],
    /// The commitment to the section `who`.
    pub who_commit: [u8; 32],
    /// The commitment to the section `what`.
    pub what_commit: [u8; 32],
    /// When it was recorded.
    pub recorded_at: RecordedAt,
    /// Positions of the entries that it stands on.
    pub causes: Vec<u64>,
    /// Its subject.
    pub subject: ChainSubject,
}

/// The subject of an entry.
#[derive(Debug, Clone)]
pub enum ChainSubject {
    /// A memory event.
    Event(Box<ChainEvent>),
    /// An answer of an extractor; nothing is known of one whose words are erased.
    Answer(Option<AnswerNote>),
    /// A change of state.
    Control(ControlNote),
    /// Time that passed.
    Other,
}

/// A memory event of the chain.
#[derive(Debug, Clone)]
pub struct ChainEvent {
    /// Its id.
    pub id: EventId,
    /// The event and how it was let in; `None` once its words are erased.
    pub record: Option<(EventRecord, EventAdmission)>,
}

/// The decision that let an event in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventAdmission {
    /// The decision, as the policy named it; may be empty.
    pub decision: String,
    /// The row of the audit log.
    pub audit_id: String,
}

/// The result of an extractor, in numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerNote {
    /// The name of the extractor.
    pub extractor: String,
    /// Whether a model was asked.
    pub is_model: bool,
    /// Claims that it found.
    pub claims: u64,
    /// The bytes of the event that they stand on.
    pub spans: Vec<ByteSpan>,
    /// Claims that the gate refused.
    pub refused: u64,
    /// Sentences that only repeat memory, from which nothing was learned.
    pub echoes: u64,
}

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlNote {
    /// Its name.
    pub name: &'static str,
    /// Its effect on evidence.
    pub action: ControlAction,
    /// The caller; `None` for the system itself, or once erased.
    pub caller: Option<ActorId>,
}

/// The effect of a change of state on evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlAction {
    /// It removes or hides memories.
    Remove,
    /// It changes a rule.
    Rule,
    /// It asks a model.
    Ask,
    /// A model has answered, or is not asked any more.
    Answer,
    /// It decides about claims.
    Decide,
    /// It writes a memory.
    Commit,
    /// It is the record of work.
    Note,
}

impl Inner {
    pub(super) fn chain_item(&self, permit: &ReadPermit, entry: Entry) -> Result<ChainItem, Error> {
        let subject = match entry.head.kind {
            Kind::Experience => ChainSubject::Event(Box::new(self.chain_event(permit, &entry)?)),
            Kind::Answer => ChainSubject::Answer(answer_note(&entry)?),
            Kind::Control => ChainSubject::Control(control_note(&entry)),
            Kind::Tick | Kind::Mark => ChainSubject::Other,
        };
        let head = entry.head;
        Ok(ChainItem {
            head: head.sealed_bytes(),
            offset: head.offset,
            scope_seq: head.scope_seq,
            seal: head.seal,
            prev_seal: head.prev_seal,
            who_commit: head.who_commit,
            what_commit: head.what_commit,
            recorded_at: head.recorded_at,
            causes: head.causes,
            subject,
        })
    }

    fn chain_event(&self, permit: &ReadPermit, entry: &Entry) -> Result<ChainEvent, Error> {
        let id = entry.head.event_id();
        let row = self.event_row(permit.caller().tenant, id)?;
        let record = match self.is_hidden(&row) {
            true => None,
            false => match self.record(&row) {
                Ok(record) if permit.covers(&record.experience.scope) => Some(record),
                Ok(_) => return Err(Error::OutsidePermit),
                Err(Error::Deleted) => None,
                Err(error) => return Err(error),
            },
        };
        let record = match (record, self.decode_who(entry)) {
            (Some(record), Ok(who)) => {
                let audit_id = who.audit_id.to_string();
                Some((record, EventAdmission { decision: who.decision, audit_id }))
            }
            (_, Err(Error::Deleted)) | (None, _) => None,
            (_, Err(error)) => return Err(error),
        };
        Ok(ChainEvent { id, record })
    }
}

fn answer_note(entry: &Entry) -> Result<Option<AnswerNote>, Error> {
    let SectionState::Live(bytes) = &entry.what else { return Ok(None) };
    let answer = Answer::decode(bytes).map_err(|_| Error::Undecodable { what: "an answer" })?;
    let Answer { extraction, ungrounded, echoes, cost, .. } = answer;
    Ok(Some(AnswerNote {
        is_model: cost.is_some(),
        claims: extraction.claims.len() as u64,
        spans: extraction.claims.iter().map(|claim| claim.span).collect(),
        refused: ungrounded.len() as u64,
        echoes: echoes.len() as u64,
        extractor: extraction.extractor,
    }))
}

fn control_note(entry: &Entry) -> ControlNote {
    use ControlAction::{Answer, Ask, Commit, Decide, Note, Remove, Rule};
    let (name, action) = match entry.head.sub {
        control::CANCEL => ("cancel", Remove),
        control::ERASE => ("erase", Remove),
        control::ERASED => ("erased", Remove),
        control::SUPPRESS => ("suppress", Remove),
        control::FORGET_BEGUN => ("forget_begun", Remove),
        control::FORGOTTEN => ("forgotten", Remove),
        control::ERASURE_BEGUN => ("erasure_begun", Remove),
        control::ERASURE_STEP => ("erasure_step", Remove),
        control::ERASURE_ENDED => ("erasure_ended", Remove),
        control::ERASURE_CERTIFIED => ("erasure_certified", Remove),
        control::SCOPE => ("scope_registered", Rule),
        control::SCOPE_SET => ("scope_set", Rule),
        control::SCOPE_REMOVED => ("scope_removed", Rule),
        control::POLICY_SET => ("policy_set", Rule),
        control::TOKEN_REVOKED => ("token_revoked", Rule),
        control::VOCABULARY_SET => ("vocabulary_set", Rule),
        control::PHRASES_SET => ("phrases_set", Rule),
        control::RETENTION_SET => ("retention_set", Rule),
        control::LEGAL_HOLD_SET => ("legal_hold_set", Rule),
        control::LEGAL_HOLD_LIFTED => ("legal_hold_lifted", Rule),
        control::MODEL_RESERVED => ("model_asked", Ask),
        control::MODEL_SETTLED => ("model_answered", Answer),
        control::MODEL_GAVE_UP => ("model_given_up", Answer),
        control::CONFLICT_RESOLVED => ("conflict_resolved", Decide),
        control::ENTITY_MERGED => ("entity_merged", Decide),
        control::ENTITY_SPLIT => ("entity_split", Decide),
        control::BELIEF_DECLARED => ("belief_declared", Commit),
        control::EPISODES_SEALED => ("episodes_sealed", Note),
        control::UNDERSTANDING_SYNTHESIZED => ("understanding_synthesized", Note),
        control::REDERIVE_BEGUN => ("rederive_begun", Note),
        control::REDERIVE_ENDED => ("rederive_ended", Note),
        control::IMPORT_BEGUN => ("import_begun", Note),
        control::IMPORT_STEP => ("import_step", Note),
        control::IMPORT_ENDED => ("import_ended", Note),
        _ => ("control", Note),
    };
    let by = entry.who.live().and_then(|bytes| By::decode(bytes).ok());
    ControlNote { name, action, caller: by.map(|by| by.caller) }
}
