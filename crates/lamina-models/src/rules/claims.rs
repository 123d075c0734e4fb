//! From what a rule found to claims: the effect of tense and negation, the bounds of time, the spans.

use lamina_types::ValidAt;
use lamina_types::layer::extraction::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, Normaliser, Object, Term,
};

use super::lexicon::Class;
use super::pattern::Aspect;
use super::scene::Scene;
use super::take::Item;
use super::time::{Anchor, Bound, Days, Phrase, Tense, days};
use super::verb::Modal;
use crate::relation::cardinality;

/// A claim before its clause has had its say.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) subject: Term,
    pub(crate) predicate: String,
    pub(crate) object: Object,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) normaliser: Normaliser,
    pub(crate) effect: Effect,
    pub(crate) aspect: Aspect,
    pub(crate) confidence: u16,
    /// How many values hold at a time, if the words tell and the relation does not.
    pub(crate) cardinality: Option<Cardinality>,
}

impl Draft {
    /// A claim that simply holds.
    pub(crate) fn new(subject: Term, predicate: &str, item: &Item, aspect: Aspect) -> Draft {
        let predicate = match &item.family {
            Some(family) if predicate.ends_with(':') => format!("{predicate}{family}"),
            _ => predicate.to_owned(),
        };
        Draft {
            subject,
            object: item.object(&predicate),
            predicate,
            start: item.start,
            end: item.end,
            normaliser: item.normaliser,
            effect: Effect::Holds,
            aspect,
            confidence: 9_000,
            cardinality: None,
        }
    }
}

/// What negation, tense and "no longer" make of a draft. `None` if nothing is left to claim.
pub(crate) fn with_mood(scene: &Scene<'_>, mut draft: Draft) -> Option<Draft> {
    let Some(verb) = &scene.clause.verb else { return Some(draft) };
    // "I used to have a dog named Rex": Rex was a dog all the same.
    if draft.aspect == Aspect::Timeless && !verb.negated {
        return Some(draft);
    }
    let ended = verb.ended || verb.negated && says_any_more(scene);
    // "I'm at Nokia" is where somebody is; "I've been at Nokia since May" is where somebody works.
    let there = verb.lemma == "be" && scene.tokens.at(verb.end).word(&["at", "with"]);
    let moved_on = scene.recent.left.contains(&draft.subject);
    if there && draft.predicate == "works_at" && !ended && !verb.perfect && !moved_on {
        return None;
    }
    let family = draft.predicate.split(':').next().unwrap_or_default();
    if draft.effect == Effect::Ends {
        // "I didn't quit" says nothing new.
        return (!verb.negated && !ended).then_some(draft);
    }
    if ended || verb.used_to && !verb.negated {
        draft.effect = Effect::Ends;
        return Some(draft);
    }
    if verb.negated {
        return denied(draft, verb.lemma);
    }
    if matches!(verb.lemma, "stand" | "bear") && family == "dislikes" {
        return None;
    }
    let past = verb.tense == Tense::Past && !verb.perfect;
    // "I had lived in Cairo for ten years": what had been is over.
    let over = verb.tense == Tense::Past;
    // "has to be in by Friday" is a deadline, "is out on Friday" is not.
    let bound = verb.modal == Modal::Must || scene.tokens.at(verb.end).is(Class::DETERMINER);
    let participle = scene.tokens.at(verb.end).verb.is_some()
        || scene.tokens.at(verb.end).word(&["in", "out", "ready"]);
    if family == "deadline" && participle && !bound {
        return None;
    }
    // "I was in Gdansk" is no visit unless a time makes it one.
    if family == "visited" && verb.lemma == "be" {
        let stays = scene.times.iter().any(|time| time.bound == Bound::Since);
        if stays || !verb.perfect && scene.times.is_empty() {
            return None;
        }
    }
    match draft.aspect {
        Aspect::State if over => match family {
            "scheduled_for" if verb.lemma == "have" => return None,
            "studied_at" | "scheduled_for" | "deadline" | "price" | "revenue" | "budget"
            | "version" | "status" | "owner" => {}
            "likes" | "dislikes" | "prefers" | "fears" | "age" | "height" | "weight" | "habit"
            | "owns" | "goal" | "is_a" | "count" | "name" | "uses" | "skill" => return None,
            _ => draft.effect = Effect::Ends,
        },
        Aspect::Plan if past && matches!(verb.lemma, "plan" | "intend") => return None,
        Aspect::Event if !past && !verb.perfect => return None,
        Aspect::Begin if matches!(verb.modal, Modal::Will | Modal::Going) && !says_when(scene) => {
            return None;
        }
        Aspect::Begin
            if verb.progressive && !verb.perfect && family != "diet" && !says_when(scene) =>
        {
            return None;
        }
        _ => {}
    }
    Some(draft)
}

/// What a denial makes of a draft. `None` if it says nothing about what holds.
fn denied(mut draft: Draft, lemma: &str) -> Option<Draft> {
    match draft.predicate.split(':').next().unwrap_or_default() {
        "likes" => draft.predicate = "dislikes".to_owned(),
        "dislikes" if matches!(lemma, "stand" | "bear") => {}
        "dislikes" | "plans" | "decided" | "goal" | "habit" | "count" | "scheduled_for"
        | "deadline" | "visited" | "read" | "watched" | "founded" | "prefers" | "status"
        | "age" | "name" | "price" | "budget" => return None,
        _ => draft.effect = Effect::Negated,
    }
    Some(draft)
}

/// Whether a clause about what is to come says when: "Ines takes over on 2 May" holds from then on.
fn says_when(scene: &Scene<'_>) -> bool {
    scene.times.iter().any(|time| time.sure && !matches!(time.bound, Bound::Until | Bound::By))
}

/// "any more", "anymore" somewhere behind the verb.
fn says_any_more(scene: &Scene<'_>) -> bool {
    let from = scene.clause.complement();
    (from..scene.end()).any(|at| {
        scene.tokens.at(at).word(&["anymore"])
            || scene.tokens.words_at(at, &["any", "more"])
            || scene.tokens.words_at(at, &["any", "longer"])
    })
}

/// The claim of a draft, dated and placed.
pub(crate) fn claim(scene: &Scene<'_>, draft: Draft) -> Claim {
    let (mut valid_from, mut valid_to) = (None, None);
    let dated = !matches!(draft.object, Object::Date(_))
        && (draft.predicate != "habit" || draft.effect == Effect::Ends)
        && draft.aspect != Aspect::Timeless;
    if dated {
        for time in scene.times.iter().filter(|time| time.sure && !is_inside(time, &draft)) {
            let (from, to) = bounds(scene, time, &draft);
            valid_from = valid_from.or(from);
            valid_to = valid_to.or(to);
        }
    }
    if draft.effect == Effect::Ends
        && valid_to.is_none()
        && scene.clause.verb.as_ref().is_some_and(|verb| verb.used_to)
    {
        valid_to = Some(ValidAt(scene.observed.at));
    }
    if let (Some(from), Some(to)) = (valid_from, valid_to)
        && from >= to
    {
        valid_from = None;
    }
    let effect = match draft.effect {
        Effect::Holds if scene.clause.corrects => Effect::Corrects,
        other => other,
    };
    let span = scene.tokens.span(draft.start, draft.end);
    Claim {
        cardinality: cardinality(&draft.predicate).or(draft.cardinality),
        subject: draft.subject,
        predicate: draft.predicate,
        object: draft.object,
        effect,
        valid_from,
        valid_to,
        confidence: Confidence::new(draft.confidence),
        clause: widened(scene.tokens.span(scene.clause.start, scene.clause.end), span),
        span,
        normaliser: draft.normaliser,
    }
}

/// The clause, and the span if that lies outside (a name that a pronoun stands for).
fn widened(clause: ByteSpan, span: ByteSpan) -> ByteSpan {
    ByteSpan { start: clause.start.min(span.start), end: clause.end.max(span.end) }
}

/// A time inside an object belongs to the object: "every Friday".
fn is_inside(time: &Phrase, draft: &Draft) -> bool {
    draft.normaliser == Normaliser::Identity && time.start >= draft.start && time.end <= draft.end
}

/// What a time says about a draft: from when, until when.
fn bounds(scene: &Scene<'_>, time: &Phrase, draft: &Draft) -> (Option<ValidAt>, Option<ValidAt>) {
    let tense = match (draft.aspect, time.bound) {
        (_, Bound::Since) => Tense::Past,
        (Aspect::Plan, _) => Tense::Future,
        (Aspect::Begin | Aspect::End, Bound::During) if scene.clause.verb.is_none() => Tense::Past,
        // "I'm between jobs, they let me go in March": what is over is behind.
        (Aspect::End, Bound::During) if scene.tense() == Tense::Present && is_copula(scene) => {
            Tense::Past
        }
        (Aspect::Begin | Aspect::End, Bound::During) if scene.tense() == Tense::Present => {
            Tense::Future
        }
        _ => scene.tense(),
    };
    // "as of next month" lies ahead.
    let tense = if time.bound == Bound::Since && scene.tense() == Tense::Future {
        Tense::Future
    } else {
        tense
    };
    let Some(found) = days(time.anchor, tense, scene.observed.today) else { return (None, None) };
    let found = effective(scene, time, found);
    let start = scene.observed.start_of(found.first);
    let after = scene.observed.start_of(found.after);
    match time.bound {
        // "Noor replaces Femi from May": what ends there held until then.
        Bound::Since | Bound::From if draft.effect == Effect::Ends && draft.aspect == Aspect::Begin => {
            (None, start)
        }
        Bound::Since | Bound::From => (start, None),
        Bound::Until | Bound::By => (None, if found.is_one() { after } else { start }),
        Bound::To(last) => {
            let last = days(last, tense, scene.observed.today);
            let to = last.and_then(|days| {
                scene.observed.start_of(if days.is_one() { days.after } else { days.first })
            });
            (start, to)
        }
        Bound::During => during(draft, found, start, after, scene),
    }
}

/// Days after which "as of 1 April" no longer means the last one.
const EFFECTIVE_DAYS_MAX: i32 = 92;

/// "As of 1 April our office is in Grenholm", said in March: a date without a year that lies far
/// back is the next one.
fn effective(scene: &Scene<'_>, time: &Phrase, found: Days) -> Days {
    let today = scene.observed.today;
    let dated = matches!(time.anchor, Anchor::Day(_, _, None) | Anchor::Month(_, None, _));
    let back = (today - found.first).get_days();
    let as_of = scene.tokens.at(time.start).word(&["as", "effective"]);
    if time.bound != Bound::Since || !dated || !as_of || back <= EFFECTIVE_DAYS_MAX {
        return found;
    }
    days(time.anchor, Tense::Future, today).unwrap_or(found)
}

fn is_copula(scene: &Scene<'_>) -> bool {
    scene.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "be")
}

fn during(
    draft: &Draft,
    found: Days,
    start: Option<ValidAt>,
    after: Option<ValidAt>,
    scene: &Scene<'_>,
) -> (Option<ValidAt>, Option<ValidAt>) {
    let period = if found.is_one() { None } else { after };
    if draft.effect == Effect::Ends {
        let lasted = matches!(draft.aspect, Aspect::State)
            && scene.clause.verb.as_ref().is_some_and(|verb| !verb.ended);
        return if lasted { (start, period) } else { (None, start) };
    }
    match draft.aspect {
        Aspect::Begin | Aspect::Fact | Aspect::Timeless => (start, None),
        Aspect::End => (None, start),
        Aspect::Event if draft.predicate == "decided" => (start, None),
        Aspect::Event | Aspect::Plan => (start, period),
        Aspect::State => {
            let measured = matches!(draft.predicate.as_str(), "revenue" | "budget");
            (start, if measured { period } else { None })
        }
    }
}

/// Less sure, because a pronoun was resolved or a subject was left out.
pub(crate) fn less_sure(drafts: &mut [Draft], by: u16) {
    for draft in drafts {
        draft.confidence = draft.confidence.saturating_sub(by);
    }
}

/// Whether a clause says that it is about the past of somebody else's words.
pub(crate) fn is_plain_present(scene: &Scene<'_>) -> bool {
    scene.clause.verb.as_ref().is_some_and(|verb| {
        verb.tense == Tense::Present
            && verb.modal == Modal::None
            && !verb.progressive
            && !verb.perfect
            && !verb.used_to
    }) && !scene.tokens.at(scene.clause.start).is(Class::QUESTION)
}
