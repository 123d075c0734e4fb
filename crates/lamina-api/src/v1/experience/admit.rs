//! The gate: an envelope becomes an experience, or an error that names the field.
//!
//! Rules are checked in the order of the envelope's fields, so the first error is the same for the
//! same body. In lenient mode (ruling 1) what is missing is filled in before it is checked.

use std::fmt;

use lamina_types::limits::{
    IDEMPOTENCY_KEY_CHARS_MAX, MODALITY_CHARS_MAX, SCRIPTS_MAX, SESSION_CHARS_MAX,
};
use lamina_types::{Actor, ActorId, Experience, Hints, Micros, Modality};

use super::{ActorBody, ExperienceEnvelope, SubjectBody, content, context, directives, source};
use crate::check;
use crate::error::ApiError;
use crate::json::{self, Obj, OrText};

/// How much an envelope may leave out (ruling 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// As specified.
    Strict,
    /// Missing fields are filled in, short forms are taken.
    Lenient,
}

/// What admission needs to know from outside.
#[derive(Clone, Copy)]
pub struct AdmitContext<'a> {
    /// The authenticated caller.
    pub caller: &'a ActorId,
    /// Now, for `observed_at` in lenient mode.
    pub now: Micros,
    /// How much may be left out.
    pub strictness: Strictness,
    /// The value of `X-Cortex-Idempotency-Key`.
    pub header_idempotency_key: Option<&'a str>,
    /// Makes a key for an envelope without one, in lenient mode.
    pub generated_key: &'a dyn Fn() -> String,
    /// Whether a scope type outside the built-in ones may be written to (C09).
    pub scope_type_allowed: &'a dyn Fn(&str) -> bool,
}

/// An experience that passed every rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Admitted {
    /// What will be written.
    pub experience: Experience,
    /// What the caller should know although it was accepted.
    pub warnings: Vec<String>,
    /// The key was made here: nobody can have used it before.
    pub key_drawn: bool,
}

/// How far in the future an event may be observed before the caller is warned: clocks differ, but
/// not by a day.
const FUTURE_WARN_US: i64 = 24 * 3_600 * 1_000_000;

/// Reads the body of `POST /v1/experience`.
pub fn read(body: &[u8], ctx: &AdmitContext<'_>) -> Result<Admitted, ApiError> {
    admit(json::read(body).map_err(ApiError::in_envelope)?, ctx)
}

/// Reads one line of an import: a full envelope, in which `actor` may stand for `observed_actor`.
pub fn read_line(line: &[u8], ctx: &AdmitContext<'_>) -> Result<Admitted, ApiError> {
    admit_any(json::read(line).map_err(ApiError::in_envelope)?, ctx)
}

/// Admits one envelope.
pub fn admit(envelope: ExperienceEnvelope, ctx: &AdmitContext<'_>) -> Result<Admitted, ApiError> {
    if envelope.actor.is_some() {
        return Err(json::unknown_field("actor", "actor", &["observed_actor"]));
    }
    admit_any(envelope, ctx)
}

/// Admits an envelope in which `actor` may stand for `observed_actor` (C13).
pub(crate) fn admit_any(
    envelope: ExperienceEnvelope,
    ctx: &AdmitContext<'_>,
) -> Result<Admitted, ApiError> {
    // Destructured, so that a field added to the contract cannot be forgotten here.
    let ExperienceEnvelope {
        scope,
        observed_actor,
        actor,
        subject,
        modality,
        content,
        context,
        directives,
        source,
        language,
        scripts,
        idempotency_key,
    } = envelope;
    let scope = scope.ok_or_else(|| required("scope"))?;
    let scope = check::writable_scope("scope", &scope, ctx.scope_type_allowed)?;
    let observed_actor = admit_actor(observed_actor, actor, ctx)?;
    let subject = admit_subject(subject, &observed_actor.id, ctx)?;
    let modality = admit_modality(modality, ctx.strictness)?;
    let content = content::admit(content.ok_or_else(|| required("content"))?, ctx.strictness)?;
    let context = context::admit(context.map(|Obj(context)| context), ctx)?;
    let directives =
        directives::admit(directives.map(|Obj(directives)| directives), ctx.scope_type_allowed)?;
    let source = match source {
        Some(source) => Some(source::admit(source, &modality, &content)?),
        None => None,
    };
    let hints = admit_hints(language, scripts, context.timezone)?;
    let (idempotency_key, key_drawn) = admit_key(idempotency_key, ctx)?;
    let warnings = warnings(&modality, context.context.observed_at.0, ctx.now);
    let experience = Experience {
        scope,
        observed_actor,
        subject,
        modality,
        content,
        context: context.context,
        directives,
        source,
        origin: None,
        hints,
        idempotency_key,
    };
    Ok(Admitted { experience, warnings, key_drawn })
}

/// The refusal of an envelope that lacks a field.
pub(super) fn required(field: &str) -> ApiError {
    ApiError::invalid_envelope(field, "this field is required")
}

fn admit_actor(
    canonical: Option<OrText<ActorBody>>,
    alias: Option<OrText<ActorBody>>,
    ctx: &AdmitContext<'_>,
) -> Result<Actor, ApiError> {
    // The alias is written as a bare id in bulk requests and import lines, also in strict mode.
    let (field, given, text_allowed) = match (canonical, alias) {
        (Some(_), Some(_)) => {
            let reason = "give either `observed_actor` or its alias `actor`, not both";
            return Err(ApiError::invalid_envelope("actor", reason));
        }
        (None, Some(alias)) => ("actor", alias, true),
        (Some(actor), None) => {
            let lenient = ctx.strictness == Strictness::Lenient;
            ("observed_actor", actor, lenient)
        }
        (None, None) => return Ok(Actor::new(ctx.caller.clone())),
    };
    let body = match given {
        OrText::Object(body) => body,
        OrText::Text(id) if text_allowed => {
            return Ok(Actor::new(check::actor(field, &id)?));
        }
        OrText::Text(_) => return Err(not_an_object(field)),
    };
    let ActorBody { id, r#type, session } = body;
    let id = typed_actor(field, id, r#type)?;
    if let Some(session) = &session {
        check::field(&format!("{field}.session"), check::short(session, SESSION_CHARS_MAX))?;
    }
    Ok(Actor { id, session })
}

fn admit_subject(
    subject: Option<OrText<SubjectBody>>,
    default: &ActorId,
    ctx: &AdmitContext<'_>,
) -> Result<ActorId, ApiError> {
    match subject {
        None => Ok(default.clone()),
        Some(OrText::Text(id)) if ctx.strictness == Strictness::Lenient => {
            check::actor("subject", &id)
        }
        Some(OrText::Text(_)) => Err(not_an_object("subject")),
        Some(OrText::Object(SubjectBody { id, r#type })) => typed_actor("subject", id, r#type),
    }
}

pub(super) fn not_an_object(field: &str) -> ApiError {
    ApiError::invalid_shape(field, "must be an object, not a string")
}

fn typed_actor(field: &str, id: Option<String>, kind: Option<String>) -> Result<ActorId, ApiError> {
    let at = format!("{field}.id");
    let id = check::actor(&at, &id.ok_or_else(|| required(&at))?)?;
    match kind {
        Some(kind) if kind != id.kind() => Err(ApiError::invalid_envelope(
            format!("{field}.type"),
            format!("the type must agree with the id, which starts with `{}:`", id.kind()),
        )),
        _ => Ok(id),
    }
}

fn admit_modality(modality: Option<String>, strictness: Strictness) -> Result<Modality, ApiError> {
    let modality = match (modality, strictness) {
        (Some(modality), _) => modality,
        (None, Strictness::Lenient) => "observation".to_owned(),
        (None, Strictness::Strict) => return Err(required("modality")),
    };
    check::field("modality", check::short(&modality, MODALITY_CHARS_MAX))?;
    Ok(Modality(modality))
}

fn admit_hints(
    language: Option<String>,
    scripts: Option<Vec<String>>,
    timezone: Option<String>,
) -> Result<Hints, ApiError> {
    if let Some(language) = &language {
        check::field("language", check::language(language))?;
    }
    let scripts = scripts.unwrap_or_default();
    if scripts.len() > SCRIPTS_MAX {
        let reason = format!("has more than {SCRIPTS_MAX} items");
        return Err(ApiError::invalid_envelope("scripts", reason));
    }
    for (index, script) in scripts.iter().enumerate() {
        check::field(&format!("scripts[{index}]"), check::script(script))?;
    }
    Ok(Hints { language, scripts, timezone })
}

/// The key of a write: from the body or the header (R210), or made here in lenient mode, and whether it was.
fn admit_key(body: Option<String>, ctx: &AdmitContext<'_>) -> Result<(String, bool), ApiError> {
    let field = "idempotency_key";
    let drawn = body.is_none() && ctx.header_idempotency_key.is_none();
    let key = match (body, ctx.header_idempotency_key) {
        (Some(body), Some(header)) if body != header => {
            let reason = "differs from the header X-Cortex-Idempotency-Key; send one of them";
            return Err(ApiError::invalid_envelope(field, reason));
        }
        (Some(body), _) => body,
        (None, Some(header)) => header.to_owned(),
        (None, None) if ctx.strictness == Strictness::Lenient => (ctx.generated_key)(),
        (None, None) => return Err(required(field)),
    };
    check::field(field, check::short(&key, IDEMPOTENCY_KEY_CHARS_MAX))?;
    Ok((key, drawn))
}

fn warnings(modality: &Modality, observed_at: Micros, now: Micros) -> Vec<String> {
    let mut warnings = Vec::new();
    if !Modality::KNOWN.contains(&modality.as_str()) {
        warnings.push("unknown_modality".to_owned());
    }
    if observed_at > now.plus(FUTURE_WARN_US) {
        warnings.push("observed_at_in_future".to_owned());
    }
    warnings
}

impl fmt::Debug for AdmitContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdmitContext")
            .field("caller", &self.caller)
            .field("now", &self.now)
            .field("strictness", &self.strictness)
            .field("header_idempotency_key", &self.header_idempotency_key)
            .finish_non_exhaustive()
    }
}
