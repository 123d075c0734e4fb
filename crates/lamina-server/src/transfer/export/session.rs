//! A scope that leaves as a whole session: a bundle of the memory export contract, or an Eventloom log. One
//! function makes the bytes for every surface.
//!
//! Nothing is written before all events were read and held against the chain of their scope: a Merkle root
//! stands over all entries, and a search ranks all events.

use std::collections::{BTreeMap, HashMap};

use lamina_api::ApiError;
use lamina_api::v1::exports::{EntrySelection, Selection};
use lamina_engine::read::facts::FactRecord;
use lamina_portable::export::ExportFormat;
use lamina_portable::json::Value;
use lamina_portable::loss::LossAccount;
use lamina_portable::time;
use lamina_portable::zaxy::{
    BundleError, Edge, Entity, EntrySelector, EventSeal, GrainSet, LogEvent, OwnSemantics,
    ProjectionError, ScopeEvent, Selector, SemanticParts, SemanticSource, SignatureInputs,
    disclose, double, is_session_name, project_with, signed_bundle, thread_of, to_file,
    unsigned_bundle,
};
use lamina_types::layer::{EntityKind, Object, Term};
use lamina_types::{ErrorCode, EventId, SessionScope};

use super::log_lines::{LogSession, log_text};
use super::signer::ExportSigner;
use super::walk::ExportStop;
use super::{ExportPlan, ExportReach};
use crate::http::failure::{Failure, internal};
use crate::http::{kind_word, term_name};

/// Events of one session that leave at once.
pub(crate) const SESSION_EVENTS_MAX: usize = 1_000_000;
/// Bytes of their words.
const SESSION_BYTES_MAX: usize = 512 << 20;

/// How a session leaves.
#[derive(Debug, Clone)]
pub(crate) struct SessionPlan {
    /// Its name in the bundle.
    pub(crate) session_id: String,
    /// Which events.
    pub(crate) selector: Selector,
    /// The signature, drawn once so that every fetch gives the same bytes.
    pub(crate) signature: Option<PlannedSignature>,
    /// Which entries are disclosed.
    pub(crate) disclose: Option<EntrySelector>,
}

/// A signature that an export will have.
#[derive(Debug, Clone)]
pub(crate) struct PlannedSignature {
    pub(crate) signer: ExportSigner,
    pub(crate) inputs: SignatureInputs,
}

/// The bytes of a session and the account of its events.
#[derive(Debug)]
pub(crate) struct SessionBytes {
    pub(crate) text: String,
    pub(crate) account: LossAccount,
}

/// The selector of a request.
pub(crate) fn selector_of(selection: &Selection) -> Result<Selector, ApiError> {
    let Selection { entries, query, query_limit, exclude_sensitivities, limit } = selection;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let EntrySelector { grains, kinds, since_seq, max_seq, since_time, until_time } =
        entry_selector_of(entries, "selector")?;
    Ok(Selector {
        grains,
        kinds,
        since_seq,
        max_seq,
        since_time,
        until_time,
        query: query.clone(),
        query_limit: query_limit.map_or(Selector::QUERY_LIMIT, size),
        exclude_sensitivities: exclude_sensitivities.clone(),
        limit: limit.map(size),
    })
}

/// The entry selector of a request.
pub(crate) fn entry_selector_of(
    selection: &EntrySelection,
    place: &str,
) -> Result<EntrySelector, ApiError> {
    let EntrySelection { grains, kinds, since_seq, max_seq, since_time, until_time } = selection;
    let refuse = |error: lamina_portable::zaxy::SelectorError| {
        ApiError::invalid_shape(format!("{place}.grains"), error.to_string())
    };
    let grains = match grains {
        None => GrainSet::BOTH,
        Some(names) => GrainSet::parse(names.iter().map(String::as_str)).map_err(refuse)?,
    };
    Ok(EntrySelector {
        grains,
        kinds: kinds.clone(),
        since_seq: *since_seq,
        max_seq: *max_seq,
        since_time: since_time.clone(),
        until_time: until_time.clone(),
    })
}

/// The name of a scope's session where nobody names one: its id, or the path as citations write it.
pub(crate) fn session_of(plan: &ExportPlan) -> String {
    match SessionScope::from_path(&plan.point.scope) {
        Some(session) if is_session_name(&session.session_id) => session.session_id,
        _ => thread_of(&plan.point.scope),
    }
}

/// Makes the bytes of a session. `progress` is told the number of events so far.
pub(crate) async fn session_bytes(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    session: &SessionPlan,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<SessionBytes, ExportStop> {
    let read = read_session(reach, plan, progress).await?;
    let (plan, session) = (plan.clone(), session.clone());
    let made = tokio::task::spawn_blocking(move || match plan.format {
        ExportFormat::Eventloom => log_bytes(&plan, &session, read),
        _ => bundle_bytes(&session, read),
    });
    let made = made.await.map_err(|error| internal(error.to_string()))?;
    made.map_err(ExportStop::Failed)
}

/// A session that was read to its end.
#[derive(Debug, Default)]
pub(super) struct ReadSession {
    pub(super) events: Vec<ScopeEvent>,
    pub(super) ids: HashMap<EventId, u64>,
    pub(super) facts: Vec<FactRecord>,
    pub(super) account: LossAccount,
}

async fn read_session(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<ReadSession, ExportStop> {
    let engine = reach.desk().app.engine.clone();
    let mut session = ReadSession::default();
    let (mut after, mut bytes) = (None, 0);
    loop {
        reach.renew(plan).await?;
        let page = engine.export_numbered(reach.permit(), &plan.point, after).await?;
        for item in page.items {
            let seal =
                EventSeal { number: item.number, seal: item.seal, recorded_at: item.recorded_at };
            match item.record {
                None => {
                    session.account.count_row("erased");
                    session.events.push(ScopeEvent::forgotten(&plan.point.scope, seal));
                }
                Some(record) if record.excluded_from_recall => {
                    session.account.skip("events that were cancelled", 1);
                }
                Some(record) => {
                    session.account.count_row("event");
                    bytes += record.experience.content.text().len()
                        + record.experience.origin.as_ref().map_or(0, String::len);
                    session.ids.insert(record.id, record.number);
                    session.events.push(ScopeEvent::of(&record));
                }
            }
        }
        if session.events.len() > SESSION_EVENTS_MAX || bytes > SESSION_BYTES_MAX {
            let text = format!(
                "The session has more than {SESSION_EVENTS_MAX} events or {} MiB of words; use the format jsonl.",
                SESSION_BYTES_MAX >> 20
            );
            return Err(Failure::from(ApiError::new(ErrorCode::BodyTooLarge, text)).into());
        }
        progress(session.events.len() as u64);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut after = None;
    loop {
        reach.renew(plan).await?;
        let page = engine.export_facts(reach.permit(), &plan.point, after).await?;
        let held = |fact: &FactRecord| {
            fact.scope == plan.point.scope
                && fact.recorded_to.is_none_or(|to| to > plan.point.recorded)
        };
        session.facts.extend(page.items.into_iter().filter(held));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(session)
}

fn bundle_bytes(session: &SessionPlan, read: ReadSession) -> Result<SessionBytes, Failure> {
    let ReadSession { events, ids, facts, mut account } = read;
    let mut own = OwnSemantics::new();
    for event in events.iter().filter(|event| event.semantics == SemanticSource::Facts) {
        own.insert(event.event.seq, SemanticParts::default());
    }
    for (seq, parts) in fact_parts(&facts, &ids) {
        // An event with a rule says what its rule reads, so that both programs write the same entries.
        if let Some(place) = own.get_mut(&seq) {
            *place = parts;
        }
    }
    let events: Vec<LogEvent> = events.into_iter().map(|event| event.event).collect();
    let projection = project_with(&events, &own, &session.selector).map_err(projection_error)?;
    for _ in &projection.warnings {
        account.lose("semantic", "the rule of the type needs a member that the event lacks");
    }
    let bundle = match &session.signature {
        None => unsigned_bundle(&session.session_id, projection.entries),
        Some(PlannedSignature { signer, inputs }) => {
            let key = signer.key()?;
            signed_bundle(&session.session_id, projection.entries, &key, inputs.clone())
                .map_err(bundle_error)?
        }
    };
    let bundle = match &session.disclose {
        None => bundle,
        Some(selector) => {
            disclose(&bundle, selector).map_err(|error| internal(error.to_string()))?.subset
        }
    };
    let text = to_file(&bundle).map_err(|error| internal(error.to_string()))?;
    Ok(SessionBytes { text, account })
}

fn projection_error(error: ProjectionError) -> Failure {
    ApiError::invalid_shape("selector", error.to_string()).into()
}

fn bundle_error(error: BundleError) -> Failure {
    match error {
        BundleError::Empty => {
            ApiError::invalid_shape("selector", BundleError::Empty.to_string()).into()
        }
        other => internal(other.to_string()),
    }
}

fn log_bytes(
    plan: &ExportPlan,
    session: &SessionPlan,
    read: ReadSession,
) -> Result<SessionBytes, Failure> {
    let ReadSession { events, ids, facts, mut account } = read;
    let selected: Vec<LogEvent> = events.iter().map(|event| event.event.clone()).collect();
    session
        .selector
        .check()
        .map_err(|error| ApiError::invalid_shape("selector", error.to_string()))?;
    let kept: Vec<u64> = session.selector.events(&selected).iter().map(|event| event.seq).collect();
    let parts = match session.selector.grains.has(lamina_portable::zaxy::Grain::Semantic) {
        true => fact_parts(&facts, &ids),
        false => BTreeMap::new(),
    };
    let ids: HashMap<u64, EventId> = ids.into_iter().map(|(id, seq)| (seq, id)).collect();
    let log = LogSession {
        scope: &plan.point.scope,
        events: &events,
        kept: &kept,
        ids: &ids,
        parts: &parts,
    };
    let text = log_text(&log, &mut account);
    Ok(SessionBytes { text, account })
}

/// Entities and edges of facts, by the number of the event that said each first.
fn fact_parts(facts: &[FactRecord], ids: &HashMap<EventId, u64>) -> BTreeMap<u64, SemanticParts> {
    let mut found: BTreeMap<u64, FactEntries> = BTreeMap::new();
    for fact in facts {
        for claim in fact.claims().into_iter().filter(|claim| !claim.object.redacted) {
            let numbers = claim.object.supports.iter().filter_map(|id| ids.get(id).copied());
            let Some(first) = numbers.min() else { continue };
            let entries = found.entry(first).or_default();
            let (subject, subject_kind) =
                (term_name(&fact.subject.term), term_kind(&fact.subject.term));
            entries.add_entity(fact.subject.id.to_string(), &subject, subject_kind);
            let target = match (&claim.object.object, claim.object.entity) {
                (Object::Entity(term), Some(id)) => {
                    let name = term_name(term);
                    entries.add_entity(id.to_string(), &name, term_kind(term));
                    name
                }
                (object, _) => super::records::object_text(object),
            };
            let supports: Vec<String> = claim
                .object
                .supports
                .iter()
                .filter(|id| ids.contains_key(*id))
                .map(ToString::to_string)
                .collect();
            let mut evidence = Value::object([
                ("fact_id", claim.id.to_string().into()),
                ("supports", Value::strings(&supports)),
            ]);
            if claim.object.negated {
                evidence.push("negated", true);
            }
            let edge = Edge {
                source: subject.into(),
                target: target.into(),
                relation: fact.predicate.clone(),
                confidence: double(claim.object.confidence.as_f64()),
                inferred: false,
                inference_method: claim.object.extractor.as_str().into(),
                evidence,
                valid_from: claim.valid_from.map(|at| time::print(at.0)),
                valid_to: claim.valid_to.map(|at| time::print(at.0)),
            };
            entries.edges.insert(claim.id.to_string(), edge);
        }
    }
    found.into_iter().map(|(seq, entries)| (seq, entries.into_parts())).collect()
}

/// Entries of one event, by id.
#[derive(Default)]
struct FactEntries {
    entities: BTreeMap<String, Entity>,
    edges: BTreeMap<String, Edge>,
}

impl FactEntries {
    fn add_entity(&mut self, id: String, name: &str, kind: &str) {
        let properties = Value::object([("entity_id", id.as_str().into())]);
        let entity =
            Entity { name: name.into(), kind: kind.to_owned(), summary: Value::Null, properties };
        self.entities.entry(id).or_insert(entity);
    }

    fn into_parts(self) -> SemanticParts {
        SemanticParts {
            entities: self.entities.into_values().collect(),
            edges: self.edges.into_values().collect(),
        }
    }
}

fn term_kind(term: &Term) -> &'static str {
    match term {
        Term::Actor(_) => kind_word(EntityKind::Person),
        Term::Named { kind, .. } => kind_word(*kind),
        Term::Of { .. } => kind_word(EntityKind::Thing),
    }
}
