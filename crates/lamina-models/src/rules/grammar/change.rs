//! Rules about verbs that say of another that it begins, stops or was chosen.

use lamina_types::layer::extraction::Effect;

use super::{is_fit, kin, row_at};
use crate::rules::claims::Draft;
use crate::rules::lexicon::{Class, Form, is_given};
use crate::rules::pattern::{Aspect, Who};
use crate::rules::phrase::Referent;
use crate::rules::scene::Scene;
use crate::rules::take::activity;
use crate::rules::time::Tense;
use crate::rules::verb::{Group, Modal};

/// What these verbs make of the clause, if anything.
pub(super) fn changed(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let verb = scene.clause.verb.as_ref().filter(|verb| verb.modal == Modal::None)?;
    turned(scene, subjects, verb)
        .or_else(|| kin::named_later(scene, verb))
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
