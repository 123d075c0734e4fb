//! What somebody is, said beside the name: "our CTO Henrik", "my husband Piotr, a civil engineer,".

use lamina_types::layer::extraction::{EntityKind, Term};

use crate::rules::claims::Draft;
use crate::rules::clause::Subject;
use crate::rules::lexicon::Class;
use crate::rules::pattern::Aspect;
use crate::rules::phrase::{Nature, is_name_token, name_run, refer};
use crate::rules::scene::Scene;
use crate::rules::take::Item;
use crate::rules::token::Kind;

/// "My husband Piotr, a civil engineer, works for Skanska".
pub(super) fn apposed(scene: &Scene<'_>) -> Option<Draft> {
    let tokens = scene.tokens;
    let Subject::Said(from, to) = scene.clause.subject else { return None };
    let comma = (from..to).find(|at| tokens.at(*at).punct(','))?;
    let close = (comma + 2..to).find(|at| tokens.at(*at).punct(','))?;
    let whom = refer(tokens, from, comma, scene.parties, scene.discourse)?;
    let role = tokens.at(comma + 1).word(&["a", "an"])
        && close + 1 == to
        && crate::rules::take::is_role(tokens, comma + 2, close)
        && matches!(whom.nature, Nature::Person | Nature::Name);
    let item = Item::text(scene, comma + 2, close);
    role.then(|| Draft::new(whom.term, "role", &item, Aspect::Timeless))
}

/// "our CTO Henrik": the name and what it is.
pub(super) fn before_name(scene: &Scene<'_>, at: usize, to: usize) -> Option<Draft> {
    let tokens = scene.tokens;
    let name = (at + 2..to.min(at + 5)).find(|at| is_name_token(tokens, *at))?;
    let acronym = |at: usize| {
        tokens.at(at).capital
            && tokens.at(at).is(Class::OCCUPATION)
            && !is_name_token(tokens, at + 1)
    };
    let name = if acronym(name) { name + 1 } else { name };
    let end = name_run(tokens, name, to)?;
    let role = tokens.at(at).fold == "our"
        && (at + 1..name).all(|at| tokens.at(at).kind == Kind::Word)
        && !tokens.before(name).is(Class::KIN)
        && crate::rules::take::is_role(tokens, at + 1, name);
    let person = Term::Named { name: tokens.slice(name, end).to_owned(), kind: EntityKind::Person };
    let item = Item::text(scene, at + 1, name);
    role.then(|| Draft::new(person, "role", &item, Aspect::Timeless))
}
