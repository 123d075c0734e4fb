//! From a row of a source to an experience: an envelope is built and goes through the same gate as the body
//! of `POST /v1/experience`.

use std::collections::BTreeMap;

use lamina_api::ApiError;
use lamina_api::json::canonical;
use lamina_api::v1::experience::{AdmitContext, Strictness, read_line};
use lamina_api::v1::import::{ImportOptions, ImportTarget};
use lamina_portable::foreign::{ForeignRow, Format, RowContent, TimeBasis};
use lamina_portable::json::{ReadPolicy, Value, parse, to_compact};
use lamina_portable::time;
use lamina_types::{ActorId, ErrorCode, Experience, Micros, ScopePath};

/// How rows of one job become experiences.
#[derive(Debug, Clone)]
pub(super) struct RowRules {
    pub(super) format: Format,
    pub(super) target: ImportTarget,
    pub(super) options: ImportOptions,
    pub(super) caller: ActorId,
    /// The instant of the request: "now" for every row, also after a restart.
    pub(super) now: Micros,
    pub(super) strictness: Strictness,
}

/// A row that is ready to be written.
#[derive(Debug)]
pub(super) struct RowDraft {
    pub(super) experience: Experience,
    /// The bytes that tell this version of the row from others.
    pub(super) identity: Vec<u8>,
    /// Whether the line named another scope than the one it is written to.
    pub(super) is_moved: bool,
}

/// Why a row is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RowRefusal {
    /// It is wrong.
    Error { code: ErrorCode, detail: String },
    /// It is left out on purpose.
    Skip(&'static str),
}

impl RowRefusal {
    pub(super) fn error(code: ErrorCode, detail: impl Into<String>) -> RowRefusal {
        RowRefusal::Error { code, detail: detail.into() }
    }
}

impl From<ApiError> for RowRefusal {
    fn from(error: ApiError) -> RowRefusal {
        RowRefusal::Error { code: error.code, detail: error.message }
    }
}

impl RowRules {
    /// Turns a row into an experience. `key` is its idempotency key, which no other write has.
    pub(super) fn admit(&self, row: &ForeignRow, key: &str) -> Result<RowDraft, RowRefusal> {
        self.check_wanted(row)?;
        let mut draft = match &row.content {
            RowContent::Envelope { body } => self.admit_envelope(row, body, key)?,
            _ => self.admit_record(row, key)?,
        };
        draft.experience.origin = row.origin.clone();
        Ok(draft)
    }

    /// Leaves out rows that the options or the source leave out.
    fn check_wanted(&self, row: &ForeignRow) -> Result<(), RowRefusal> {
        if row.expires_at.is_some_and(|at| at <= self.now) {
            return Err(RowRefusal::Skip("the source says that it has expired"));
        }
        let is_archival = row.labels.iter().any(|label| label == "letta:archival");
        if is_archival && self.options.map_archival_to.as_deref() == Some("none") {
            return Err(RowRefusal::Skip(
                "archival passages were left out by options.map_archival_to",
            ));
        }
        Ok(())
    }

    /// A line that is an envelope already. Only its scope, its key and the time of its source are set here.
    fn admit_envelope(
        &self,
        row: &ForeignRow,
        body: &str,
        key: &str,
    ) -> Result<RowDraft, RowRefusal> {
        let mut value = parse(body.as_bytes(), &ReadPolicy::STRICT)
            .map_err(|error| RowRefusal::error(ErrorCode::InvalidEnvelope, error.to_string()))?;
        let identity = canonical(body).into_bytes();
        let named = value.take("scope").and_then(|scope| scope.as_str().map(str::to_owned));
        let scope = self.line_scope(named.as_deref(), row)?;
        let is_moved = named.as_deref().is_some_and(|named| named != scope);
        value.push("scope", scope);
        value.take("idempotency_key");
        if let Some(recorded_at) = row.recorded_at {
            add_recorded_at(&mut value, recorded_at);
        }
        let experience = self.read(&to_compact(&value), self.strictness, key)?;
        Ok(RowDraft { experience, identity, is_moved })
    }

    /// The scope of a line: its own where the import names none or one above it, else that of the import.
    pub(super) fn line_scope(
        &self,
        named: Option<&str>,
        row: &ForeignRow,
    ) -> Result<String, RowRefusal> {
        match (&self.target, named) {
            (ImportTarget::Lines, Some(named)) => Ok(named.to_owned()),
            (ImportTarget::Lines, None) => {
                let detail = "the line names no `scope`, and neither does the import";
                Err(RowRefusal::error(ErrorCode::InvalidEnvelope, detail))
            }
            (ImportTarget::Scope(target), Some(named)) => {
                let own: Result<ScopePath, _> = named.parse();
                let own = own.map_err(|error: lamina_types::scope::ScopeError| {
                    RowRefusal::error(ErrorCode::InvalidScopeGrammar, error.to_string())
                })?;
                Ok(if target.contains(&own) { own } else { target.clone() }.to_string())
            }
            (ImportTarget::Scope(target), None) => Ok(target.to_string()),
            (ImportTarget::Template(_), _) => self.row_scope(row).map(|scope| scope.to_string()),
        }
    }

    /// The scope of a record.
    fn row_scope(&self, row: &ForeignRow) -> Result<ScopePath, RowRefusal> {
        let refuse = |detail: String| RowRefusal::error(ErrorCode::InvalidScopeGrammar, detail);
        let (base, uses_group) = match &self.target {
            ImportTarget::Scope(scope) => (scope.clone(), false),
            ImportTarget::Template(template) => {
                let mut values: BTreeMap<&str, &str> =
                    row.variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
                if let Some(session) = &row.session {
                    values.entry("session").or_insert(session);
                }
                let scope = template.fill(&values).map_err(|error| refuse(error.to_string()))?;
                (scope, template.as_str().contains("{group_id}"))
            }
            ImportTarget::Lines => {
                return Err(refuse(
                    "the import names no scope; say `scope` or `scope_template`".to_owned(),
                ));
            }
        };
        let Some(hint) = row.scope_hint.as_deref().filter(|_| !uses_group) else { return Ok(base) };
        let path = format!("{base}/{hint}");
        path.parse().map_err(|error: lamina_types::scope::ScopeError| refuse(error.to_string()))
    }

    /// A record of another program.
    fn admit_record(&self, row: &ForeignRow, key: &str) -> Result<RowDraft, RowRefusal> {
        let scope = self.row_scope(row)?;
        let actor =
            row.actor.clone().or_else(|| person_of(&scope)).unwrap_or_else(|| self.caller.clone());
        let content = self.content_of(row);
        let mut about = Value::object([("id", Value::from(actor.as_str()))]);
        about.push_some("session", row.session.as_deref());
        let mut envelope = Value::object([
            ("scope", Value::from(scope.as_str())),
            ("observed_actor", about),
            ("modality", Value::from(row.modality)),
        ]);
        if let Some(subject) = &row.subject {
            envelope.push("subject", Value::object([("id", Value::from(subject.as_str()))]));
        }
        envelope.push("content", content.clone());
        envelope.push("context", self.context_of(row));
        let directives = self.directives_of(row);
        if !directives.is_blank() {
            envelope.push("directives", directives);
        }
        let experience = self.read(&to_compact(&envelope), Strictness::Strict, key)?;
        let identity = to_compact(&identity_of(row, content)).into_bytes();
        Ok(RowDraft { experience, identity, is_moved: false })
    }

    fn content_of(&self, row: &ForeignRow) -> Value {
        match &row.content {
            RowContent::Message { role, text } => Value::object([
                ("kind", Value::from("message")),
                ("role", Value::from(role.as_str())),
                ("text", Value::from(text.as_str())),
            ]),
            RowContent::Text { text } => {
                Value::object([("kind", Value::from("text")), ("text", Value::from(text.as_str()))])
            }
            RowContent::Json { data } => {
                let data = parse(data.as_bytes(), &ReadPolicy::STRICT).unwrap_or(Value::Null);
                Value::object([("kind", Value::from("json")), ("data", data)])
            }
            RowContent::Triple(triple) => {
                let mut body = triple.to_body();
                if self.options.preserve_bi_temporal != Some(false) {
                    body.push_some("valid_from", triple.valid_from.map(time::print));
                    body.push_some("valid_to", triple.valid_to.map(time::print));
                }
                body.push_some("confidence", triple.confidence.map(Value::double));
                Value::object([("kind", Value::from("triple")), ("triple", body)])
            }
            // Both have a way of their own.
            RowContent::Envelope { .. } | RowContent::Line { .. } => Value::Null,
        }
    }

    fn context_of(&self, row: &ForeignRow) -> Value {
        let keeps_times = self.options.preserve_timestamps != Some(false);
        let observed_at = if keeps_times { row.observed_at } else { self.now };
        let of_source = (row.time_basis != TimeBasis::Fallback).then_some(row.observed_at);
        let recorded_at = row.recorded_at.or(if keeps_times { None } else { of_source });
        let mut context = Value::object([("observed_at", Value::from(time::print(observed_at)))]);
        context.push_some("source_recorded_at", recorded_at.map(time::print));
        let labels = self.labels_of(row);
        if !labels.is_empty() {
            context.push("labels", Value::strings(&labels));
        }
        context
    }

    fn labels_of(&self, row: &ForeignRow) -> Vec<String> {
        let drops_concepts = match self.format {
            Format::Mem0 => self.options.map_categories_to.as_deref() == Some("none"),
            _ => false,
        };
        let is_kept = |label: &&String| !(drops_concepts && label.starts_with("concept:"));
        row.labels.iter().filter(is_kept).cloned().collect()
    }

    fn directives_of(&self, row: &ForeignRow) -> Value {
        let mut directives = Value::object([]);
        let extract = if row.no_extract { Some(&[][..]) } else { self.options.extract.as_deref() };
        directives.push_some("extract", extract.map(Value::strings));
        directives.push_some("embed", self.options.embed.as_deref());
        if row.no_supersede {
            directives.push("no_supersede", true);
        }
        if let Some(at) = row.expires_at {
            let seconds = (at.0 - self.now.0).max(0) / 1_000_000;
            directives.push("ttl_for_event_layer", format!("PT{}S", seconds.max(1)));
        }
        directives
    }

    fn read(
        &self,
        envelope: &str,
        strictness: Strictness,
        key: &str,
    ) -> Result<Experience, RowRefusal> {
        // Which types may be created is for the policy to say, when it is asked for the write.
        let any_type = |_: &str| true;
        let generated = || key.to_owned();
        let admitted = read_line(
            envelope.as_bytes(),
            &AdmitContext {
                caller: &self.caller,
                now: self.now,
                strictness,
                header_idempotency_key: Some(key),
                generated_key: &generated,
                scope_type_allowed: &any_type,
            },
        )?;
        Ok(admitted.experience)
    }
}

/// The person whose memory a scope is: the nearest `user:` above or at it.
pub(super) fn person_of(scope: &ScopePath) -> Option<ActorId> {
    let is_user = |scope: &ScopePath| scope.leaf_type() == "user";
    scope.self_and_ancestors().iter().filter(|scope| is_user(scope)).find_map(ScopePath::person)
}

/// The parts of a row that make another version of it if they change. Times that the source does not state and
/// fields that only travel along are left out.
fn identity_of(row: &ForeignRow, content: Value) -> Value {
    let mut identity =
        Value::object([("content", content), ("modality", Value::from(row.modality))]);
    identity.push_some("actor", row.actor.as_ref().map(ActorId::as_str));
    identity.push_some("subject", row.subject.as_ref().map(ActorId::as_str));
    identity.push_some("session", row.session.as_deref());
    if row.time_basis == TimeBasis::Stated {
        identity.push("observed_at", time::print(row.observed_at));
    }
    identity.push_some("recorded_at", row.recorded_at.map(time::print));
    identity.push_some("expires_at", row.expires_at.map(time::print));
    identity.push("no_supersede", row.no_supersede);
    if row.no_extract {
        identity.push("no_extract", true);
    }
    identity.push("labels", Value::strings(&row.labels));
    identity
}

/// Adds the time at which another server recorded an event, unless the line says it.
fn add_recorded_at(envelope: &mut Value, recorded_at: Micros) {
    let Some(mut context) = envelope.take("context") else { return };
    if context.get("source_recorded_at").is_none() {
        context.push("source_recorded_at", time::print(recorded_at));
    }
    envelope.push("context", context);
}

#[cfg(test)]
mod tests;
