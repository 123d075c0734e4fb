//! What a row would read and a person would not: verbs that are no states, things that own and work
//! nowhere, replacements that are no software. Each of them is a class of junk that was found in text.

use lamina_types::layer::extraction::Term;

use crate::rules::lexicon::{Class, is_given};
use crate::rules::pattern::{Match, Slot};
use crate::rules::phrase::{Nature, Referent};
use crate::rules::scene::Scene;
use crate::rules::take::Item;
use crate::rules::time::Tense;

/// Whether what a row found about a subject is junk.
pub(super) fn is_misread(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    is_no_state(scene, subject, fit)
        || replaces_no_software(scene, subject, fit)
        || runs_on_nothing(scene, fit)
        || has_parts(scene, subject, fit)
        || is_no_person(scene, subject, fit)
        || counts_visits(scene, subject, fit)
}

/// "Scrap falls through", "the stalls stay closed": a verb is a state only once it has happened.
fn is_no_state(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let by_verb = fit.row.means.iter().any(|means| means.object == Slot::Verb);
    let Some(verb) = scene.clause.verb.as_ref().filter(|_| by_verb) else { return false };
    let stays = scene.tokens.before(subject.end).word(&["stay", "stays", "remain", "remains"]);
    stays || verb.tense == Tense::Present && !verb.perfect
}

/// "Dunn replaced the tiles": only software is taken into use by replacing another.
fn replaces_no_software(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let uses = fit.row.means.iter().any(|means| means.subject == Slot::Speaker);
    let person = matches!(&subject.term, Term::Named { name, .. } if is_given(name));
    uses && (person || fit.taken.iter().flatten().any(|item| !is_software(scene, item)))
}

/// "Dentaro runs on air", "Wren runs on coffee".
fn runs_on_nothing(scene: &Scene<'_>, fit: &Match) -> bool {
    let runs = fit.row.says.starts_with("rely|") || fit.row.says.starts_with("be built|");
    runs && fit.taken.iter().flatten().any(|item| !is_software(scene, item))
}

/// Known software, or a name.
fn is_software(scene: &Scene<'_>, item: &Item) -> bool {
    let token = scene.tokens.at(item.start);
    token.is(Class::TOOL) || token.capital || token.fold.contains(|c: char| c.is_ascii_digit())
}

/// "Polara got a new door": what a thing has is a part of it; only people own.
fn has_parts(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let owns = fit.row.means.iter().any(|means| means.predicate == "owns");
    let has = scene
        .clause
        .verb
        .as_ref()
        .is_some_and(|verb| matches!(verb.lemma, "have" | "get" | "receive"));
    owns && has && subject.nature == Nature::Name && !subject.pronoun && !is_called_so(subject)
}

/// "Metformin works for the diabetes": a bare word that is nobody's name works and lives nowhere.
fn is_no_person(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let person = fit.row.means.iter().any(|means| {
        matches!(means.predicate, "works_at" | "lives_in" | "reports_to")
            && means.subject == Slot::Subject
    });
    let somebody =
        scene.tokens.before(subject.end).is(Class::OCCUPATION.or(Class::KIN).or(Class::TEAM));
    person && subject.nature == Nature::Word && !somebody && !is_called_so(subject)
}

/// "Femi went to three concerts": somebody goes to many things, and none of them counts the rest.
fn counts_visits(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let counts = fit.row.means.iter().any(|means| means.predicate == "count:");
    let goes = scene.clause.verb.as_ref().is_some_and(|verb| matches!(verb.lemma, "go" | "move"));
    let to = scene.tokens.at(scene.clause.complement()).fold == "to";
    counts && goes && to && matches!(&subject.term, Term::Named { name, .. } if is_given(name))
}

/// Whether people are called by the first word of a name.
fn is_called_so(subject: &Referent) -> bool {
    let Term::Named { name, .. } = &subject.term else { return true };
    name.split_whitespace().next().is_some_and(|first| is_given(&first.to_lowercase()))
}
