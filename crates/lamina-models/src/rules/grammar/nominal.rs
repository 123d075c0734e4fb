//! Rules about nouns: possessions and kinship, attributes, who somebody is.

use std::borrow::Cow;

use lamina_types::layer::extraction::{Effect, EntityKind, Term};

use super::{make, office, subject_item, subject_term};
use crate::rules::claims::Draft;
use crate::rules::clause::Subject;
use crate::rules::lexicon::{self, Class, Form, Kin};
use crate::rules::pattern::Aspect;
use crate::rules::phrase::{
    Attribute, Nature, Referent, appositive, is_name_token, name_run, refer,
};
use crate::rules::scene::{Scene, Times};
use crate::rules::table::TRAITS;
use crate::rules::take::{Item, Take, fold_space, take};
use crate::rules::time::Tense;
use crate::rules::token::Kind;

/// Tokens that a possession with its name may have.
const POSSESSION_TOKENS_MAX: usize = 9;

/// Relations that a phrase states by itself: "my wife Sara", "his dog Churro".
pub(crate) fn possessions(scene: &Scene<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if !scene.clause.asserted {
        return drafts;
    }
    let tokens = scene.tokens;
    if let Subject::Said(from, to) = scene.clause.subject
        && let Some((name, whose)) = appositive(tokens, from, to, scene.parties, scene.discourse)
        && let Some(Attribute { owner, kin: Some(kin), former: false, .. }) = &whose.attribute
    {
        let item = Item::text(scene, name.start, name.end);
        drafts.push(Draft::new(owner.clone(), kin.predicate(), &item, Aspect::Timeless));
        if *kin == Kin::Pet {
            drafts.extend(is_a(
                scene,
                &item,
                tokens.slice(end_of_kind(&whose), end_of_kind(&whose) + 1),
            ));
        }
    }
    drafts.extend(office::apposed(scene));
    // "my cousin Nacho and his dog": who is named here can be meant a few words later.
    let mut discourse = Cow::Borrowed(scene.discourse);
    for at in scene.clause.start..scene.end() {
        let possessive = tokens.at(at).is(Class::POSSESSIVE)
            || is_name_token(tokens, at) && !is_name_token(tokens, at.wrapping_sub(1));
        if !possessive || tokens.before(at).fold == "not" {
            continue;
        }
        let to = scene.end().min(at + POSSESSION_TOKENS_MAX);
        let Some(referent) = refer(tokens, at, to, scene.parties, &discourse) else {
            continue;
        };
        discourse.to_mut().note(&referent, usize::MAX, false);
        drafts.extend(office::before_name(scene, at, to));
        let Some(Attribute { owner, kin: Some(kin), named: true, former, end, .. }) =
            &referent.attribute
        else {
            continue;
        };
        if is_compound(scene, &referent) {
            continue;
        }
        for (start, end) in names(scene, referent.start, referent.end, *end) {
            let item = Item::text(scene, start, end);
            let mut draft = Draft::new(owner.clone(), kin.predicate(), &item, Aspect::Timeless);
            if *former {
                draft.effect = Effect::Ends;
            }
            drafts.push(draft);
            if *kin == Kin::Pet && !tokens.at(end_of_kind(&referent)).fold.ends_with('s') {
                drafts.extend(is_a(
                    scene,
                    &item,
                    tokens.slice(end_of_kind(&referent), end_of_kind(&referent) + 1),
                ));
            }
        }
    }
    drafts
}

/// The token of the animal in "my dog Rex".
fn end_of_kind(referent: &Referent) -> usize {
    referent.attribute.as_ref().map_or(referent.start, |attribute| attribute.end.saturating_sub(1))
}

/// "my office manager Bob": the boss of the office is not the speaker's.
fn is_compound(scene: &Scene<'_>, referent: &Referent) -> bool {
    let Some(attribute) = &referent.attribute else { return false };
    attribute.kin == Some(Kin::Boss)
        && (attribute.start + 1..attribute.end).any(|at| {
            !scene.tokens.at(at - 1).is(Class::ADJECTIVE.or(Class::ADVERB))
                && !scene.tokens.at(at - 1).word(&["line", "new", "direct"])
        })
}

/// The names behind a plural: "my sons Tom and Max".
fn names(scene: &Scene<'_>, start: usize, end: usize, noun_end: usize) -> Vec<(usize, usize)> {
    let tokens = scene.tokens;
    let mut found = vec![(start, end)];
    let plural =
        tokens.before(noun_end).fold.ends_with('s') || tokens.before(noun_end).fold == "children";
    let mut at = end;
    while plural && tokens.at(at).word(&["and", ",", "&"]) {
        let next = at + 1 + usize::from(tokens.at(at + 1).word(&["and"]));
        let Some(end) = name_run(tokens, next, scene.end()) else { break };
        found.push((next, end));
        at = end;
    }
    found
}

/// A named animal is of its kind.
pub(super) fn is_a(scene: &Scene<'_>, named: &Item, kind: &str) -> Option<Draft> {
    let tokens = scene.tokens;
    let from = scene.clause.start;
    let length = kind.split_whitespace().count();
    let at = (from..named.start).rev().find(|at| tokens.slice(*at, at + length) == kind)?;
    let head = at + length - 1;
    let item = Item::text(scene, head, head + 1);
    let name = tokens.slice(named.start, named.end).to_owned();
    let subject = Term::Named { name, kind: EntityKind::Animal };
    Some(Draft::new(subject, "is_a", &item, Aspect::Timeless))
}

/// "Condor v3.4 shipped yesterday": the version is that of the product.
pub(super) fn versioned(scene: &Scene<'_>) -> Option<Draft> {
    let tokens = scene.tokens;
    let verb = scene.clause.verb.as_ref()?;
    let Subject::Said(from, to) = scene.clause.subject else { return None };
    let out = matches!(verb.lemma, "ship" | "launch" | "release" | "land")
        || verb.lemma == "be"
            && tokens.at(verb.end).word(&["out", "live", "released", "shipped", "launched"]);
    let end = name_run(tokens, from, to).filter(|end| out && *end + 1 == to && !verb.negated)?;
    if tokens.at(end).fold.strip_prefix('v').is_none_or(str::is_empty) {
        return None;
    }
    let (items, _) = take(Take::Version, scene, end)?;
    let product = tokens.slice(from, end).to_owned();
    let product = Term::Named { name: product, kind: EntityKind::Product };
    Some(Draft::new(product, "version", items.first()?, Aspect::Begin))
}

/// "my name is", "Initech's revenue was", "the deadline for Wombat is", "my manager is".
pub(super) fn attributes(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let verb = scene.clause.verb.as_ref().filter(|verb| verb.lemma == "be")?;
    if let Some(drafts) = attribute_for(scene, verb.end) {
        return Some(drafts);
    }
    let [subject] = subjects else { return None };
    let Some(attribute) = subject.attribute.as_ref() else {
        return compound(scene, subject, verb.end);
    };
    let tokens = scene.tokens;
    let words = fold_space(tokens.slice(attribute.start, attribute.end)).to_lowercase();
    // "my mother's name is Denise" names the mother.
    if let Term::Of { owner, relation } = &attribute.owner
        && words == "name"
        && let Some(kin) = lexicon::kin(relation)
    {
        let (items, _) = take(Take::Word, scene, scene.skip(verb.end))?;
        let item = items.first().filter(|item| tokens.at(item.start).kind != Kind::Punct)?;
        return Some(vec![Draft::new((**owner).clone(), kin.predicate(), item, Aspect::State)]);
    }
    if let Some(kin) = attribute.kin.filter(|_| !attribute.named && !is_compound(scene, subject)) {
        return named_kin(scene, attribute, kin, verb.end);
    }
    if attribute.named {
        return None;
    }
    // "Our stack is Django, React and Postgres".
    if matches!(words.as_str(), "stack" | "tech stack" | "toolchain" | "toolset") {
        let (items, _) = take(Take::Tool, scene, scene.skip(verb.end))?;
        let uses = |item| Draft::new(attribute.owner.clone(), "uses", item, Aspect::State);
        return Some(items.iter().map(uses).collect());
    }
    let favourite = words.strip_prefix("favourite ").or_else(|| words.strip_prefix("favorite "));
    if let Some(thing) = favourite {
        let predicate = format!("favorite:{}", american(thing));
        let at = scene.skip(verb.end);
        let (items, _) = take(Take::Title, scene, at).or_else(|| take(Take::Noun, scene, at))?;
        let item = items.first()?;
        return Some(vec![Draft::new(attribute.owner.clone(), &predicate, item, Aspect::State)]);
    }
    if crate::rules::take::is_role(tokens, attribute.start, attribute.end)
        && let Some(end) = name_run(tokens, scene.skip(verb.end), scene.end())
    {
        let at = scene.skip(verb.end);
        let person =
            Term::Named { name: tokens.slice(at, end).to_owned(), kind: EntityKind::Person };
        let role = Item::text(scene, attribute.start, attribute.end);
        let mut drafts = vec![Draft::new(person, "role", &role, Aspect::State)];
        // "My accountant is Lena": also whose accountant she is.
        if tokens.before(attribute.start).fold == "my" {
            drafts.extend(super::relational::related(scene, subjects).unwrap_or_default());
        }
        return Some(drafts);
    }
    if words.ends_with("account") || words.ends_with("handle") || words.ends_with("username") {
        let (items, _) = take(Take::Word, scene, scene.skip(verb.end))?;
        return Some(vec![Draft::new(
            attribute.owner.clone(),
            "account",
            items.first()?,
            Aspect::State,
        )]);
    }
    make::by_make(scene, attribute, &words)
        .or_else(|| trait_value(scene, &words, attribute.owner.clone(), verb.end))
}

/// "the Falcon budget is 50k".
fn compound(scene: &Scene<'_>, subject: &Referent, at: usize) -> Option<Vec<Draft>> {
    let last = subject.end.checked_sub(1).filter(|last| *last > subject.start)?;
    let words = scene.tokens.at(last).fold.clone();
    let money = matches!(
        words.as_str(),
        "budget" | "revenue" | "price" | "deadline" | "status" | "version"
    );
    let name = scene.tokens.slice(subject.start, last).to_owned();
    let owner = Term::Named { name, kind: EntityKind::Thing };
    money.then(|| trait_value(scene, &words, owner, at)).flatten()
}

/// British spellings that name the same favourite.
pub(super) fn american(thing: &str) -> String {
    thing
        .replace("colour", "color")
        .replace("flavour", "flavor")
        .replace("theatre", "theater")
        .replace("programme", "program")
}

/// The value of a listed attribute at `at`.
fn trait_value(scene: &Scene<'_>, words: &str, owner: Term, at: usize) -> Option<Vec<Draft>> {
    let found = TRAITS.iter().find(|known| known.words == words)?;
    let kind = Take::named(found.takes).expect("the tables name only known kinds");
    // "to" before an activity, "on" before a date, "in" before a place.
    let start =
        scene.skip_to(at, &["to", "on", "in", "at"], Times::Entered).map_or(at, |at| at + 1);
    let start = if matches!(kind, Take::Word | Take::Rest) { at } else { start };
    let from = if kind.is_time() { at } else { scene.skip(start) };
    let (items, _) = take(kind, scene, from)
        .or_else(|| take(kind, scene, start))
        .or_else(|| take(kind, scene, scene.skip(at)))?;
    let past = scene.clause.verb.as_ref().is_some_and(|verb| verb.tense == Tense::Past);
    let aspect = if past && found.predicate == "revenue" { Aspect::Event } else { Aspect::State };
    // "Our office is in Leeds" places the office, not the speaker.
    if found.predicate == "located_in" && matches!(owner, Term::Actor(_)) {
        return None;
    }
    // "My name is spelled with a K".
    let first = items.first().map(|item| scene.tokens.at(item.start));
    if matches!(found.predicate, "name" | "alias")
        && first.is_some_and(|word| {
            !word.capital
                && (word.verb.is_some() || word.class != Class::NONE || word.fold.ends_with("ed"))
        })
    {
        return None;
    }
    // Whoever has a goal has it under way: only one that is said with "to".
    if matches!(found.predicate, "goal" | "plans") && start == at {
        return None;
    }
    Some(
        items.iter().map(|item| Draft::new(owner.clone(), found.predicate, item, aspect)).collect(),
    )
}

/// "my wife is Sara", "my manager is called Lindner".
fn named_kin(scene: &Scene<'_>, attribute: &Attribute, kin: Kin, at: usize) -> Option<Vec<Draft>> {
    let tokens = scene.tokens;
    let at = scene.skip(at);
    let at = if tokens.at(at).word(&["called", "named"]) { at + 1 } else { at };
    let token = tokens.at(at);
    let described = Class::NATIONALITY
        .or(Class::RELIGION)
        .or(Class::LANGUAGE)
        .or(Class::OCCUPATION)
        .or(Class::DIET);
    if token.is(described) && !tokens.before(at).word(&["called", "named"]) {
        return None;
    }
    let end = name_run(tokens, at, scene.before_time(at))?;
    let mut drafts = Vec::new();
    for (at, end) in names(scene, at, end, attribute.end) {
        let item = Item::text(scene, at, end);
        drafts.push(Draft::new(attribute.owner.clone(), kin.predicate(), &item, Aspect::State));
        if kin == Kin::Pet && !tokens.before(attribute.end).fold.ends_with('s') {
            drafts.extend(is_a(scene, &item, tokens.slice(attribute.end - 1, attribute.end)));
        }
    }
    Some(drafts)
}

/// "the deadline for Wombat is", "the budget for the trade fair is", "the owner of the docs is".
fn attribute_for(scene: &Scene<'_>, at: usize) -> Option<Vec<Draft>> {
    let Subject::Said(from, to) = scene.clause.subject else { return None };
    let tokens = scene.tokens;
    let joint = (from..to).find(|at| tokens.at(*at).word(&["for", "of"]))?;
    let start = from + usize::from(tokens.at(from).word(&["the", "our", "a", "my"]));
    let words = fold_space(tokens.slice(start, joint)).to_lowercase();
    // "My goal for this year is": of whom, the word before says.
    if scene.time_at(joint + 1).or(scene.time_at(joint)).is_some_and(|time| time.end == to) {
        let whose = refer(tokens, from, joint, scene.parties, scene.discourse)?.attribute?;
        return trait_value(scene, &words, whose.owner, at);
    }
    let whole = refer(tokens, joint + 1, to, scene.parties, scene.discourse)?;
    let owner = subject_term(&whole, "deadline");
    // "The deadline for Wombat was moved to Friday".
    let moved = scene.skip(at);
    let is_moved = tokens.at(moved).word(&["moved", "pushed", "postponed", "extended", "set"])
        && matches!(words.as_str(), "deadline" | "due date");
    let at = match is_moved {
        true => {
            moved + 1 + usize::from(tokens.at(moved + 1).word(&["back", "out", "forward", "for"]))
        }
        false => at,
    };
    if let Some(drafts) = trait_value(scene, &words, owner.clone(), at) {
        return Some(drafts);
    }
    // "the CTO of Mirai is Kenji".
    let role = crate::rules::take::is_role(tokens, start, joint);
    let end = name_run(tokens, scene.skip(at), scene.end()).filter(|_| role)?;
    let person = Term::Named {
        name: tokens.slice(scene.skip(at), end).to_owned(),
        kind: EntityKind::Person,
    };
    let company = Item::text(scene, whole.start, whole.end);
    let role = Item::text(scene, start, joint);
    let office = super::relational::related(scene, &[]).unwrap_or_default();
    // "the author of Salt Road" works at no such place.
    if super::relational::is_maker(&tokens.before(joint).fold) {
        return Some(office);
    }
    let mut drafts = vec![Draft::new(person.clone(), "role", &role, Aspect::State)];
    // "the vet for our goats" has no employer in the goats.
    if tokens.at(whole.start).capital || tokens.at(whole.end - 1).is(Class::TEAM) {
        drafts.push(Draft::new(person, "works_at", &company, Aspect::State));
    }
    drafts.extend(office);
    Some(drafts)
}

/// "Tunde is my cousin", "she's my sister's dog", "Bisi is a colleague", "Ann and I are married".
pub(crate) fn kinship(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let copula = scene
        .clause
        .verb
        .as_ref()
        .is_none_or(|verb| matches!(verb.lemma, "be" | "get" | "break" | "split"));
    if !copula || subjects.is_empty() {
        return None;
    }
    let tokens = scene.tokens;
    let at = scene.skip(scene.clause.complement());
    let negated = scene.clause.verb.is_none() && tokens.at(at).fold == "not";
    let at = at + usize::from(negated);
    if scene.clause.verb.is_none() && !negated {
        return None;
    }
    if let Some(draft) = favourite_of(scene, subjects, at) {
        return Some(vec![draft]);
    }
    if let Some(drafts) = mutual(scene, subjects, at) {
        return Some(drafts);
    }
    let (owner, kin) = kin_complement(scene, at)?;
    let mut drafts: Vec<Draft> = Vec::new();
    for subject in subjects.iter().filter(|subject| subject.nature != Nature::Thing) {
        let item = subject_item(subject);
        if subject.term == owner {
            continue;
        }
        let mut draft = Draft::new(owner.clone(), kin.predicate(), &item, Aspect::State);
        if negated {
            draft.effect = Effect::Negated;
        }
        drafts.push(draft);
    }
    (!drafts.is_empty()).then_some(drafts)
}

/// "Tea is my favourite drink".
fn favourite_of(scene: &Scene<'_>, subjects: &[Referent], at: usize) -> Option<Draft> {
    let tokens = scene.tokens;
    let [subject] = subjects else { return None };
    let end = (at..scene.end())
        .find(|at| tokens.at(*at).is(Class::PREPOSITION) || tokens.at(*at).kind == Kind::Punct);
    let whose = refer(tokens, at, end.unwrap_or(scene.end()), scene.parties, scene.discourse)?;
    let attribute = whose.attribute?;
    let words = fold_space(tokens.slice(attribute.start, attribute.end)).to_lowercase();
    let thing = words.strip_prefix("favourite ").or_else(|| words.strip_prefix("favorite "))?;
    let predicate = format!("favorite:{}", american(thing));
    let item = Item::text(scene, subject.start, subject.end);
    let named = matches!(subject.term, Term::Named { .. }) && !subject.pronoun;
    named.then(|| Draft::new(attribute.owner, &predicate, &item, Aspect::State))
}

/// What two people are to each other: word, predicate, whether it is over.
const MUTUAL: &[(&str, &str, bool)] = &[
    ("married", "spouse", false),
    ("engaged", "partner", false),
    ("dating", "partner", false),
    ("divorced", "spouse", true),
    ("separated", "spouse", true),
    ("up", "partner", true),
    ("friends", "friend", false),
    ("siblings", "sibling", false),
    ("sisters", "sibling", false),
    ("brothers", "sibling", false),
    ("cousins", "relative", false),
    ("colleagues", "colleague", false),
    ("coworkers", "colleague", false),
    ("neighbors", "neighbor", false),
    ("neighbours", "neighbor", false),
];

/// "Ben and I got engaged", "Freja and I broke up".
fn mutual(scene: &Scene<'_>, subjects: &[Referent], at: usize) -> Option<Vec<Draft>> {
    let [one, other] = subjects else { return None };
    let verb = scene.clause.verb.as_ref()?;
    let word = scene.tokens.at(at);
    let (_, predicate, over) = MUTUAL.iter().find(|(known, _, _)| word.fold == *known)?;
    let parts = matches!(verb.lemma, "break" | "split");
    if parts != (word.fold == "up") || scene.tokens.at(at + 1).word(&["to", "with", "from"]) {
        return None;
    }
    // The speaker has the bond; of two others, the first.
    let (whose, whom) =
        if other.term == *scene.parties.speaker { (other, one) } else { (one, other) };
    let item = subject_item(whom);
    let aspect = if *over {
        Aspect::End
    } else if verb.lemma == "get" {
        Aspect::Begin
    } else {
        Aspect::State
    };
    let mut draft = Draft::new(whose.term.clone(), predicate, &item, aspect);
    if *over {
        draft.effect = Effect::Ends;
    }
    Some(vec![draft])
}

/// Whose relative the complement at `at` is, and which.
fn kin_complement(scene: &Scene<'_>, at: usize) -> Option<(Term, Kin)> {
    let tokens = scene.tokens;
    let to = scene.before_time(at);
    let mut end = at;
    while end < to
        && tokens.at(end).kind == Kind::Word
        && !tokens.at(end).is(Class::PREPOSITION.or(Class::CONJUNCTION))
    {
        end += 1;
    }
    if let Some(referent) = refer(tokens, at, end, scene.parties, scene.discourse)
        && let Some(attribute) = &referent.attribute
        && !attribute.named
        && !is_compound(scene, &referent)
        && let Some(kin) = attribute.kin
    {
        return Some((attribute.owner.clone(), kin));
    }
    // "a friend (of mine)", "a close colleague".
    if !tokens.at(at).word(&["a", "an", "one"]) {
        return None;
    }
    let noun = (at + 1..end.min(at + 4)).find(|at| tokens.at(*at).is(Class::KIN))?;
    let kin = lexicon::kin(&tokens.at(noun).fold)?;
    let last = noun + 1 == end;
    let mine = tokens.words_at(end, &["of", "mine"]) || tokens.words_at(end, &["of", "ours"]);
    let close =
        matches!(kin, Kin::Friend | Kin::Colleague | Kin::Neighbor) && tokens.at(end).fold != "of";
    (last && (mine || close)).then(|| (scene.parties.speaker.clone(), kin))
}

/// "I'm Omar"; "Rex is a beagle".
pub(super) fn identity(scene: &Scene<'_>, subjects: &[Referent]) -> Option<Vec<Draft>> {
    let verb = scene
        .clause
        .verb
        .as_ref()
        .filter(|verb| verb.lemma == "be" && verb.tense == Tense::Present)?;
    let tokens = scene.tokens;
    let at = scene.skip(verb.end);
    if let Some(draft) = introduces(scene, at) {
        return Some(vec![draft]);
    }
    let [subject] = subjects else { return role_or_kind(scene, subjects, at) };
    if subject.term != *scene.parties.speaker || tokens.before(verb.end).fold == "are" {
        return role_or_kind(scene, subjects, at);
    }
    if let Some(drafts) = role_or_kind(scene, subjects, at) {
        return Some(drafts);
    }
    let end = name_run(tokens, at, scene.end())?;
    let described = Class::NATIONALITY
        .or(Class::RELIGION)
        .or(Class::LANGUAGE)
        .or(Class::PLACE)
        .or(Class::TOOL)
        .or(Class::DIET)
        .or(Class::STATUS)
        .or(Class::OCCUPATION);
    let shout = tokens.slice(at, end).chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase)
        && tokens.slice(at, end).len() > 3;
    let ends = end == scene.end()
        || tokens.at(end).kind == Kind::Punct
        || tokens.at(end).word(&["and", "from", "by", "the"]);
    if tokens.at(at).is(described) || !ends || shout || verb.negated || end - at > 3 {
        return None;
    }
    let item = Item::text(scene, at, end);
    Some(vec![Draft::new(subject.term.clone(), "name", &item, Aspect::State)])
}

/// "it's Marta here", "this is Bob from accounting".
fn introduces(scene: &Scene<'_>, at: usize) -> Option<Draft> {
    let Subject::Said(from, to) = scene.clause.subject else { return None };
    let tokens = scene.tokens;
    let end = name_run(tokens, at, scene.end())?;
    let here = tokens.at(end).word(&["here", "speaking"]);
    let this = tokens.at(from).fold == "this" && tokens.at(end).word(&["from", "speaking", "here"]);
    let sound = to == from + 1 && (tokens.at(from).fold == "it" && here || this) && end - at <= 3;
    let item = Item::text(scene, at, end);
    sound.then(|| Draft::new(scene.parties.speaker.clone(), "name", &item, Aspect::State))
}

/// "I'm a nurse" is a role, "Atlas is a database" is a kind.
fn role_or_kind(scene: &Scene<'_>, subjects: &[Referent], at: usize) -> Option<Vec<Draft>> {
    let tokens = scene.tokens;
    let articled = tokens.at(at).word(&["a", "an", "the", "our", "my"]);
    let role = take(Take::Role, scene, at).filter(|(items, end)| {
        let bare = items.first().is_some_and(|item| tokens.at(item.start).is(Class::OCCUPATION));
        let next = tokens.at(*end);
        let doing = next.verb.is_some_and(|verb| verb.forms.has(Form::ING));
        let plural = next.kind == Kind::Word
            && !doing
            && !next
                .is(Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::ADVERB).or(Class::PRONOUN))
            && *end < scene.end()
            && scene.time_at(*end).is_none();
        (articled || bare && *end >= scene.end()) && !plural && !next.word(&["of"])
    });
    let mut drafts = Vec::new();
    if let Some((items, _)) = role {
        for subject in subjects.iter().filter(|subject| {
            matches!(subject.nature, Nature::Person | Nature::Name | Nature::Word)
        }) {
            let item = items.first()?;
            drafts.push(Draft::new(subject.term.clone(), "role", item, Aspect::State));
        }
        return (!drafts.is_empty()).then_some(drafts);
    }
    let (items, _) = take(Take::Kind, scene, at)?;
    for subject in
        subjects.iter().filter(|subject| matches!(subject.nature, Nature::Animal | Nature::Name))
    {
        let item = items.first()?;
        // An animal is often said with its breed alone.
        let breed = (item.start..item.end).any(|at| tokens.at(at).is(Class::ANIMAL));
        if subject.nature == Nature::Name && subject.pronoun && !breed {
            continue;
        }
        drafts.push(Draft::new(subject.term.clone(), "is_a", item, Aspect::State));
    }
    (!drafts.is_empty()).then_some(drafts)
}
