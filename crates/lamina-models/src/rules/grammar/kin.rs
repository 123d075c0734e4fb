//! Rules about relatives and animals that are had: with their names, or named a little later.

use lamina_types::layer::extraction::{Effect, Term};

use super::row_at;
use super::verbal::each;
use crate::rules::claims::Draft;
use crate::rules::clause::Subject;
use crate::rules::lexicon::{self, Class, Kin};
use crate::rules::pattern::Aspect;
use crate::rules::phrase::{Referent, name_run};
use crate::rules::scene::Scene;
use crate::rules::take::Item;
use crate::rules::time::Tense;
use crate::rules::token::Kind;
use crate::rules::verb::{Group, Modal};

/// Tokens between a verb and the name of the animal it is done to.
const MODIFIERS_MAX: usize = 6;

/// "I have a daughter named Ivy", "we have two cats, Miso and Tofu".
pub(super) fn has_kin(
    scene: &Scene<'_>,
    subjects: &[Referent],
    verb: &Group,
) -> Option<Vec<Draft>> {
    let tokens = scene.tokens;
    let has = verb.lemma == "have";
    if !has && !matches!(verb.lemma, "adopt" | "get" | "rescue" | "foster") || verb.negated {
        return None;
    }
    let mut drafts = Vec::new();
    let mut at = scene.skip(verb.end);
    // "an older sister called Mei and a twin brother, Sho".
    while let Some((kin, noun, mut next)) =
        kin_at(scene, at).filter(|(kin, ..)| has || *kin == Kin::Pet)
    {
        while let Some(end) = name_run(tokens, next, scene.end()) {
            let item = Item::text(scene, next, end);
            let aspect = if has { Aspect::State } else { Aspect::Begin };
            drafts.extend(each(subjects, kin.predicate(), &item, aspect));
            if kin == Kin::Pet {
                drafts.extend(
                    super::nominal::is_a(scene, &item, tokens.slice(noun, noun + 1))
                        .filter(|_| !tokens.at(noun).fold.ends_with('s')),
                );
            }
            next = end;
            if !tokens.at(end).word(&["and", ",", "&"]) {
                break;
            }
            next = end + 1 + usize::from(tokens.at(end + 1).fold == "and");
        }
        at = next;
    }
    if drafts.is_empty() {
        return None;
    }
    let counted = row_at(scene, subjects, "have", verb.end).unwrap_or_default();
    drafts.extend(counted.into_iter().filter(|draft| draft.predicate.starts_with("count:")));
    (!drafts.is_empty()).then_some(drafts)
}

/// The relative, its word, and where its name begins, of a phrase that begins at `at`.
fn kin_at(scene: &Scene<'_>, at: usize) -> Option<(Kin, usize, usize)> {
    let tokens = scene.tokens;
    let noun =
        (at..scene.end().min(at + 5)).find(|at| lexicon::kin(&tokens.at(*at).fold).is_some())?;
    // "a twin brother": the twin is a brother.
    let goes_on = tokens.at(noun).fold == "twin" && tokens.at(noun + 1).is(Class::KIN);
    let noun = noun + usize::from(goes_on);
    let kin = lexicon::kin(&tokens.at(noun).fold)?;
    let clean = (at..noun)
        .all(|at| tokens.at(at).kind == Kind::Word && !tokens.at(at).is(Class::PREPOSITION));
    let after = scene.time_at(noun + 1).map_or(noun + 1, |time| time.end);
    let named = tokens.at(after).word(&["called", "named", "who", ",", ":"]);
    let next = after + usize::from(named);
    (clean && name_run(tokens, next, scene.end()).is_some()).then_some((kin, noun, next))
}

/// "My dog Rex died", "we had to put our cat Pip down", "he passed away": an animal that one has no more.
pub(super) fn bereave(scene: &Scene<'_>, subjects: &[Referent], found: &mut Vec<Draft>) {
    if !scene.clause.asserted {
        return;
    }
    let died = is_death(scene);
    for draft in found.iter_mut().filter(|draft| draft.predicate == "pet") {
        let subject = matches!(scene.clause.subject, Subject::Said(from, to)
            if from <= draft.start && draft.end <= to && scene.tokens.at(draft.end).fold != "'s");
        // "my late dog Rex".
        let late = (draft.start.saturating_sub(3)..draft.start)
            .any(|at| scene.tokens.at(at).fold == "late" && at > scene.clause.start);
        if died && subject || late || is_put_down(scene, draft) {
            (draft.effect, draft.aspect) = (Effect::Ends, Aspect::End);
        }
    }
    // "Max was hit by a car and died", "he died": who is not named here was named before.
    let meant = |subject: &&Referent| {
        let inherited = scene.clause.subject == Subject::Inherited;
        died && (subject.pronoun || inherited)
    };
    let pets = subjects.iter().filter(meant).filter_map(|subject| {
        let attribute = subject.attribute.as_ref()?;
        let named = attribute.kin == Some(Kin::Pet) && attribute.named;
        let item = named.then(|| Item::text(scene, subject.start, subject.end))?;
        let mut draft = Draft::new(attribute.owner.clone(), "pet", &item, Aspect::End);
        draft.effect = Effect::Ends;
        Some(draft)
    });
    found.extend(pets);
}

/// Whether the clause says that its subject is dead.
fn is_death(scene: &Scene<'_>) -> bool {
    let tokens = scene.tokens;
    let Some(verb) = &scene.clause.verb else { return false };
    if verb.negated || verb.modal != Modal::None {
        return false;
    }
    let over = verb.tense == Tense::Past || verb.perfect;
    // "passed away": no list has the verb, because alone it says little.
    let passed = (verb.at..verb.end + 2).any(|at| {
        tokens.at(at).fold == "passed" && tokens.at(at + 1).word(&["away", "on", "over"])
    });
    let after = scene.skip(verb.end);
    let state = verb.lemma == "be"
        && (tokens.at(after).word(&["dead", "deceased"])
            || tokens.words_at(after, &["no", "more"])
            || tokens.words_at(after, &["put", "down"])
            || tokens.words_at(after, &["put", "to", "sleep"])
            || tokens.at(after).word(&["euthanized", "euthanised"]));
    over && (verb.lemma == "die" || passed) || state
}

/// "We put our dog Max down", "buried our cat", "lost my horse to old age"; what is lost in the park may be found.
fn is_put_down(scene: &Scene<'_>, draft: &Draft) -> bool {
    let tokens = scene.tokens;
    let lemma = |word: &str| {
        (scene.clause.start..draft.start)
            .rev()
            .take(MODIFIERS_MAX)
            .any(|at| tokens.at(at).verb.is_some_and(|verb| verb.lemma == word))
    };
    let denied = scene.clause.verb.as_ref().is_none_or(|verb| {
        verb.negated || matches!(verb.modal, Modal::Will | Modal::Going | Modal::Irrealis)
    });
    let down = tokens.at(draft.end).fold == "down"
        || tokens.words_at(draft.end, &["to", "sleep"])
        || tokens.words_at(draft.end, &["to", "rest"]);
    let where_to = tokens.at(draft.end).word(&["in", "at", "on", "near"]);
    !denied && (lemma("put") && down || lemma("bury") || lemma("lose") && !where_to)
}

/// The relative or animal that a clause introduces without a name: "we have a dog", "got a new puppy".
pub(crate) fn unnamed(scene: &Scene<'_>, subjects: &[Referent]) -> Option<(Term, usize)> {
    let verb = scene.clause.verb.as_ref().filter(|verb| {
        scene.clause.asserted && !verb.negated && matches!(verb.modal, Modal::None)
    })?;
    let [owner] = subjects else { return None };
    if !matches!(verb.lemma, "have" | "get" | "adopt" | "rescue") {
        return None;
    }
    let tokens = scene.tokens;
    let at = scene.skip(verb.end);
    tokens.at(at).word(&["a", "an", "one"]).then_some(())?;
    let noun = (at + 1..scene.end().min(at + 4)).find(|at| {
        !tokens.at(*at).fold.ends_with('s') && lexicon::kin(&tokens.at(*at).fold).is_some()
    })?;
    let next = tokens.at(noun + 1);
    let alone = noun + 1 >= scene.end()
        || next.kind == Kind::Punct
        || scene.time_at(noun + 1).is_some()
        || next.is(Class::ADVERB.or(Class::CONJUNCTION));
    alone.then(|| (owner.term.clone(), noun))
}

/// "We have a dog. His name is Rex": the name of who was introduced before.
pub(super) fn named_later(scene: &Scene<'_>, verb: &Group) -> Option<Vec<Draft>> {
    let tokens = scene.tokens;
    let (owner, noun) = scene.recent.unnamed.as_ref()?;
    let Subject::Said(from, to) = scene.clause.subject else { return None };
    let plain = verb.lemma == "be" && verb.tense == Tense::Present && !verb.negated;
    let by_name = tokens.at(from).word(&["his", "her", "its"])
        && tokens.at(from + 1).fold == "name"
        && to == from + 2;
    let called = tokens.at(from).word(&["he", "she", "it"])
        && to == from + 1
        && tokens.at(verb.end).word(&["called", "named"]);
    if !plain || !(by_name || called) {
        return None;
    }
    let at = verb.end + usize::from(called);
    let item = Item::text(scene, at, name_run(tokens, at, scene.end())?);
    let kin = lexicon::kin(&tokens.at(*noun).fold)?;
    let mut drafts = vec![Draft::new(owner.clone(), kin.predicate(), &item, Aspect::State)];
    if kin == Kin::Pet {
        let kind = Item::text(scene, *noun, noun + 1);
        drafts.extend(item.term().map(|name| Draft::new(name, "is_a", &kind, Aspect::Timeless)));
    }
    Some(drafts)
}
