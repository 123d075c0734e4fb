//! Values that are activities: what is planned, decided, wanted, done again and again.

use lamina_types::layer::extraction::Normaliser;

use super::phrases::trim;
use super::{Item, Value, fold_space};
use crate::rules::lexicon::{Class, Form};
use crate::rules::phrase::{is_name_token, strip_article};
use crate::rules::scene::Scene;
use crate::rules::time::{Bound, Phrase};
use crate::rules::token::{Kind, Token};

/// Tokens that an activity may have.
const ACTIVITY_TOKENS_MAX: usize = 28;

/// An activity in "-ing".
pub(super) fn gerund(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let ing = scene.tokens.at(at).verb.is_some_and(|verb| verb.forms.has(Form::ING))
        || scene.tokens.at(at).fold.ends_with("ing");
    if !ing {
        return None;
    }
    activity_as(scene, at, AsSaid::Kept)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AsSaid {
    /// The first verb in its base form.
    Base,
    Kept,
}

/// An activity: the rest of the clause without its times, the verb in its base form.
pub(crate) fn activity(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    activity_as(scene, at, AsSaid::Base)
}

fn activity_as(scene: &Scene<'_>, at: usize, said: AsSaid) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let at = scene.skip(at);
    let first = tokens.at(at);
    if first.kind != Kind::Word || first.is(Class::PRONOUN) {
        return None;
    }
    let mut end = at;
    while end < scene.end() && end - at < ACTIVITY_TOKENS_MAX {
        let token = tokens.at(end);
        let list = is_name_token(tokens, end + 1) && end > at && is_name_token(tokens, end - 1);
        if token.punct(',') && !list
            || token.word(&["because", "so", "since", "but", "although", "than"])
                && end > at
                && scene.time_at(end).is_none()
        {
            break;
        }
        end += 1;
    }
    let (mut start, mut end) = (at, trim(tokens, at, end));
    // What is decided "until July" is decided with its end.
    let decides = scene
        .clause
        .verb
        .as_ref()
        .is_some_and(|verb| matches!(verb.lemma, "decide" | "choose" | "agree"));
    // Times at either end are cut off, one in the middle is left out.
    loop {
        let before = (start, end);
        let closes =
            |time: &&Phrase| time.end == end && time.start > start && !(decides && is_limit(time));
        if let Some(time) = scene.times.iter().find(closes) {
            end = trim(tokens, start, time.start);
        }
        if let Some(time) = scene.time_at(start) {
            start = time.end;
        }
        if (start, end) == before {
            break;
        }
    }
    // "to Vienna for (the weekend)": what led to a time goes with it.
    while end > start + 1
        && scene.times.iter().any(|time| time.start == end)
        && tokens.at(end - 1).word(&["for", "over", "during", "on", "in", "at", "by"])
    {
        end -= 1;
    }
    if end <= start {
        return None;
    }
    Some((worded(scene, start, end, said), end))
}

/// The words of an activity: without a time in their middle, the verb as asked for.
fn worded(scene: &Scene<'_>, start: usize, end: usize, said: AsSaid) -> Item {
    let tokens = scene.tokens;
    let inner = scene.times.iter().find(|time| time.start > start && time.end < end);
    let base = match said {
        AsSaid::Base => base_form(tokens.at(start)),
        AsSaid::Kept => None,
    };
    if inner.is_none() && base.is_none() {
        return Item::text(scene, start, end);
    }
    let head = base.unwrap_or_else(|| tokens.slice(start, start + 1).to_owned());
    let mut words = vec![head];
    match inner {
        Some(time) => {
            words.push(tokens.slice(start + 1, time.start).to_owned());
            words.push(tokens.slice(time.end, end).to_owned());
        }
        None => words.push(tokens.slice(start + 1, end).to_owned()),
    }
    let text = fold_space(&words.join(" "));
    Item::of(Value::Text(text), start, end, Normaliser::Clause)
}

fn is_limit(time: &Phrase) -> bool {
    matches!(time.bound, Bound::Until | Bound::By | Bound::To(_))
}

/// The base form of a verb that is written in another.
pub(crate) fn base_form(token: &Token) -> Option<String> {
    let verb = token.verb?;
    (!verb.forms.has(Form::BASE) && token.fold != verb.lemma).then(|| verb.lemma.to_owned())
}

/// Verbs behind "want to" that announce talk, not a goal.
const SMALL_WANTS: &[&str] = &[
    "know",
    "ask",
    "thank",
    "say",
    "see",
    "check",
    "be",
    "make",
    "understand",
    "hear",
    "talk",
    "tell",
    "share",
    "mention",
    "do",
    "go",
    "have",
    "get",
    "use",
    "discuss",
    "know",
    "add",
    "remind",
    "try",
    "think",
    "apologize",
    "come",
    "help",
    "give",
    "take",
    "keep",
    "eat",
    "sleep",
    "cry",
    "die",
    "meet",
    "chat",
    "point",
    "note",
    "confirm",
    "clarify",
    "order",
    "send",
    "look",
    "find",
    "let",
    "put",
    "start",
    "leave",
    "stay",
    "show",
    "call",
    "believe",
];

/// A goal: an activity that takes more than a moment.
pub(super) fn goal(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let first = scene.tokens.at(scene.skip(at));
    let lemma = first.verb.map_or(first.fold.as_str(), |verb| verb.lemma);
    if SMALL_WANTS.contains(&lemma) || first.fold == "be" {
        return None;
    }
    activity(scene, at)
}

/// What somebody prefers: up to what it is preferred to.
pub(super) fn preferred(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    if tokens.at(at).fold == "to" && tokens.at(at + 1).verb.is_some() {
        return activity(scene, at + 1);
    }
    let to = scene.before_time(at);
    let start = strip_article(tokens, at, to);
    if tokens.at(start).is(Class::PRONOUN) && !tokens.at(start).is(Class::POSSESSIVE)
        || tokens.at(start).word(&["if", "that", "when"])
    {
        return None;
    }
    let start = if tokens.at(start).is(Class::POSSESSIVE) { start + 1 } else { start };
    let mut end = start;
    while end < to && end - start < 12 {
        let token = tokens.at(end);
        let stops = token.word(&[
            "over", "to", "than", "rather", "instead", "because", "when", "if", "but", "so", "as",
            "since", "whenever",
        ]) || token.kind == Kind::Punct && token.fold != "&"
            || token.kind == Kind::Newline;
        if stops {
            break;
        }
        end += 1;
    }
    let end = trim(tokens, start, end);
    (end > start).then(|| (Item::text(scene, start, end), end))
}

/// The rest of the clause as it stands.
pub(super) fn rest(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let mut end = at;
    // An address goes on over commas as long as it names places.
    while end < scene.end() {
        let token = tokens.at(end);
        if token.punct(',')
            && !(is_name_token(tokens, end + 1) || tokens.at(end + 1).kind == Kind::Number)
        {
            break;
        }
        end += 1;
    }
    let end = trim(tokens, at, end);
    (end > at).then(|| (Item::text(scene, at, end), end))
}

/// A length of time.
pub(super) fn stay(scene: &Scene<'_>, at: usize) -> Option<(Item, usize)> {
    let tokens = scene.tokens;
    let unit = (at..scene.end().min(at + 4)).find(|at| tokens.at(*at).is(Class::TIME_UNIT))?;
    Some((Item::text(scene, at, unit + 1), unit + 1))
}
