//! What is stated in structure and not in words: JSON documents, typed events, triples. Nothing is
//! guessed: a scalar is claimed under its own path, a typed event by a fixed mapping, a triple as given.

mod invalidated;
mod lines;
mod scan;

use std::collections::BTreeMap;

use lamina_types::layer::extraction::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Extraction, Mention, Normaliser,
    Object, Term,
};
use lamina_types::{ActorId, Micros, ValidAt};

pub use invalidated::{Invalidation, invalidation};
pub use lines::{json_fields, json_lines, triple_lines, typed_fields};
pub use scan::{DEPTH_MAX, SCALARS_MAX};

use self::scan::{Leaf, Scalar, Step, scan};
use crate::ground::{PREDICATE_CHARS_MAX, Ungrounded};
use crate::relation::{ObjectKind, cardinality, invented_cardinality, relation};
use crate::source::Source;

/// The name and version that answers carry.
pub const EXTRACTOR: &str = "structure/1";
/// Claims that one document may yield.
pub const CLAIMS_MAX: usize = 64;
/// Bytes of a text value that becomes a claim; a longer one is a document, not a fact.
pub const VALUE_BYTES_MAX: usize = 256;

/// Keys whose values are never claimed, whatever they hang on.
const SECRETS: &[&str] = &[
    "secret",
    "token",
    "password",
    "api_key",
    "access_token",
    "authorization",
    "cookie",
    "private_key",
];
/// Keys that say what an object is called, the best first.
const NAMES: &[&str] = &["name", "title", "key", "slug", "id"];

/// Keys whose values name nothing: they say what state a thing is in, or what is written about it.
const NAMELESS: &[&str] = &[
    "body",
    "category",
    "comment",
    "content",
    "created_at",
    "currency",
    "date",
    "description",
    "email",
    "event",
    "event_type",
    "kind",
    "label",
    "language",
    "level",
    "message",
    "note",
    "notes",
    "phase",
    "phone",
    "priority",
    "reason",
    "result",
    "role",
    "severity",
    "source",
    "stage",
    "state",
    "status",
    "summary",
    "text",
    "time",
    "timestamp",
    "tool",
    "type",
    "unit",
    "updated_at",
    "url",
    "version",
    "value",
];
/// Words of a name by place; what is longer is a sentence.
const NAME_WORDS_MAX: usize = 6;
/// The rank of a name by place: after every name by key.
const FIRST_RANK: usize = NAMES.len();

/// The claims of a JSON document: a typed event if it is one, its scalar paths otherwise.
pub fn extract_json(source: &Source<'_>) -> Extraction {
    let leaves = scan(source.text).unwrap_or_default();
    let typed = typed(source, &leaves);
    let is_closure = invalidated::is_closure(&leaves);
    let claims = if typed.is_empty() && !is_closure { paths(source, &leaves) } else { typed };
    extraction(source, claims)
}

/// The claim that a triple is.
pub fn extract_triple(source: &Source<'_>) -> Extraction {
    let leaves = scan(source.text).unwrap_or_default();
    let claims = triple(source, &leaves).into_iter().collect();
    extraction(source, claims)
}

/// What kind of event a JSON document says it is: `decision.made`.
pub fn kind_of(text: &str) -> Option<String> {
    let leaves = scan(text)?;
    let (kind, _) =
        ["type", "event_type", "kind"].iter().find_map(|key| text_at(&leaves, &[key]))?;
    Some(kind.to_owned())
}

fn extraction(source: &Source<'_>, claims: Vec<Claim>) -> Extraction {
    let mut mentions: Vec<Mention> = Vec::new();
    for claim in &claims {
        let Term::Named { name, kind } = &claim.subject else { continue };
        if let Some(start) = source.text.find(name.as_str())
            && mentions.iter().all(|known| known.name != *name)
        {
            let span = ByteSpan { start: start as u32, end: (start + name.len()) as u32 };
            mentions.push(Mention { name: name.clone(), kind: *kind, span });
        }
    }
    Extraction {
        extractor: EXTRACTOR.to_owned(),
        language: None,
        mentions,
        nouns: Vec::new(),
        bonds: Vec::new(),
        claims,
        topics: Vec::new(),
    }
}

/// Whether a structural claim is exactly what the document states at that place.
pub(crate) fn grounded(claim: &Claim, source: &Source<'_>) -> Result<(), Ungrounded> {
    let leaves = scan(source.text).ok_or(Ungrounded::Object)?;
    let stated = match claim.normaliser {
        Normaliser::JsonPath => paths(source, &leaves),
        _ => typed(source, &leaves).into_iter().chain(triple(source, &leaves)).collect(),
    };
    let mut here = stated.iter().filter(|known| known.span == claim.span).peekable();
    if here.peek().is_none() {
        return Err(Ungrounded::Object);
    }
    for known in here {
        if known.object != claim.object || known.effect != claim.effect {
            continue;
        }
        if known.subject != claim.subject {
            return Err(Ungrounded::Subject);
        }
        if known.predicate != claim.predicate {
            return Err(Ungrounded::Predicate);
        }
        let dated = known.valid_from == claim.valid_from && known.valid_to == claim.valid_to;
        return if dated { Ok(()) } else { Err(Ungrounded::Time) };
    }
    Err(Ungrounded::Object)
}

/// Every scalar under its path, below the nearest thing that has a name.
fn paths(source: &Source<'_>, leaves: &[Leaf]) -> Vec<Claim> {
    let mut claims = Vec::new();
    let names = names(leaves);
    for leaf in leaves {
        if claims.len() >= CLAIMS_MAX {
            break;
        }
        let (subject, from) = owner(source, &names, leaf);
        let keys: Vec<&str> = leaf.path.iter().skip(from).filter_map(key).collect();
        let Some(last) = keys.last() else { continue };
        let secret =
            leaf.path.iter().filter_map(key).any(|key| SECRETS.contains(&snake(key).as_str()));
        // What a thing is called is its subject, not a claim about it.
        let naming = keys.len() == 1
            && matches!(&subject, Term::Named { name, .. } if is_name(name, leaf, last));
        let predicate = keys.iter().map(|key| snake(key)).collect::<Vec<_>>().join(".");
        let Some(object) = object(&leaf.value) else { continue };
        if secret
            || naming
            || predicate.is_empty()
            || predicate.chars().count() > PREDICATE_CHARS_MAX
        {
            continue;
        }
        claims.push(claim(subject, predicate, object, leaf, source.text, Normaliser::JsonPath));
    }
    claims
}

fn key(step: &Step) -> Option<&str> {
    match step {
        Step::Key(key) => Some(key),
        Step::Index(_) => None,
    }
}

/// What the objects of a document are called, by their paths.
fn names(leaves: &[Leaf]) -> BTreeMap<&[Step], (usize, &str)> {
    let mut names: BTreeMap<&[Step], (usize, &str)> = BTreeMap::new();
    for leaf in leaves {
        let (Scalar::Text(text), Some((Step::Key(key), rest))) =
            (&leaf.value, leaf.path.split_last())
        else {
            continue;
        };
        let of_key = NAMES.iter().position(|name| name == key);
        let rank = of_key.or_else(|| is_first_name(leaves, leaf, rest).then_some(FIRST_RANK));
        let Some(rank) = rank else { continue };
        if is_value(text) && names.get(rest).is_none_or(|(known, _)| rank < *known) {
            names.insert(rest, (rank, text));
        }
    }
    names
}

/// Whether a scalar is what its object is called: under a key for names, or the name itself.
fn is_name(name: &str, leaf: &Leaf, key: &str) -> bool {
    NAMES.contains(&key) || matches!(&leaf.value, Scalar::Text(text) if text == name)
}

/// Whether a text is the first of several scalars of a record, and may be its name: `{"deal": "Acme", "stage": ...}`.
fn is_first_name(leaves: &[Leaf], leaf: &Leaf, object: &[Step]) -> bool {
    let Scalar::Text(text) = &leaf.value else { return false };
    // An object under a key is a part of the one around it: `{"name": "Acme", "plan": {"tier": "pro", ...}}`.
    if matches!(object.last(), Some(Step::Key(_))) {
        return false;
    }
    let mut siblings = leaves.iter().filter(
        |other| matches!(other.path.split_last(), Some((Step::Key(_), rest)) if rest == object),
    );
    let is_first = siblings.next().is_some_and(|first| first.path == leaf.path);
    let Some(Step::Key(key)) = leaf.path.last() else { return false };
    let is_word = text.chars().any(char::is_alphabetic)
        && !text.contains(['@', '/', '\n'])
        && !is_day(text)
        && text.split_whitespace().count() <= NAME_WORDS_MAX;
    is_first && siblings.next().is_some() && is_word && !NAMELESS.contains(&snake(key).as_str())
}

/// Whom a scalar is about: the nearest enclosing object with a name, else the speaker; and how many
/// steps of the path lead to it.
fn owner(
    source: &Source<'_>,
    names: &BTreeMap<&[Step], (usize, &str)>,
    leaf: &Leaf,
) -> (Term, usize) {
    for depth in (0..leaf.path.len()).rev() {
        let named = leaf.path.get(..depth).and_then(|prefix| names.get(prefix));
        if let Some((_, name)) = named {
            return (Term::Named { name: (*name).to_owned(), kind: EntityKind::Thing }, depth);
        }
    }
    (Term::Actor(source.speaker.clone()), 0)
}

fn is_value(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= VALUE_BYTES_MAX
}

fn object(value: &Scalar) -> Option<Object> {
    match value {
        Scalar::Text(text) if !is_value(text) => None,
        Scalar::Text(text) if is_day(text) => Some(Object::Date(text.clone())),
        Scalar::Text(text) => Some(Object::Text(text.clone())),
        Scalar::Number(number) => Some(Object::Number { value: number.clone(), unit: None }),
        Scalar::Bool(value) => Some(Object::Bool(*value)),
    }
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
}

/// `seatCount`, `Seat-Count` and `seat count` are `seat_count`.
fn snake(key: &str) -> String {
    let mut out = String::new();
    let mut lower_before = false;
    for c in key.trim().chars() {
        if c.is_alphanumeric() {
            if c.is_uppercase() && lower_before {
                out.push('_');
            }
            out.extend(c.to_lowercase());
            lower_before = c.is_lowercase() || c.is_numeric();
        } else {
            if !out.ends_with('_') && !out.is_empty() {
                out.push('_');
            }
            lower_before = false;
        }
    }
    out.trim_end_matches('_').to_owned()
}

fn claim(
    subject: Term,
    predicate: String,
    object: Object,
    leaf: &Leaf,
    text: &str,
    normaliser: Normaliser,
) -> Claim {
    // A scalar of a named record has one value at a time; of several in a list none replaces another.
    let is_listed = leaf.path.iter().any(|step| matches!(step, Step::Index(_)));
    let single =
        normaliser == Normaliser::JsonPath && matches!(subject, Term::Named { .. }) && !is_listed;
    let known = cardinality(&predicate);
    Claim {
        subject,
        cardinality: known.or(single.then_some(Cardinality::One)),
        predicate,
        object,
        effect: Effect::Holds,
        valid_from: None,
        valid_to: None,
        confidence: Confidence::FULL,
        span: leaf.span,
        normaliser,
        clause: ByteSpan { start: 0, end: text.len() as u32 },
    }
}

/// The text at a path of keys.
fn text_at<'a>(leaves: &'a [Leaf], path: &[&str]) -> Option<(&'a str, &'a Leaf)> {
    leaves.iter().find_map(|leaf| {
        let same = leaf.path.len() == path.len()
            && leaf
                .path
                .iter()
                .zip(path)
                .all(|(step, key)| matches!(step, Step::Key(known) if known == key));
        match &leaf.value {
            Scalar::Text(text) if same && is_value(text) => Some((text.as_str(), leaf)),
            _ => None,
        }
    })
}

/// What a typed event states: type, keys of its payload that hold the words, predicate, and who is the
/// subject.
#[derive(Debug, Clone, Copy)]
struct Typed {
    kind: &'static str,
    keys: &'static [&'static str],
    predicate: &'static str,
    about: About,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// The actor; the words are the object.
    Actor,
    /// What the words name; the tail of the type is its state.
    Thing,
    /// What the words name; the actor is the object.
    Owner,
}

const TYPED: &[Typed] = &[
    Typed {
        kind: "decision.made",
        keys: &["decision", "title", "summary"],
        predicate: "decided",
        about: About::Actor,
    },
    Typed {
        kind: "goal.created",
        keys: &["title", "goal"],
        predicate: "goal",
        about: About::Actor,
    },
    Typed {
        kind: "task.proposed",
        keys: &["title", "summary", "taskId", "task"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "task.created",
        keys: &["title", "summary", "taskId", "task"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "task.claimed",
        keys: &["title", "summary", "taskId", "task"],
        predicate: "owner",
        about: About::Owner,
    },
    Typed {
        kind: "task.started",
        keys: &["title", "summary", "taskId", "task"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "task.blocked",
        keys: &["title", "summary", "taskId", "task"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "task.completed",
        keys: &["title", "task", "taskId", "summary"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "task.cancelled",
        keys: &["title", "task", "taskId", "summary"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "issue.diagnosed",
        keys: &["issue", "title"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "handoff.created",
        keys: &["title", "summary"],
        predicate: "status",
        about: About::Thing,
    },
    Typed {
        kind: "project.status",
        keys: &["project", "title"],
        predicate: "status",
        about: About::Thing,
    },
];

/// The claims of a typed event; none if the document is not one.
fn typed(source: &Source<'_>, leaves: &[Leaf]) -> Vec<Claim> {
    let kind = ["type", "event_type", "kind"].iter().find_map(|key| text_at(leaves, &[key]));
    let Some((kind, kind_leaf)) = kind else { return Vec::new() };
    if kind == invalidated::KIND {
        return invalidated::claims(source, leaves);
    }
    let Some(known) = TYPED.iter().find(|known| known.kind == kind) else { return Vec::new() };
    let words = ["payload", "data", ""].iter().find_map(|part| {
        known.keys.iter().find_map(|key| match *part {
            "" => text_at(leaves, &[key]),
            part => text_at(leaves, &[part, key]),
        })
    });
    let Some((words, leaf)) = words else { return Vec::new() };
    let actor = Term::Actor(source.speaker.clone());
    let named = Term::Named { name: words.to_owned(), kind: EntityKind::Thing };
    let (subject, object, leaf) = match known.about {
        About::Actor => (actor, Object::Text(words.to_owned()), leaf),
        About::Owner => (named, Object::Entity(actor), leaf),
        About::Thing => {
            let state = kind.rsplit('.').next().unwrap_or(kind).to_owned();
            (named, Object::Text(state), kind_leaf)
        }
    };
    vec![claim(subject, known.predicate.to_owned(), object, leaf, source.text, Normaliser::Given)]
}

/// The claim of `{subject, predicate, object}` with typed values, from when to when it holds and how sure it is.
fn triple(source: &Source<'_>, leaves: &[Leaf]) -> Option<Claim> {
    let subject = typed_term(leaves, "subject").map(|(term, _)| term);
    let subject = subject.or_else(|| literal_subject(leaves))?;
    let (predicate, _) = text_at(leaves, &["predicate"])?;
    let predicate = canonical(predicate);
    if predicate.is_empty() || predicate.chars().count() > PREDICATE_CHARS_MAX {
        return None;
    }
    let (object, leaf) = match typed_term(leaves, "object") {
        Some((term, leaf)) => (Object::Entity(term), leaf),
        None => literal(leaves, &predicate)?,
    };
    let (valid_from, valid_to) = (instant(leaves, "valid_from")?, instant(leaves, "valid_to")?);
    let stated = claim(subject, predicate, object, leaf, source.text, Normaliser::Given);
    // A relation of the caller's own has a track like any other.
    let cardinality = stated.cardinality.or(Some(invented_cardinality(&stated.predicate)));
    Some(Claim { valid_from, valid_to, confidence: confidence(leaves)?, cardinality, ..stated })
}

/// The instant that a member of a triple states, if it states one. `None` for a text that is none: then
/// nothing is claimed, because without it the claim would be another.
fn instant(leaves: &[Leaf], member: &str) -> Option<Option<ValidAt>> {
    let Some(leaf) = leaf_at(leaves, member) else { return Some(None) };
    let Scalar::Text(text) = &leaf.value else { return None };
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(Some(ValidAt(Micros(at.as_microsecond()))))
}

/// How sure a triple says it is; entirely, if it does not say. `None` for anything but a number from 0 to 1.
fn confidence(leaves: &[Leaf]) -> Option<Confidence> {
    let Some(leaf) = leaf_at(leaves, "confidence") else { return Some(Confidence::FULL) };
    let Scalar::Number(number) = &leaf.value else { return None };
    let share: f64 = number.parse().ok().filter(|share| (0.0..=1.0).contains(share))?;
    Some(Confidence::new((share * f64::from(Confidence::FULL.get())).round() as u16))
}

/// The scalar that is a member of the document itself.
fn leaf_at<'a>(leaves: &'a [Leaf], member: &str) -> Option<&'a Leaf> {
    leaves.iter().find(|leaf| matches!(leaf.path.as_slice(), [Step::Key(key)] if key == member))
}

/// A predicate family keeps its colon, everything else is a plain word.
fn canonical(predicate: &str) -> String {
    match predicate.split_once(':') {
        Some((head, rest)) if relation(&format!("{head}:x")).is_some() => {
            format!("{}:{}", snake(head), rest.trim().to_lowercase())
        }
        _ => snake(predicate),
    }
}

/// An entity or a concept: an actor by its id, anything else by its name.
fn typed_term<'a>(leaves: &'a [Leaf], part: &str) -> Option<(Term, &'a Leaf)> {
    let (kind, _) = text_at(leaves, &[part, "type"])?;
    if !matches!(kind, "entity" | "concept") {
        return None;
    }
    let id = text_at(leaves, &[part, "id"])?;
    if let Ok(actor) = id.0.parse::<ActorId>() {
        return Some((Term::Actor(actor), id.1));
    }
    let (name, leaf) = text_at(leaves, &[part, "name"]).unwrap_or(id);
    Some((Term::Named { name: name.to_owned(), kind: EntityKind::Thing }, leaf))
}

/// A subject that is given as a text: an actor by its id, anything else by its name.
fn literal_subject(leaves: &[Leaf]) -> Option<Term> {
    let (name, _) = text_at(leaves, &["subject", "value"])?;
    let name = name.trim();
    if name.is_empty() || text_at(leaves, &["subject", "type"])?.0 != "literal" {
        return None;
    }
    Some(match name.parse::<ActorId>() {
        Ok(actor) => Term::Actor(actor),
        Err(_) => Term::Named { name: name.to_owned(), kind: EntityKind::Thing },
    })
}

fn literal<'a>(leaves: &'a [Leaf], predicate: &str) -> Option<(Object, &'a Leaf)> {
    let leaf = leaves.iter().find(|leaf| {
        matches!(leaf.path.as_slice(), [Step::Key(part), Step::Key(key)] if part == "object" && key == "value")
    })?;
    let value = object(&leaf.value)?;
    let value = match (value, relation(predicate).map(|relation| relation.object)) {
        (Object::Text(name), Some(ObjectKind::Entity(kind))) => {
            Object::Entity(Term::Named { name, kind })
        }
        (value, _) => value,
    };
    Some((value, leaf))
}

#[cfg(test)]
mod tests;
