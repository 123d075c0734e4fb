//! Rules about verbs that say of another that it begins, stops or was chosen.

use lamina_types::layer::extraction::{Effect, Term};

use super::{is_fit, row_at};
use crate::rules::claims::Draft;
use crate::rules::clause::Subject;
use crate::rules::lexicon::{self, Class, Form, Kin, is_given};
use crate::rules::pattern::{Aspect, Who};
use crate::rules::phrase::{Referent, name_run};
use crate::rules::scene::Scene;
use crate::rules::take::{Item, activity};
use crate::rules::time::Tense;
use crate::rules::token::Kind;
use crate::rules::verb::{Group, Modal};

/// What these verbs make of the clause, if anything.
pub(super) fn changed(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let verb = scene.clause.verb.as_ref().filter(|verb| verb.modal == Modal::None)?;
    turned(scene, subjects, verb)
        .or_else(|| named_later(scene, verb))
        .or_else(|| went_with(scene, subjects, verb))
}

/// "Meera stopped managing the QA team", "we started using Nix": the rows of the inner verb speak, and
/// what they say is over, or new.
fn turned(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Option<Vec<Draft>> {
    let gives_up = verb.lemma == "give" && scene.tokens.at(verb.end).fold == "up";
    let over = gives_up || matches!(verb.lemma, "stop" | "quit" | "cease");
    if !over && !matches!(verb.lemma, "start" | "begin") || verb.negated {
        return None;
    }
    let at = verb.end + usize::from(gives_up);
    let inner = scene.tokens.at(at).verb.filter(|verb| verb.forms.has(Form::ING))?;
    let mut drafts = row_at(scene, subjects, inner.lemma, at + 1)?;
    drafts.retain(|draft| draft.aspect == Aspect::State && draft.effect == Effect::Holds);
    for draft in &mut drafts {
        if over {
            (draft.aspect, draft.effect) = (Aspect::End, Effect::Ends);
        } else {
            draft.aspect = Aspect::Begin;
        }
    }
    (!drafts.is_empty()).then_some(drafts)
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
fn named_later(scene: &Scene<'_>, verb: &Group) -> Option<Vec<Draft>> {
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

/// "We're going with Stripe for payments": a choice, unless it is company.
fn went_with(scene: &Scene<'_>, subjects: &[Referent], verb: &Group) -> Option<Vec<Draft>> {
    let tokens = scene.tokens;
    let chosen = tokens.at(verb.end + 1);
    let settled = verb.tense == Tense::Past || verb.perfect || verb.progressive;
    let company = chosen.is(Class::POSSESSIVE.or(Class::PRONOUN).or(Class::KIN))
        || is_given(&chosen.fold)
        || (verb.end + 2..scene.end()).any(|at| tokens.at(at).fold == "to");
    let named = chosen.capital || chosen.word(&["the", "a", "an"]) || chosen.is(Class::TOOL);
    if verb.lemma != "go" || tokens.at(verb.end).fold != "with" || !settled || company || !named {
        return None;
    }
    let (item, _) = activity(scene, verb.at)?;
    let drafts: Vec<Draft> = subjects
        .iter()
        .filter(|subject| is_fit(subject, Who::Anyone))
        .map(|subject| Draft::new(subject.term.clone(), "decided", &item, Aspect::Fact))
        .collect();
    (!drafts.is_empty() && !verb.negated).then_some(drafts)
}
