//! `POST /v1/experience/bulk`: many experiences, all or none (R250-R252, D1, C33).
//!
//! Two shapes are one: what stands at the top is the default of every item, and an item may be a
//! full envelope. One invalid item refuses the request, and the answer lists every refused item.

use std::collections::BTreeMap;

use lamina_types::ErrorCode;
use lamina_types::limits::{BULK_ERRORS_SHOWN_MAX, BULK_ITEMS_MAX, IDEMPOTENCY_KEY_CHARS_MAX};
use lamina_types::stdx::hex;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::admit::{AdmitContext, Admitted, admit_any};
use super::identity::identity;
use super::{ActorBody, DirectivesBody, ExperienceEnvelope, SubjectBody};
use crate::check;
use crate::error::ApiError;
use crate::json::{self, Obj, OrText};

/// The body of `POST /v1/experience/bulk`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "experience_bulk")]
pub struct BulkBody {
    /// The scope of items that name none.
    pub scope: Option<String>,
    /// Alias of `observed_actor`: an actor object or a bare `type:id`.
    #[schemars(with = "Option<ActorOrId>")]
    pub actor: Option<OrText<ActorBody>>,
    /// The actor of items that name none.
    pub observed_actor: Option<OrText<ActorBody>>,
    /// The subject of items that name none.
    pub subject: Option<OrText<SubjectBody>>,
    /// The modality of items that name none.
    pub modality: Option<String>,
    /// The directives of items that give none.
    pub directives: Option<Obj<DirectivesBody>>,
    /// How the items are put in order; as given, by default.
    #[schemars(with = "Option<OrderingBody>")]
    pub ordering: Option<String>,
    /// A key for the request, which is made once: the same key with other items is refused. Items without a
    /// key get `<key>:<index>`, or a hash in place of a key of more than 60 characters.
    #[schemars(length(min = 1, max = 64))]
    pub idempotency_key: Option<String>,
    /// The experiences: full envelopes, or envelopes that lean on the fields above.
    #[schemars(required, with = "Option<Vec<BulkItem>>", length(min = 1, max = 1000))]
    pub items: Option<Vec<Obj<ExperienceEnvelope>>>,
}

/// An item of a bulk request: an experience envelope whose missing fields come from the request.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "experience_bulk_item")]
#[expect(dead_code, reason = "describes the shape in the schema; never built")]
struct BulkItem {
    /// As in the envelope; the scope of the request when absent.
    scope: Option<String>,
    /// As in the envelope; the actor of the request when absent.
    observed_actor: Option<ActorBody>,
    /// Alias of `observed_actor`.
    actor: Option<ActorOrId>,
    /// As in the envelope; the subject of the request when absent.
    subject: Option<SubjectBody>,
    /// As in the envelope; the modality of the request when absent.
    modality: Option<String>,
    /// As in the envelope.
    content: super::ContentBody,
    /// As in the envelope.
    context: super::ContextBody,
    /// As in the envelope; the directives of the request when absent.
    directives: Option<DirectivesBody>,
    /// As in the envelope.
    source: Option<super::SourceBody>,
    /// As in the envelope.
    language: Option<String>,
    /// As in the envelope.
    scripts: Option<Vec<String>>,
    /// As in the envelope.
    idempotency_key: Option<String>,
}

/// An actor, or only its id.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, rename = "actor_or_id")]
#[expect(dead_code, reason = "describes the shape in the schema; never built")]
enum ActorOrId {
    /// `type:id`.
    Id(String),
    /// The actor.
    Actor(ActorBody),
}

/// The orderings on the wire.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "snake_case", rename = "bulk_ordering")]
#[expect(dead_code, reason = "describes the shape in the schema; never built")]
enum OrderingBody {
    /// By `context.observed_at`.
    StrictTemporal,
    /// As given.
    BatchThroughput,
}

/// How the items of a batch are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// By `observed_at`; items of the same instant as given.
    StrictTemporal,
    /// As given.
    BatchThroughput,
}

/// A batch of which every item passed every rule.
#[derive(Debug, Clone, PartialEq)]
pub struct AdmittedBulk {
    /// The items, in the order of the request.
    pub items: Vec<Admitted>,
    /// How to put them in order.
    pub ordering: Ordering,
    /// What a request with a key is, all items together.
    pub request: Option<[u8; 32]>,
}

impl AdmittedBulk {
    /// What makes an item the same item (R429): with a key for the request, also what stands beside it.
    pub fn identity(&self, item: &Admitted) -> Vec<u8> {
        let mut identity = identity(&item.experience);
        identity.extend(self.request.iter().flatten());
        identity
    }

    /// The order in which the items go into the log, as positions in the request.
    pub fn append_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        if self.ordering == Ordering::StrictTemporal {
            let at = |index: &usize| {
                self.items.get(*index).map(|item| item.experience.context.observed_at)
            };
            order.sort_by_key(at);
        }
        order
    }
}

/// Reads the body of `POST /v1/experience/bulk`.
pub fn read_bulk(body: &[u8], ctx: &AdmitContext<'_>) -> Result<AdmittedBulk, ApiError> {
    match json::read::<BulkBody>(body) {
        Ok(mut bulk) => {
            let items = bulk.items.take().ok_or_else(|| super::admit::required("items"));
            let items = items.map(|items| items.into_iter().map(|Obj(item)| Ok(item)).collect());
            admit_bulk(bulk, items, ctx)
        }
        Err(error) => {
            let error = error.in_envelope();
            match per_item(body, &error) {
                Some((bulk, items)) => admit_bulk(bulk, Ok(items), ctx).and(Err(error)),
                None => Err(error),
            }
        }
    }
}

/// What became of the shape of an item.
type Shaped = Result<ExperienceEnvelope, ApiError>;

fn admit_bulk(
    body: BulkBody,
    items: Result<Vec<Shaped>, ApiError>,
    ctx: &AdmitContext<'_>,
) -> Result<AdmittedBulk, ApiError> {
    let ordering = admit_ordering(body.ordering.as_deref())?;
    let key = admit_request_key(body.idempotency_key.as_deref(), ctx)?;
    if body.observed_actor.is_some() && body.actor.is_some() {
        let reason = "give either `observed_actor` or its alias `actor`, not both";
        return Err(ApiError::invalid_envelope("actor", reason));
    }
    let keyed = key.is_some();
    let defaults = Defaults {
        scope: body.scope,
        actor: body.observed_actor.or(body.actor),
        subject: body.subject,
        modality: body.modality,
        directives: body.directives,
        key,
    };
    let items = items?;
    if items.is_empty() || items.len() > BULK_ITEMS_MAX {
        let reason = format!("must have 1 to {BULK_ITEMS_MAX} items");
        return Err(ApiError::invalid_envelope("items", reason));
    }
    // The header names the request; the items have keys of their own.
    let ctx = AdmitContext { header_idempotency_key: None, ..*ctx };
    let total = items.len();
    let mut admitted = Vec::with_capacity(total);
    let mut errors = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        match item.and_then(|item| admit_any(defaults.fill(index, item), &ctx)) {
            Ok(item) => admitted.push((index, item)),
            Err(error) => errors.push((index, error)),
        }
    }
    errors.extend(conflicts(&admitted));
    errors.sort_by_key(|(index, _)| *index);
    match errors.is_empty() {
        true => {
            let items: Vec<Admitted> = admitted.into_iter().map(|(_, item)| item).collect();
            let request = keyed.then(|| request(&items));
            Ok(AdmittedBulk { items, ordering, request })
        }
        false => Err(refuse_all(&errors, total)),
    }
}

struct Defaults {
    scope: Option<String>,
    actor: Option<OrText<ActorBody>>,
    subject: Option<OrText<SubjectBody>>,
    modality: Option<String>,
    directives: Option<Obj<DirectivesBody>>,
    key: Option<String>,
}

impl Defaults {
    /// What the item says wins (D1).
    fn fill(&self, index: usize, mut item: ExperienceEnvelope) -> ExperienceEnvelope {
        if item.observed_actor.is_none() && item.actor.is_none() {
            item.actor = self.actor.clone();
        }
        item.scope = item.scope.or_else(|| self.scope.clone());
        item.subject = item.subject.or_else(|| self.subject.clone());
        item.modality = item.modality.or_else(|| self.modality.clone());
        item.directives = item.directives.or_else(|| self.directives.clone());
        let key = self.key.as_ref().map(|key| item_key(key, index));
        item.idempotency_key = item.idempotency_key.or(key);
        item
    }
}

/// The key of an item that has none. Where `<key>:999` would be too long for a key, a hash stands for it.
fn item_key(key: &str, index: usize) -> String {
    match key.chars().count() > IDEMPOTENCY_KEY_CHARS_MAX - ":999".len() {
        true => {
            let hash = hex::encode(&Sha256::digest(key));
            format!("{}:{index}", hash.get(..32).unwrap_or_default())
        }
        false => format!("{key}:{index}"),
    }
}

/// All items of a request, in its order.
fn request(items: &[Admitted]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for item in items {
        hash.update(Sha256::digest(identity(&item.experience)));
    }
    hash.finalize().into()
}

fn admit_ordering(ordering: Option<&str>) -> Result<Ordering, ApiError> {
    match ordering {
        Some("strict_temporal") => Ok(Ordering::StrictTemporal),
        None | Some("batch_throughput") => Ok(Ordering::BatchThroughput),
        Some(_) => Err(ApiError::invalid_envelope(
            "ordering",
            "must be one of strict_temporal, batch_throughput",
        )),
    }
}

/// The key of the request: in the body, or in the header.
fn admit_request_key(
    body: Option<&str>,
    ctx: &AdmitContext<'_>,
) -> Result<Option<String>, ApiError> {
    let field = "idempotency_key";
    let key = match (body, ctx.header_idempotency_key) {
        (Some(body), Some(header)) if body != header => {
            let reason = "differs from the header X-Cortex-Idempotency-Key; send one of them";
            return Err(ApiError::invalid_envelope(field, reason));
        }
        (body, header) => body.or(header),
    };
    if let Some(key) = key {
        check::field(field, check::short(key, IDEMPOTENCY_KEY_CHARS_MAX))?;
    }
    Ok(key.map(str::to_owned))
}

/// Two items may share a key only if they are the same body.
fn conflicts(items: &[(usize, Admitted)]) -> Vec<(usize, ApiError)> {
    let mut first: BTreeMap<&str, (usize, Vec<u8>)> = BTreeMap::new();
    let mut errors = Vec::new();
    for (index, Admitted { experience, .. }) in items {
        let body = identity(experience);
        match first.get(experience.idempotency_key.as_str()) {
            None => {
                first.insert(&experience.idempotency_key, (*index, body));
            }
            Some((_, known)) if *known == body => {}
            Some((earlier, _)) => {
                let reason = format!("already used by item {earlier} with another body");
                let error = ApiError::at(ErrorCode::IdempotencyConflict, "idempotency_key", reason);
                errors.push((*index, error));
            }
        }
    }
    errors
}

/// The refusal of the whole request. Its code is that of the items if they agree.
fn refuse_all(errors: &[(usize, ApiError)], total: usize) -> ApiError {
    let Some((index, first)) = errors.first() else {
        return ApiError::of(ErrorCode::Internal);
    };
    let same =
        errors.iter().all(|(_, error)| error.code == first.code && error.status == first.status);
    let (code, status) = match same {
        true => (first.code, first.status),
        false => (ErrorCode::InvalidEnvelope, ErrorCode::InvalidEnvelope.status()),
    };
    let reason = first.reason().unwrap_or(&first.message).to_owned();
    let field = match first.field() {
        Some(field) => format!("items[{index}].{field}"),
        None => format!("items[{index}]"),
    };
    let shown: Vec<Value> = errors
        .iter()
        .take(BULK_ERRORS_SHOWN_MAX)
        .map(|(index, error)| {
            json!({
                "index": index,
                "error_code": error.code.as_str(),
                "field": error.field(),
                "reason": error.reason().unwrap_or(&error.message),
            })
        })
        .collect();
    let message = format!(
        "{} of {total} items were refused and nothing was written; first: `{field}`: {reason}",
        errors.len(),
    );
    ApiError::new(code, message)
        .with_status(status)
        .with("field", field)
        .with("reason", reason)
        .with("error_count", errors.len())
        .with("errors", shown)
}

/// The body and its items one by one, if the shape of one of them is why it was refused.
fn per_item(body: &[u8], error: &ApiError) -> Option<(BulkBody, Vec<Shaped>)> {
    let in_items = error.field().is_some_and(|field| field.starts_with("items["));
    if error.status != 422 || !in_items {
        return None;
    }
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_slice(body).ok()?;
    let items: Vec<&RawValue> = serde_json::from_str(members.remove("items")?.get()).ok()?;
    let rest = serde_json::to_vec(&members).ok()?;
    let read = |item: &&RawValue| {
        json::read::<ExperienceEnvelope>(item.get().as_bytes()).map_err(ApiError::in_envelope)
    };
    Some((json::read(&rest).ok()?, items.iter().map(read).collect()))
}
