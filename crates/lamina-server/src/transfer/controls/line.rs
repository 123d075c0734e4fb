//! The lines of decisions, read into values.

use lamina_engine::read::export::DeclaredWords;
use lamina_portable::export::LineKind;
use lamina_portable::json::{Value, to_compact};
use lamina_types::layer::Confidence;
use lamina_types::{EventId, ValidAt};

use super::same::FactsLike;
use crate::http::term_name;

/// Claims, supports or events that one line names.
const LINE_ITEMS_MAX: usize = 10_000;

/// A decision of an export.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ControlLine {
    scope: String,
    control: Control,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Control {
    Vocabulary { name: String, body: String },
    Cancellation { event: EventId },
    Merge { from: NamedThing, into: NamedThing },
    Split,
    Decision(DecisionLine),
    Declaration(DeclarationLine),
}

/// An entity by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedThing {
    pub(super) name: String,
    pub(super) kind: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DecisionLine {
    pub(super) subject: String,
    pub(super) predicate: String,
    pub(super) claims: Vec<ClaimLine>,
    pub(super) action: ActionLine,
    pub(super) reason: String,
}

/// One side of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClaimLine {
    /// The object, as compact JSON.
    pub(super) object: String,
    pub(super) negated: bool,
}

/// A decision; sides are places in the list of claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ActionLine {
    Pick { winner: usize },
    Split { boundary: ValidAt, earlier: usize, later: usize },
    NewInformation { claim: ClaimLine },
    Dismiss,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeclarationLine {
    pub(super) statement: String,
    pub(super) subject: Option<String>,
    pub(super) predicate: String,
    pub(super) confidence: Confidence,
    pub(super) valid_from: ValidAt,
    pub(super) supports: Vec<SupportLine>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SupportLine {
    Event(EventId),
    Fact {
        like: FactsLike,
        /// Its objects, as compact JSON.
        objects: Vec<String>,
        /// The exported events that say so.
        events: Vec<EventId>,
    },
}

impl ControlLine {
    /// Reads a line; the error says which member is wrong.
    pub(crate) fn read(kind: LineKind, body: &Value) -> Result<ControlLine, String> {
        let scope = match kind {
            // Of a memory of another program only the import knows the scope.
            LineKind::Cancellation if body.get("scope").is_none() => String::new(),
            _ => text(body, "scope")?,
        };
        let control = match kind {
            LineKind::Vocabulary => read_vocabulary(body)?,
            LineKind::Cancellation => Control::Cancellation { event: event(body, "event")? },
            LineKind::EntityMerge => {
                Control::Merge { from: read_thing(body, "from")?, into: read_thing(body, "into")? }
            }
            LineKind::EntitySplit => Control::Split,
            LineKind::ConflictDecision => Control::Decision(read_decision(body)?),
            LineKind::DeclaredBelief => Control::Declaration(read_declaration(body)?),
            other => return Err(format!("a line `{}` is no decision", other.as_str())),
        };
        Ok(ControlLine { scope, control })
    }

    /// The kind of the line.
    pub(crate) fn kind(&self) -> LineKind {
        match self.control {
            Control::Vocabulary { .. } => LineKind::Vocabulary,
            Control::Cancellation { .. } => LineKind::Cancellation,
            Control::Merge { .. } => LineKind::EntityMerge,
            Control::Split => LineKind::EntitySplit,
            Control::Decision(_) => LineKind::ConflictDecision,
            Control::Declaration(_) => LineKind::DeclaredBelief,
        }
    }

    /// The scope that it was exported from.
    pub(crate) fn scope(&self) -> &str {
        &self.scope
    }

    /// The exported events that it names.
    pub(crate) fn events(&self) -> Vec<EventId> {
        match &self.control {
            Control::Cancellation { event } => vec![*event],
            Control::Declaration(line) => line
                .supports
                .iter()
                .flat_map(|support| match support {
                    SupportLine::Event(id) => vec![*id],
                    SupportLine::Fact { events, .. } => events.clone(),
                })
                .collect(),
            Control::Vocabulary { .. }
            | Control::Merge { .. }
            | Control::Split
            | Control::Decision(_) => Vec::new(),
        }
    }

    pub(super) fn control(&self) -> &Control {
        &self.control
    }
}

impl DeclarationLine {
    /// Whether this was declared already. How sure its author was may have changed on the way: without its
    /// supports a declaration counts less.
    pub(super) fn is(&self, declared: &DeclaredWords) -> bool {
        let subject = declared.subject_term.as_ref().map(term_name).or(declared.subject.clone());
        self.statement == declared.statement
            && self.subject == subject
            && self.predicate == declared.predicate
            && self.valid_from == declared.valid_from
    }
}

fn text(body: &Value, key: &str) -> Result<String, String> {
    let found = body.get(key).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| format!("`{key}` is missing or no text"))
}

fn items<'a>(body: &'a Value, key: &str) -> Result<&'a [Value], String> {
    let found = body.get(key).and_then(Value::as_array);
    match found.ok_or_else(|| format!("`{key}` is missing or no list"))? {
        items if items.len() > LINE_ITEMS_MAX => {
            Err(format!("`{key}` has more than {LINE_ITEMS_MAX} elements"))
        }
        items => Ok(items),
    }
}

fn event(body: &Value, key: &str) -> Result<EventId, String> {
    text(body, key)?.parse().map_err(|_| format!("`{key}` is no id of an event"))
}

fn events(body: &Value) -> Result<Vec<EventId>, String> {
    let one = |item: &Value| item.as_str().and_then(|text| text.parse().ok());
    let read = items(body, "events")?.iter().map(one).collect::<Option<Vec<_>>>();
    read.ok_or_else(|| "`events` has an element that is no id of an event".to_owned())
}

fn instant(body: &Value, key: &str) -> Result<ValidAt, String> {
    let read = lamina_api::time::parse(&text(body, key)?);
    read.map(ValidAt).map_err(|error| format!("`{key}`: {error}"))
}

/// The vocabulary in the form in which it is registered, without the scope it comes from.
fn read_vocabulary(body: &Value) -> Result<Control, String> {
    let name = text(body, "name")?;
    let mut rest = body.clone();
    drop((rest.take("scope"), rest.take("lamina")));
    Ok(Control::Vocabulary { name, body: to_compact(&rest) })
}

fn read_thing(body: &Value, key: &str) -> Result<NamedThing, String> {
    let thing = body.get(key).ok_or_else(|| format!("`{key}` is missing"))?;
    Ok(NamedThing { name: text(thing, "name")?, kind: text(thing, "kind")? })
}

fn read_claim(claim: &Value) -> Result<ClaimLine, String> {
    let object = claim.get("object").ok_or("a claim has no `object`")?;
    let negated = claim.get("negated").and_then(Value::as_bool).unwrap_or_default();
    Ok(ClaimLine { object: to_compact(object), negated })
}

fn read_decision(body: &Value) -> Result<DecisionLine, String> {
    let claims = items(body, "claims")?.iter().map(read_claim).collect::<Result<Vec<_>, _>>()?;
    let decided = body.get("decision").ok_or("`decision` is missing")?;
    let side = |key: &str| {
        let index = decided.get(key).and_then(Value::as_i64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        index
            .filter(|index| *index < claims.len())
            .ok_or_else(|| format!("`decision.{key}` is no place in `claims`"))
    };
    let action = match text(decided, "action")?.as_str() {
        "pick" => ActionLine::Pick { winner: side("winner")? },
        "split" => ActionLine::Split {
            boundary: instant(decided, "boundary")?,
            earlier: side("earlier")?,
            later: side("later")?,
        },
        "new_information" => {
            let claim = decided.get("claim").ok_or("`decision.claim` is missing")?;
            ActionLine::NewInformation { claim: read_claim(claim)? }
        }
        "dismiss" => ActionLine::Dismiss,
        _ => return Err("`decision.action` is none that this version knows".to_owned()),
    };
    Ok(DecisionLine {
        subject: text(body, "subject")?,
        predicate: text(body, "predicate")?,
        claims,
        action,
        reason: body.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
    })
}

fn read_declaration(body: &Value) -> Result<DeclarationLine, String> {
    let confidence = body.get("confidence").and_then(Value::as_number);
    let confidence = confidence.map(|number| number.to_f64()).filter(|n| (0.0..=1.0).contains(n));
    let confidence = confidence.ok_or("`confidence` is no number from 0 to 1")?;
    let supports = items(body, "supports")?.iter().map(read_support);
    Ok(DeclarationLine {
        statement: text(body, "statement")?,
        subject: body.get("subject").and_then(Value::as_str).map(str::to_owned),
        predicate: text(body, "predicate")?,
        confidence: Confidence::new((confidence * 10_000.0).round() as u16),
        valid_from: instant(body, "valid_from")?,
        supports: supports.collect::<Result<_, _>>()?,
    })
}

fn read_support(support: &Value) -> Result<SupportLine, String> {
    if support.get("event").is_some() {
        return event(support, "event").map(SupportLine::Event);
    }
    let fact = support.get("fact").ok_or("a support is neither an event nor a fact")?;
    let like = FactsLike { subject: text(fact, "subject")?, predicate: text(fact, "predicate")? };
    let objects = items(fact, "objects")?.iter().map(to_compact).collect();
    Ok(SupportLine::Fact { like, objects, events: events(fact)? })
}

#[cfg(test)]
mod tests;
