//! Rules that are more than a row of words: attributes ("my name is"), kinship, names, habits, plans,
//! abilities, fragments. Each is one function from a clause to drafts.

mod change;
pub(crate) mod kin;
mod make;
mod misread;
mod nominal;
mod office;
mod relational;
mod verbal;

use lamina_types::layer::extraction::{Effect, Normaliser, Object, Term};

use super::claims::{Draft, with_mood};
use super::clause::Subject;
use super::lexicon::{Class, is_given};
use super::pattern::{self, Match, Means, Slot, Who};
use super::phrase::{Nature, Referent};
use super::scene::Scene;
use super::take::{Item, Value};

/// Everything that a clause claims of its subjects.
pub(crate) fn drafts(scene: &Scene<'_>, subjects: &[Referent]) -> Vec<Draft> {
    let mut found = nominal::possessions(scene);
    kin::bereave(scene, subjects, &mut found);
    if let Some(instruction) = instruction(scene) {
        return vec![instruction];
    }
    if !scene.clause.asserted {
        return Vec::new();
    }
    let said = change::changed(scene, subjects)
        .or_else(|| nominal::attributes(scene, subjects))
        .or_else(|| nominal::kinship(scene, subjects))
        .or_else(|| relational::related(scene, subjects))
        .or_else(|| verbal::dispatch(scene, subjects))
        .or_else(|| rows(scene, subjects))
        .or_else(|| nominal::identity(scene, subjects))
        .or_else(|| verbal::habit(scene, subjects))
        .unwrap_or_default();
    // "We play volleyball every Tuesday" is a game and a habit.
    let again = said.iter().any(|draft| draft.predicate == "plays")
        && scene.clause.verb.as_ref().is_some_and(|verb| !verb.used_to);
    let said = match again.then(|| verbal::habit(scene, subjects)).flatten() {
        Some(habits) => [said, habits].concat(),
        None => said,
    };
    found.extend(said.into_iter().filter_map(|draft| with_mood(scene, draft)));
    found.extend(verbal::described(scene, subjects));
    found.extend(nominal::versioned(scene));
    found
}

/// A standing instruction, as it is said.
fn instruction(scene: &Scene<'_>) -> Option<Draft> {
    let (start, end) = scene.clause.instruction?;
    let item = Item::text(scene, start, end);
    Some(Draft::new(scene.parties.speaker.clone(), "instruction", &item, pattern::Aspect::Begin))
}

/// The first row that fits behind the verb.
fn rows(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let (lemma, at) = match &scene.clause.verb {
        Some(verb) => (verb.lemma, verb.end),
        None => ("be", scene.clause.start),
    };
    row_at(scene, subjects, lemma, at)
}

/// The first row of `lemma` that fits at `at`.
pub(crate) fn row_at(
    scene: &Scene<'_>,
    subjects: &[Referent],
    lemma: &str,
    at: usize,
) -> Option<Vec<Draft>> {
    pattern::patterns(lemma).iter().find_map(|row| {
        let fit = pattern::matches(row, scene, at)?;
        let drafts = stated(scene, subjects, &fit);
        (!drafts.is_empty()).then_some(drafts)
    })
}

/// The facts of a match, for every subject and every value.
fn stated(scene: &Scene<'_>, subjects: &[Referent], fit: &Match) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if replaces_somebody(scene, fit) {
        return drafts;
    }
    for subject in subjects.iter().filter(|subject| is_fit(subject, fit.row.who)) {
        if is_of_many(scene, subject, fit)
            || starts_as_somebody(scene, subject, fit)
            || moves_elsewhere(scene, subject, fit)
            || takes_up(scene, subject, fit)
            || is_passing(scene, subject, fit)
            || misread::is_misread(scene, subject, fit)
        {
            continue;
        }
        for means in fit.row.means.iter().filter(|means| !is_in_charge(scene, fit, means)) {
            drafts.extend(state(scene, subject, fit, means));
        }
    }
    drafts
}

/// "I'm the product owner for Checkout": what somebody sees to is no employer.
fn is_in_charge(scene: &Scene<'_>, fit: &Match, means: &Means) -> bool {
    let role = fit.taken.first().and_then(|items| items.first());
    means.predicate == "works_at"
        && means.object == Slot::Taken(1)
        && role.is_some_and(|role| {
            scene.tokens.before(role.end).word(&[
                "owner",
                "lead",
                "maintainer",
                "contact",
                "sponsor",
            ]) && scene.tokens.at(role.end).word(&["for", "of", "on"])
        })
}

/// "We're 12": a number of people, and no age.
fn is_of_many(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let own =
        fit.row.means.iter().any(|means| matches!(means.predicate, "age" | "height" | "weight"));
    own && scene.tokens.at(subject.start).word(&["we", "us"])
}

/// "The door is open", "lunch is ready": so now, and not worth a memory.
fn is_passing(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let last = scene.tokens.before(subject.end);
    let status = fit.row.means.iter().any(|means| means.predicate == "status");
    let small = last.is(Class::CONSUMABLE)
        || last.word(&[
            "door",
            "window",
            "phone",
            "battery",
            "food",
            "kettle",
            "oven",
            "laundry",
            "dishwasher",
            "bus",
            "train",
            "shower",
            "bathroom",
            "gate",
            "fridge",
            "pasta",
            "soup",
            "taxi",
            "uber",
            "laptop",
        ]);
    status && small && subject.nature != Nature::Name
}

/// "Theo replaced Karin as head of support" is about people, not about tools.
fn replaces_somebody(scene: &Scene<'_>, fit: &Match) -> bool {
    let item = fit.taken.first().and_then(|items| items.last());
    fit.row.says.starts_with("replace")
        && fit.row.means.iter().any(|means| means.predicate == "uses")
        && item.is_some_and(|item| scene.tokens.at(item.end).fold == "as")
}

/// "Our office moved from Kreuzberg to Mitte": what is no software does not move to some.
fn moves_elsewhere(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let moves = scene.clause.verb.as_ref().is_some_and(|verb| verb.lemma == "move");
    let uses = fit.row.means.iter().any(|means| means.predicate == "uses");
    let known = fit.taken.iter().flatten().any(|item| scene.tokens.at(item.start).is(Class::TOOL));
    moves && uses && subject.nature == Nature::Thing && !known
}

/// "We moved to Stripe": who speaks takes up what a company makes; of "Priya moved to Stripe" only a job is told.
fn takes_up(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let works = fit.row.means.iter().any(|means| means.predicate == "works_at");
    let into = fit.taken.iter().flatten().any(|item| scene.tokens.at(item.start).is(Class::TOOL));
    let moves = scene
        .clause
        .verb
        .as_ref()
        .is_some_and(|verb| matches!(verb.lemma, "move" | "switch" | "transfer"));
    moves && works && into && subject.term == *scene.parties.speaker
}

/// "Sofia starts on Monday": only what takes place is scheduled.
fn starts_as_somebody(scene: &Scene<'_>, subject: &Referent, fit: &Match) -> bool {
    let scheduled = fit.row.means.iter().any(|means| means.predicate == "scheduled_for");
    let takes_place =
        (subject.start..subject.end).any(|at| scene.tokens.at(at).is(Class::OCCASION));
    let starts = fit.row.says.starts_with("start") || fit.row.says.starts_with("move");
    let known = scene.tokens.before(subject.end).is(Class::COMMON);
    let somebody = matches!(subject.nature, Nature::Name | Nature::Word) && !known
        || scene.tokens.before(subject.end).is(Class::OCCUPATION);
    scheduled && starts && somebody && !takes_place
}

pub(crate) fn is_fit(subject: &Referent, who: Who) -> bool {
    let actor = matches!(subject.term, Term::Actor(_));
    match who {
        Who::Anyone => true,
        Who::Person => {
            matches!(subject.nature, Nature::Person | Nature::Animal | Nature::Name)
                || subject.nature == Nature::Word
        }
        Who::Somebody => match (&subject.term, subject.nature) {
            (Term::Named { name, .. }, Nature::Name) => is_given(name),
            _ => is_fit(subject, Who::Person),
        },
        Who::Thing => {
            !actor && subject.nature != Nature::Person && subject.nature != Nature::Animal
        }
    }
}

fn state(scene: &Scene<'_>, subject: &Referent, fit: &Match, means: &Means) -> Vec<Draft> {
    let taken = |n: usize| fit.taken.get(n).map_or(&[][..], Vec::as_slice);
    let whole = subject_item(subject);
    let verb = verb_item(scene);
    let nothing;
    let objects: &[Item] = match means.object {
        Slot::Taken(n) => taken(n),
        Slot::Subject => std::slice::from_ref(&whole),
        Slot::Verb => std::slice::from_ref(&verb),
        Slot::Nothing => {
            nothing = nothing_item(scene);
            std::slice::from_ref(&nothing)
        }
        Slot::Speaker => return Vec::new(),
    };
    let subjects: Vec<Term> = match means.subject {
        Slot::Subject => vec![subject_term(subject, means.predicate)],
        Slot::Taken(n) => taken(n).iter().filter_map(Item::term).collect(),
        Slot::Speaker => vec![scene.parties.speaker.clone()],
        Slot::Verb | Slot::Nothing => Vec::new(),
    };
    let mut drafts = Vec::new();
    for term in &subjects {
        for object in objects {
            let term = match (&object.family, means.predicate) {
                // "Node 20.1": the version is that of the product.
                (Some(product), "version") => Term::Named {
                    name: product.clone(),
                    kind: lamina_types::layer::extraction::EntityKind::Product,
                },
                _ => term.clone(),
            };
            let mut draft = Draft::new(term, means.predicate, object, fit.row.aspect);
            if means.ends {
                draft.effect = Effect::Ends;
            }
            if means.object == Slot::Nothing {
                draft.object = Object::Text(String::new());
                draft.normaliser = Normaliser::NegatedEnding;
            }
            drafts.push(draft);
            if means.predicate == "pet"
                && let Some(kind) = &object.family
            {
                drafts.extend(nominal::is_a(scene, object, kind));
            }
        }
    }
    drafts
}

/// The subject as an object: "Bob owns the roadmap" makes Bob the owner.
fn subject_item(subject: &Referent) -> Item {
    let normaliser = match subject.term {
        Term::Named { .. } => Normaliser::Identity,
        _ => Normaliser::Speaker,
    };
    Item::of(Value::Term(subject.term.clone()), subject.start, subject.end, normaliser)
}

fn verb_item(scene: &Scene<'_>) -> Item {
    let at = scene.clause.verb.as_ref().map_or(scene.clause.start, |verb| verb.at);
    // "fell through" is the state, not "fell".
    let particle = scene.tokens.at(at + 1).word(&["through", "apart", "behind"]);
    Item::text(scene, at, at + 1 + usize::from(particle))
}

/// What ends without being named: the words that say so.
fn nothing_item(scene: &Scene<'_>) -> Item {
    let start = scene.clause.verb.as_ref().map_or(scene.clause.start, |verb| verb.at);
    Item::text(scene, start, scene.end().max(start + 1))
}

/// Occasions and documents are known by their own name, whoever has them.
pub(crate) fn subject_term(subject: &Referent, predicate: &str) -> Term {
    match (&subject.plain, predicate) {
        (Some(name), "deadline" | "scheduled_for" | "status" | "version" | "price" | "owner") => {
            Term::Named {
                name: name.clone(),
                kind: lamina_types::layer::extraction::EntityKind::Thing,
            }
        }
        _ => subject.term.clone(),
    }
}

/// Whether the subject of a clause was left out or taken over.
pub(crate) fn is_implicit(subject: Subject) -> bool {
    matches!(subject, Subject::Elided | Subject::Inherited | Subject::None)
}
