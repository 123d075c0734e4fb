//! The built-in extractor: rules over words, deterministic, offline, linear in the text.
//!
//! The pipeline, in the order it runs: tokens -> sentences and clauses with their mood -> who is
//! spoken of -> times -> patterns -> claims. Each stage is a module; what is said how is data in
//! `table` and `lexicon`. It would rather miss a fact than state a wrong one.

pub(crate) mod token;
mod lexicon;
mod language;
mod foreign;
mod verb;
mod clause;
mod phrase;
pub(crate) mod time;
pub(crate) mod number;
mod scene;
mod take;
mod pattern;
mod table;
mod grammar;
mod claims;
mod mention;
mod noun;
mod bond;
mod topic;
pub(crate) mod normal;

use std::borrow::Cow;

use lamina_types::Role;
use lamina_types::layer::extraction::{
    Cardinality, Claim, Effect, EntityKind, Extraction, Object, Term,
};

use self::claims::Draft;
use self::clause::{Clause, Subject};
use self::lexicon::Class;
use self::phrase::{Discourse, Nature, Parties, Referent};
use self::scene::{Recent, Scene};
pub(crate) use self::time::Observed;
use self::token::{Kind, Tokens};
use crate::ground::Gate;
use crate::source::Source;

/// The name and version that answers carry.
pub const EXTRACTOR: &str = "rules/1";
/// Bytes of a text that are read; the rest of a longer one is searchable, but yields no claims.
pub const TEXT_BYTES_MAX: usize = 32 * 1024;
/// Claims that one event may yield.
pub const CLAIMS_MAX: usize = 128;
/// Names that one event may mention.
pub const MENTIONS_MAX: usize = 128;
/// Common nouns kept of one event.
pub const NOUNS_MAX: usize = 48;
/// Bonds between things kept of one event.
pub const BONDS_MAX: usize = 32;
/// Topic words kept of one event.
pub const TOPICS_MAX: usize = 64;

/// What the words of one event say. Pure: the same source gives the same answer, always.
pub fn extract(source: &Source<'_>) -> Extraction {
    let text = head_of(source.text);
    let tokens = Tokens::of(text);
    let language = language::detect(&tokens);
    let claims = match (language, source.role) {
        // What an assistant, a tool or a frame says is no evidence about anybody.
        (language::ENGLISH, None | Some(Role::User)) => claims_of(source, &tokens),
        (language, None | Some(Role::User)) => foreign::claims(source, text, language),
        _ => Vec::new(),
    };
    let mentions = mention::mentions(&tokens, &claims);
    let nouns = match language {
        language::ENGLISH => noun::nouns(&tokens, &mentions),
        _ => Vec::new(),
    };
    let bonds = match source.role {
        None | Some(Role::User) => bond::bonds(&tokens, &mentions, &nouns),
        _ => Vec::new(),
    };
    Extraction {
        extractor: EXTRACTOR.to_owned(),
        language: (!language.is_empty()).then(|| language.to_owned()),
        mentions,
        nouns,
        bonds,
        topics: topic::topics(&tokens),
        claims,
    }
}

/// Where and when a source was observed.
pub(crate) fn observed(source: &Source<'_>) -> Observed {
    Observed::new(source.observed_at, source.timezone)
}

/// The beginning of a text, cut between characters.
fn head_of(text: &str) -> &str {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let end = (0..=TEXT_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or("")
}

fn claims_of(source: &Source<'_>, tokens: &Tokens<'_>) -> Vec<Claim> {
    let observed = observed(source);
    let speaker = Term::Actor(source.speaker.clone());
    let addressee = source.addressee.map(|actor| Term::Actor(actor.clone()));
    let parties = Parties { speaker: &speaker, addressee: addressee.as_ref() };
    let mut discourse = Discourse::default();
    let mut recent = Recent::default();
    let mut before: (usize, Vec<Referent>) = (usize::MAX, Vec::new());
    let gate = Gate::new(source);
    let mut claims: Vec<Claim> = Vec::new();
    let clauses = clause::clauses(tokens);
    for (index, clause) in clauses.iter().enumerate() {
        let subjects = subjects(tokens, clause, parties, &discourse, &before);
        let scene = Scene {
            tokens,
            clause,
            times: time::find(tokens, clause.start, clause.end),
            parties,
            discourse: &discourse,
            observed: &observed,
            recent: &recent,
        };
        let mut drafts = grammar::drafts(&scene, &subjects);
        let names = scene_names(&scene, &drafts);
        let mut noted = recent.clone();
        noted.note(&drafts);
        noted.unnamed = match grammar::kin::unnamed(&scene, &subjects) {
            None if clause.verb.is_none() => noted.unnamed,
            found => found,
        };
        if grammar::is_implicit(clause.subject) {
            claims::less_sure(&mut drafts, 1_000);
        } else if subjects.iter().any(|subject| subject.pronoun) {
            claims::less_sure(&mut drafts, 1_500);
        }
        for draft in drafts {
            let claim = claims::claim(&scene, draft);
            overtake(&mut claims, &claim, tokens, clause);
            let known = claims.iter().position(|known| is_same(known, &claim));
            // Said twice: the one with a time says more. The gate is asked last, it is the dearest.
            let better = match known.and_then(|at| claims.get(at)) {
                Some(known) => is_undated(known) && !is_undated(&claim),
                None => claims.len() < CLAIMS_MAX,
            };
            if !better || gate.grounded(&claim).is_err() {
                continue;
            }
            match known.and_then(|at| claims.get_mut(at)) {
                Some(known) => *known = claim,
                None => claims.push(claim),
            }
        }
        recent = noted;
        note(&mut discourse, &names, &subjects, index);
        if clause.aside && before.0 == clause.sentence {
            continue;
        }
        // Nobody known is nobody also in the clauses that share this subject.
        if is_head(clause, clauses.get(index + 1)) {
            let head = phrase::referents(tokens, clause.start, clause.end, parties, &discourse);
            before = (clause.sentence, head);
        } else if !subjects.is_empty() || clause.verb.is_some() {
            before = (clause.sentence, subjects);
        }
    }
    claims
}

/// "Anna, whom I met in Rome, works at Bosch": the fragment is what the rest is about.
fn is_head(clause: &Clause, next: Option<&Clause>) -> bool {
    clause.verb.is_none()
        && next.is_some_and(|next| {
            next.sentence == clause.sentence && (next.aside || next.subject == Subject::Relative)
        })
}

fn is_undated(claim: &Claim) -> bool {
    claim.valid_from.is_none() && claim.valid_to.is_none()
}

/// What a later clause makes of what an earlier one claims: "My dog Rex was ill. He died", "Carla moved to Turin but
/// has since moved to Genoa".
fn overtake(claims: &mut Vec<Claim>, claim: &Claim, tokens: &Tokens<'_>, clause: &Clause) {
    if claim.predicate == "pet" && claim.effect == Effect::Ends {
        let before = Claim { effect: Effect::Holds, ..claim.clone() };
        claims.retain(|known| !is_same(known, &before));
    }
    // Where there is one value, the one before is over.
    if (clause.start..clause.complement()).any(|at| verb::is_since_then(tokens, at)) {
        let before = claims.iter_mut().filter(|known| {
            known.subject == claim.subject
                && known.predicate == claim.predicate
                && known.object != claim.object
                && known.cardinality == Some(Cardinality::One)
        });
        for known in before.filter(|known| known.effect == Effect::Holds) {
            known.effect = Effect::Ends;
        }
    }
}

fn is_same(one: &Claim, other: &Claim) -> bool {
    one.subject == other.subject
        && one.predicate == other.predicate
        && one.object == other.object
        && one.effect == other.effect
}

/// Whom a clause is about.
fn subjects(
    tokens: &Tokens<'_>,
    clause: &Clause,
    parties: Parties<'_>,
    discourse: &Discourse,
    before: &(usize, Vec<Referent>),
) -> Vec<Referent> {
    let same_sentence = before.0 == clause.sentence;
    match clause.subject {
        Subject::Said(from, to) => {
            let times = time::find(tokens, from, to);
            let from = times.iter().find(|time| time.start == from).map_or(from, |time| time.end);
            let to = times.iter().find(|time| time.end == to).map_or(to, |time| time.start);
            phrase::referents(tokens, from, to, parties, discourse)
        }
        Subject::Inherited => before.1.clone(),
        // "a man who": only a name that stands right before is meant.
        Subject::Relative => {
            let last = discourse.last().filter(|last| last.end + 3 >= clause.start);
            last.cloned().into_iter().collect()
        }
        Subject::Elided => vec![phrase::speaker(parties, clause.start)],
        Subject::None if same_sentence => before.1.clone(),
        Subject::None => vec![phrase::speaker(parties, clause.start)],
    }
}

/// Whether a draft of the clause makes a name a company, a place or a thing.
fn is_thing(referent: &Referent, drafts: &[Draft]) -> bool {
    let Term::Named { name, .. } = &referent.term else { return false };
    drafts.iter().any(|draft| match &draft.object {
        Object::Entity(Term::Named { name: known, kind }) => {
            let thing =
                matches!(kind, EntityKind::Organization | EntityKind::Place | EntityKind::Product);
            known == name && thing
        }
        _ => false,
    })
}

/// The names and relatives in a clause, besides its subject.
fn scene_names(scene: &Scene<'_>, drafts: &[Draft]) -> Vec<Referent> {
    let (tokens, clause) = (scene.tokens, scene.clause);
    let mut discourse = Cow::Borrowed(scene.discourse);
    let mut found = Vec::new();
    let mut at = clause.start;
    while at < clause.end {
        let starts = tokens.at(at).is(Class::POSSESSIVE) || phrase::is_name_token(tokens, at);
        if !starts || scene.time_at(at).is_some() {
            at += 1;
            continue;
        }
        let to = end_of_phrase(tokens, at, clause.end);
        if let Some(mut referent) = phrase::refer(tokens, at, to, scene.parties, &discourse)
            && !describes(scene, &referent)
        {
            if referent.nature == Nature::Name
                && (is_placed(tokens, referent.start) || is_thing(&referent, drafts))
            {
                referent.nature = Nature::Thing;
            }
            discourse.to_mut().note(&referent, usize::MAX, false);
            found.extend(owner_of(&referent, at));
            found.push(referent);
        }
        at = to;
    }
    found
}

/// "Mei's favourite colour" speaks of Mei too.
fn owner_of(referent: &Referent, at: usize) -> Option<Referent> {
    let owner = referent.attribute.as_ref().map(|attribute| &attribute.owner)?;
    matches!(owner, Term::Named { .. }).then(|| Referent {
        term: owner.clone(),
        start: at,
        end: at + 1,
        nature: Nature::Name,
        plain: None,
        gender: phrase::Gender::Unknown,
        pronoun: false,
        attribute: None,
    })
}

/// A name behind "at" or "in", a language, a tool: not somebody.
fn is_placed(tokens: &Tokens<'_>, at: usize) -> bool {
    let before = tokens.before(at);
    let before = if before.fold == "the" { tokens.before(at.saturating_sub(1)) } else { before };
    before.word(&["at", "in", "for", "from", "on", "near", "into"])
        || tokens.at(at).is(Class::LANGUAGE.or(Class::PLACE).or(Class::TOOL).or(Class::NATIONALITY))
}

fn end_of_phrase(tokens: &Tokens<'_>, at: usize, end: usize) -> usize {
    let closed = Class::PREPOSITION.or(Class::CONJUNCTION).or(Class::BE);
    let mut to = phrase::name_run(tokens, at, end).unwrap_or(at + 1);
    while to < end.min(at + 8)
        && !tokens.at(to).is(closed)
        && tokens.at(to).kind == Kind::Word
        && !verb::is_finite(tokens, to, at)
    {
        to += 1;
    }
    to
}

/// "Leila is my coworker" speaks of one person, not of two.
fn describes(scene: &Scene<'_>, referent: &Referent) -> bool {
    let copula = match &scene.clause.verb {
        Some(verb) => verb.lemma == "be",
        // "So my mum, who ...": all that the fragment says.
        None => referent.start > scene.clause.start,
    };
    copula
        && matches!(referent.term, Term::Of { .. })
        && referent.start >= scene.clause.complement()
}

fn note(discourse: &mut Discourse, names: &[Referent], subjects: &[Referent], index: usize) {
    for referent in names.iter().filter(|referent| !referent.pronoun) {
        let subject = subjects.iter().any(|subject| subject.term == referent.term);
        discourse.note(referent, index, subject);
    }
    for subject in subjects.iter() {
        discourse.note(subject, index, true);
    }
}

#[cfg(test)]
mod tests;
