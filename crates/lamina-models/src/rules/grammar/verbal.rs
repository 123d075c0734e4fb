//! Rules about verbs: what will be done, what can be done, what is done again and again.

use lamina_types::layer::extraction::{Effect, Normaliser};

use super::{is_fit, kin, row_at};
use crate::rules::claims::{Draft, is_plain_present};
use crate::rules::clause::Subject;
use crate::rules::lexicon::Class;
use crate::rules::pattern::{self, Aspect, Who};
use crate::rules::phrase::{Referent, name_run};
use crate::rules::scene::{Scene, Times};
use crate::rules::take::{Item, Take, Value, activity, base_form, fold_space, take};
use crate::rules::time::{Bound, Tense, days};
use crate::rules::token::Kind;
use crate::rules::verb::{Group, Modal};

/// Auxiliaries decide before any row does. `Some` of nothing means that no row may speak.
pub(super) fn dispatch(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let Some(verb) = &scene.clause.verb else { return fragment(scene, subjects) };
    if let Some(drafts) = contact(scene, verb) {
        return Some(drafts);
    }
    if verb.lemma == "call" && scene.tokens.at(verb.end).word(&["me", "us"]) {
        return Some(called(scene, verb));
    }
    match verb.modal {
        Modal::Rather => Some(rather(scene, subjects, verb)),
        Modal::Can => Some(ability(scene, subjects, verb)),
        Modal::Will | Modal::Going if changes_hands(scene, verb) => None,
        Modal::Will | Modal::Going => Some(plan(scene, subjects, verb).unwrap_or_default()),
        Modal::Must if verb.lemma != "be" => Some(Vec::new()),
        Modal::Irrealis => Some(Vec::new()),
        Modal::Must => None,
        Modal::None => {
            if changes_hands(scene, verb) {
                None
            } else if verb.progressive && verb.tense == Tense::Present && !verb.perfect {
                arranged(scene, subjects, verb)
            } else {
                decided_not(scene, subjects, verb).or_else(|| kin::has_kin(scene, subjects, verb))
            }
        }
    }
}

/// "Ines will take over the Halden account on 2 May": no plan of hers, but what holds from then on.
fn changes_hands(scene: &Scene<'_>, verb: &Group) -> bool {
    let tokens = scene.tokens;
    let over = (verb.end..scene.end()).any(|at| tokens.at(at).fold == "over");
    let changes = match verb.lemma {
        "take" => tokens.at(verb.end).fold == "over",
        "hand" | "pass" => over,
        "replace" | "succeed" => true,
        _ => false,
    };
    changes && scene.times.iter().any(|time| time.sure)
}

pub(super) fn each(
    subjects: &[Referent],
    predicate: &str,
    item: &Item,
    aspect: Aspect,
) -> Vec<Draft> {
    subjects
        .iter()
        .filter(|subject| is_fit(subject, Who::Person) || predicate == "decided")
        .map(|subject| Draft::new(subject.term.clone(), predicate, item, aspect))
        .collect()
}

/// "people call me Flip" is an alias, "call me Flip" a name.
fn called(scene: &Scene<'_>, verb: &Group) -> Vec<Draft> {
    let whom = scene.tokens.at(verb.end);
    if !whom.word(&["me", "us"])
        || verb.negated
        || verb.modal != Modal::None && verb.modal != Modal::Can
    {
        return Vec::new();
    }
    let predicate = match scene.clause.subject {
        Subject::Said(..) => "alias",
        _ => "name",
    };
    let end = name_run(scene.tokens, verb.end + 1, scene.end())
        .or_else(|| (scene.tokens.at(verb.end + 1).kind == Kind::Quote).then_some(verb.end + 2));
    let Some(end) = end else { return Vec::new() };
    let item = Item::text(scene, verb.end + 1, end);
    vec![Draft::new(scene.parties.speaker.clone(), predicate, &item, Aspect::State)]
}

/// "You can reach me at ann@mail.example".
fn contact(scene: &Scene<'_>, verb: &Group) -> Option<Vec<Draft>> {
    let me = scene.tokens.at(verb.end).word(&["me", "us"]);
    let verbs = ["reach", "contact", "email", "mail", "write", "text", "message", "ping", "call"];
    if !me || !verbs.contains(&verb.lemma) {
        return None;
    }
    let mut drafts = Vec::new();
    let mut at = verb.end + 1;
    loop {
        at += usize::from(scene.tokens.at(at).word(&["at", "on", "via", "under", "by"]));
        let (kind, predicate) = match scene.tokens.at(at).kind {
            Kind::Email => (Take::Email, "email"),
            _ => (Take::Phone, "phone"),
        };
        let Some((items, end)) = take(kind, scene, at) else { break };
        let speaker = scene.parties.speaker.clone();
        drafts.push(Draft::new(speaker, predicate, items.first()?, Aspect::State));
        if !scene.tokens.at(end).word(&["or", "and", ","]) {
            break;
        }
        at = end + 1;
    }
    (!drafts.is_empty()).then_some(drafts)
}

/// "I'd rather have an aisle seat".
fn rather(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Vec<Draft> {
    let light = matches!(verb.lemma, "have" | "take" | "get" | "use");
    let at = if light { verb.end } else { verb.at };
    let kind = if light { Take::Preferred } else { Take::Activity };
    let taken = take(kind, scene, at);
    taken.map_or_else(Vec::new, |(items, _)| {
        items.iter().flat_map(|item| each(subjects, "prefers", item, Aspect::State)).collect()
    })
}

/// Verbs behind "can" that say that something is possible, not that somebody is able.
const POSSIBLE: &[&str] = &[
    "see",
    "help",
    "understand",
    "get",
    "make",
    "come",
    "join",
    "go",
    "have",
    "be",
    "tell",
    "imagine",
    "hear",
    "wait",
    "believe",
    "afford",
    "send",
    "meet",
    "call",
    "talk",
    "take",
    "find",
    "think",
    "say",
    "remember",
    "feel",
    "finish",
    "start",
    "continue",
    "open",
    "close",
    "deliver",
    "give",
    "use",
    "try",
    "show",
    "share",
    "know",
    "stay",
    "bring",
    "pay",
    "start",
    "stop",
    "leave",
    "keep",
    "put",
    "let",
    "ask",
    "check",
    "add",
    "change",
    "move",
    "set",
    "work",
    "stand",
    "bear",
    "look",
    "expect",
    "confirm",
    "wait",
    "sleep",
    "focus",
    "complain",
    "handle",
    "open",
    "access",
    "follow",
    "pick",
    "drop",
    "reach",
    "happen",
    "end",
    "live",
    "buy",
    "order",
    "book",
    "need",
    "want",
    "like",
    "love",
    "eat",
    "drink",
    "offer",
    "provide",
    "support",
    "schedule",
    "present",
    "do",
    "push",
    "pull",
    "run",
    "wear",
    "reproduce",
    "spend",
    "recommend",
    "suggest",
    "turn",
];

/// "I can juggle".
fn ability(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Vec<Draft> {
    if matches!(verb.lemma, "speak" | "play" | "stand" | "bear") {
        return row_at(scene, subjects, verb.lemma, verb.end).unwrap_or_default();
    }
    let once = !scene.times.is_empty() || POSSIBLE.contains(&verb.lemma);
    let there = verb.at < scene.end();
    if once || !there || scene.clause.subject == Subject::None {
        return Vec::new();
    }
    activity(scene, verb.at)
        .map_or_else(Vec::new, |(item, _)| each(subjects, "skill", &item, Aspect::State))
}

/// Verbs behind "will" that promise talk or say nothing of the world.
const SMALL_PROMISES: &[&str] = &[
    "be",
    "let",
    "see",
    "try",
    "think",
    "know",
    "check",
    "need",
    "keep",
    "have",
    "get",
    "look",
    "tell",
    "say",
    "ask",
    "explain",
    "wait",
    "remember",
    "admit",
    "like",
    "love",
    "want",
    "ping",
    "reply",
    "respond",
    "answer",
    "follow",
    "talk",
    "feel",
    "never",
    "find",
    "help",
    "miss",
    "stop",
    "thank",
    "forgive",
    "regret",
    "bet",
    "do",
    "hear",
    "stick",
    "work",
    "happen",
    "mean",
    "cost",
    "seem",
    "depend",
    "appear",
    "understand",
    "skip",
    "pass",
    "stay",
    "take",
];

/// "I'm going to visit Rome in May", "Linnea will write the announcement".
fn plan(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Option<Vec<Draft>> {
    // "I was going to visit Rome": nothing came of it.
    let was = (scene.clause.start..verb.at).any(|at| scene.tokens.at(at).word(&["was", "were"]));
    if verb.negated || was || verb.at >= scene.end() || verb.lemma.is_empty() {
        return None;
    }
    // "From Monday I'll be working at Acme": what goes on then is so from then on.
    let state = matches!(verb.lemma, "work" | "live" | "study" | "manage" | "lead" | "teach");
    if state && verb.progressive && scene.times.iter().any(|time| time.sure) {
        return row_at(scene, subjects, verb.lemma, verb.end);
    }
    let copula = verb.lemma == "be" && !verb.progressive;
    let promise = verb.modal == Modal::Will && SMALL_PROMISES.contains(&verb.lemma);
    if copula || promise || scene.clause.subject == Subject::None {
        return dated(scene, subjects, verb);
    }
    let (item, _) = activity(scene, verb.at)?;
    // "I'll send it": too small to remember, unless a time makes it a promise.
    let alone = item.end - item.start < 2 || scene.tokens.at(item.start + 1).is(Class::PRONOUN);
    if alone && scene.times.is_empty() && verb.modal == Modal::Will {
        return None;
    }
    let vague = item.end == item.start + 1
        && verb.modal == Modal::Going
        && matches!(verb.lemma, "bed" | "sleep" | "die" | "cry" | "explode");
    (!vague).then(|| each(subjects, "plans", &item, Aspect::Plan))
}

/// "The launch will be on 3 June".
fn dated(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Option<Vec<Draft>> {
    (verb.lemma == "be").then_some(())?;
    let drafts = row_at(scene, subjects, "be", verb.end)?;
    let dates = drafts
        .into_iter()
        .filter(|draft| matches!(draft.predicate.as_str(), "scheduled_for" | "deadline"));
    Some(dates.collect())
}

/// Verbs whose "-ing" is a state or goes on now.
const GOING_ON: &[&str] = &[
    "live", "work", "study", "date", "use", "plan", "stay", "try", "look", "wait", "think", "hope",
    "feel", "manage", "suffer", "struggle", "intend", "aim", "become", "turn", "sit", "stand",
    "wear", "wonder", "ask", "reside", "report", "deal", "kid", "joke", "learn", "expect",
];

/// "I'm flying to Rome tomorrow": the present with a time ahead is a plan.
fn arranged(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Option<Vec<Draft>> {
    let ahead = scene.times.iter().any(|time| {
        days(time.anchor, Tense::Future, scene.observed.today).is_some_and(|days| {
            days.after > scene.observed.today
                && time.sure
                && !matches!(time.bound, Bound::Since | Bound::From)
        })
    });
    if !ahead
        || GOING_ON.contains(&verb.lemma)
        || verb.negated
        || scene.clause.subject == Subject::None
    {
        return None;
    }
    let (item, _) = activity(scene, verb.at)?;
    let drafts = each(subjects, "plans", &item, Aspect::Plan);
    (!drafts.is_empty()).then_some(drafts)
}

/// "We've decided not to renew the lease": the denial is part of the decision.
fn decided_not(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Option<Vec<Draft>> {
    let denied = matches!(verb.lemma, "decide" | "choose" | "agree")
        && scene.tokens.words_at(verb.end, &["not", "to"]);
    if !denied {
        return None;
    }
    let (item, end) = activity(scene, verb.end + 2)?;
    let text = fold_space(scene.tokens.slice(verb.end, item.end));
    let whole = Item::of(Value::Text(text), verb.end, end, Normaliser::Identity);
    Some(each(subjects, "decided", &whole, Aspect::Event))
}

/// Verbs of which "usually" makes no habit.
const STATIVE: &[&str] = &[
    "be",
    "think",
    "know",
    "want",
    "agree",
    "feel",
    "need",
    "believe",
    "guess",
    "mean",
    "seem",
    "hope",
    "wish",
    "forget",
    "remember",
    "love",
    "like",
    "hate",
    "prefer",
    "appreciate",
    "assume",
    "say",
    "wonder",
    "understand",
    "deserve",
    "get",
    "find",
    "see",
    "hear",
];

/// Whether the tokens say how often: "every morning", "twice a week", "on Mondays".
fn is_frequency(scene: &Scene<'_>, at: usize) -> bool {
    let tokens = scene.tokens;
    let token = tokens.at(at);
    let next = tokens.at(at + 1);
    let parts = [
        "morning",
        "mornings",
        "evening",
        "evenings",
        "night",
        "nights",
        "afternoon",
        "afternoons",
        "weekend",
        "weekends",
        "weekday",
        "weekdays",
        "summer",
        "winter",
        "spring",
        "autumn",
        "christmas",
        "sunday",
        "single",
        "other",
        "second",
        "few",
    ];
    let period = |at: usize| {
        tokens.at(at).is(Class::TIME_UNIT.or(Class::WEEKDAY).or(Class::MONTH))
            || tokens.at(at).word(&parts)
    };
    if token.word(&["every", "each"]) {
        return period(at + 1);
    }
    if token.word(&["daily", "weekly", "monthly", "nightly", "yearly"])
        && at >= scene.clause.complement()
    {
        return true;
    }
    let times = token.word(&["once", "twice", "times"]);
    if times && next.word(&["a", "per", "every", "each"]) {
        return tokens.at(at + 2).is(Class::TIME_UNIT);
    }
    let plural_day = token.is(Class::WEEKDAY) && token.fold.ends_with('s') && token.fold.len() > 5
        || token.word(&["weekends", "weekdays", "mornings", "evenings", "nights"]);
    plural_day
        && tokens
            .before(at)
            .word(&["on", "most", "at", "the", "in", "weekday", "friday", "sunday", "saturday"])
        || token.word(&["most"]) && period(at + 1)
}

/// "I run every morning", "usually swim on Mondays".
pub(super) fn habit(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let verb = scene.clause.verb.as_ref()?;
    if verb.used_to && !verb.negated && verb.lemma != "be" && verb.at < scene.end() {
        let (item, _) = activity(scene, verb.at)?;
        return (!STATIVE.contains(&verb.lemma))
            .then(|| each(subjects, "habit", &item, Aspect::State));
    }
    let rises = verb.lemma == "get" && scene.tokens.at(verb.end).fold == "up";
    if !is_plain_present(scene)
        || STATIVE.contains(&verb.lemma) && !rises
        || verb.negated
        || verb.lemma.is_empty()
    {
        return None;
    }
    let often = (verb.end..scene.end()).any(|at| is_frequency(scene, at));
    if !often && !verb.habitual {
        return None;
    }
    let tokens = scene.tokens;
    let stops = |at: &usize| {
        let next = tokens.at(at + 1);
        let other =
            tokens.at(*at).fold == "and" && (next.is(Class::HABITUAL) || next.is(Class::ADVERB));
        tokens.at(*at).punct(',') || tokens.at(*at).word(&["because", "so", "but"]) || other
    };
    let end = (verb.end..scene.end()).find(stops).unwrap_or(scene.end());
    let end = crate::rules::take::trim(tokens, verb.at, end);
    if end < verb.at + 2 {
        return None;
    }
    let item = match base_form(tokens.at(verb.at)) {
        None => Item::text(scene, verb.at, end),
        Some(base) => {
            let text = fold_space(&format!("{base} {}", tokens.slice(verb.at + 1, end)));
            Item::of(Value::Text(text), verb.at, end, Normaliser::Clause)
        }
    };
    let drafts = each(subjects, "habit", &item, Aspect::State);
    (!drafts.is_empty()).then_some(drafts)
}

/// "a translator living in Kamakura": what a noun behind "is" does.
pub(super) fn described(scene: &Scene<'_>, subjects: &[Referent]) -> Vec<Draft> {
    let tokens = scene.tokens;
    let Some(verb) = &scene.clause.verb else { return Vec::new() };
    if verb.lemma != "be" || verb.negated || verb.tense != Tense::Present {
        return Vec::new();
    }
    let doing = |at: &usize| {
        tokens.at(*at).word(&["living", "working", "studying", "based"])
            && tokens.before(*at).is(Class::OCCUPATION.or(Class::NATIONALITY))
    };
    let Some(at) = (verb.end + 1..scene.end()).find(doing) else { return Vec::new() };
    let lemma = match tokens.at(at).verb {
        Some(verb) if tokens.at(at).fold != "based" => verb.lemma,
        _ => "be",
    };
    let from = if lemma == "be" { at } else { at + 1 };
    row_at(scene, subjects, lemma, from).unwrap_or_default()
}

/// A clause without a verb: "allergic to nuts", "dentist appointment tomorrow", "slides due Wednesday".
fn fragment(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let at = scene.clause.start;
    let tokens = scene.tokens;
    let denied = tokens.at(at).fold == "not";
    let at = at + usize::from(denied);
    if let Some((items, end)) = take(Take::Occasion, scene, at) {
        let dated = take(
            Take::Date,
            scene,
            scene.skip_to(end, &["on", "at"], Times::Entered).unwrap_or(end),
        )
        .or_else(|| take(Take::Date, scene, end));
        let (dates, _) = dated.unwrap_or_default();
        if let (Some(item), Some(date)) = (items.first(), dates.first()) {
            let subject = item.term()?;
            return Some(vec![Draft::new(subject, "scheduled_for", date, Aspect::State)]);
        }
    }
    if let Some((items, end)) = take(Take::Noun, scene, at)
        && let Some(item) = items.first()
    {
        let due = (item.start..end)
            .find(|at| tokens.at(*at).fold == "due")
            .or_else(|| (tokens.at(end).fold == "due").then_some(end));
        if let Some(due) = due
            && due > item.start
            && let Some((dates, _)) = take(Take::Due, scene, due + 1)
        {
            let subject = Item::text(scene, item.start, due).term()?;
            return Some(vec![Draft::new(subject, "deadline", dates.first()?, Aspect::State)]);
        }
    }
    let rows = pattern::patterns("be").iter().filter(|row| row.opens_with_word());
    let found = rows.into_iter().find_map(|row| {
        let fit = pattern::matches(row, scene, at)?;
        let drafts = super::stated(scene, subjects, &fit);
        (!drafts.is_empty()).then_some(drafts)
    });
    let mut drafts = found.unwrap_or_default();
    for draft in drafts.iter_mut().filter(|_| denied) {
        match draft.predicate.as_str() {
            "likes" => draft.predicate = "dislikes".to_owned(),
            _ => draft.effect = Effect::Negated,
        }
    }
    Some(drafts)
}
