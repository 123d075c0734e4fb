//! Rules about relatives and animals that are had: with their names, or named a little later.

use lamina_types::layer::extraction::Term;

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
