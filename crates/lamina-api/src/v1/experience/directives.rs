//! What the caller asks of derivation (R096-R100).

use jiff::fmt::temporal::SpanParser;
use lamina_types::Directives;

use super::DirectivesBody;
use crate::check;
use crate::error::ApiError;

const STAGES: &[&str] = &["facts", "entities", "beliefs"];
const EMBED: &[&str] = &["lazy", "eager"];

/// Checks directives.
pub(super) fn admit(
    body: Option<DirectivesBody>,
    scope_type_allowed: &dyn Fn(&str) -> bool,
) -> Result<Directives, ApiError> {
    let Some(body) = body else {
        return Ok(Directives::default());
    };
    let DirectivesBody {
        extract,
        consolidate_into,
        confidence_floor,
        ttl_for_belief_layer,
        ttl_for_event_layer,
        embed,
        no_supersede,
    } = body;
    for (index, stage) in extract.iter().flatten().enumerate() {
        if !STAGES.contains(&stage.as_str()) {
            let field = format!("extract[{index}]");
            return Err(invalid(&field, format!("must be one of {}", STAGES.join(", "))));
        }
    }
    let consolidate_into = consolidate_into
        .map(|scope| {
            check::writable_scope("directives.consolidate_into", &scope, scope_type_allowed)
        })
        .transpose()?;
    if confidence_floor.is_some_and(|floor| !(0.0..=1.0).contains(&floor)) {
        return Err(invalid("confidence_floor", "must be between 0 and 1"));
    }
    for (field, ttl) in [
        ("ttl_for_belief_layer", &ttl_for_belief_layer),
        ("ttl_for_event_layer", &ttl_for_event_layer),
    ] {
        if let Some(ttl) = ttl {
            admit_duration(field, ttl)?;
        }
    }
    if embed.as_deref().is_some_and(|embed| !EMBED.contains(&embed)) {
        return Err(invalid("embed", format!("must be one of {}", EMBED.join(", "))));
    }
    Ok(Directives {
        extract,
        consolidate_into,
        confidence_floor,
        ttl_for_belief_layer,
        ttl_for_event_layer,
        embed,
        no_supersede: no_supersede.unwrap_or_default(),
    })
}

fn invalid(field: &str, reason: impl Into<String>) -> ApiError {
    ApiError::invalid_envelope(format!("directives.{field}"), reason)
}

/// A positive ISO 8601 duration. The parser also takes lower case and signs; the contract does not.
fn admit_duration(field: &str, text: &str) -> Result<(), ApiError> {
    static PARSER: SpanParser = SpanParser::new();
    let positive =
        PARSER.parse_span(text).is_ok_and(|span| text.starts_with('P') && span.is_positive());
    match positive {
        true => Ok(()),
        false => Err(invalid(field, "must be a positive ISO 8601 duration such as P30D or PT12H")),
    }
}
