//! The built-in extractor: rules over words, deterministic, offline, linear in the text.
//!
//! The pipeline, in the order it runs: tokens -> sentences and clauses with their mood -> who is
//! spoken of -> times -> patterns -> claims. Each stage is a module; what is said how is data in
//! `table` and `lexicon`. It would rather miss a fact than state a wrong one.

mod token;
mod lexicon;
mod language;
mod verb;
mod clause;
mod phrase;
pub(crate) mod time;
mod number;
mod scene;
mod take;
mod pattern;
mod table;
mod grammar;
mod claims;
mod mention;
mod topic;
pub(crate) mod normal;
pub(crate) mod json;

use lamina_types::Role;
use lamina_types::layer::extraction::{Claim, Extraction, Term};

use self::clause::{Clause, Subject};
use self::phrase::{Discourse, Parties, Referent};
use self::scene::Scene;
pub(crate) use self::time::Observed;
use self::token::Tokens;
use crate::ground::grounded;
use crate::source::Source;

/// The name and version that answers carry.
pub const EXTRACTOR: &str = "rules/1";
/// Bytes of a text that are read; the rest of a longer one is searchable, but yields no claims.
pub const TEXT_BYTES_MAX: usize = 32 * 1024;
/// Claims that one event may yield.
pub const CLAIMS_MAX: usize = 128;
/// Names that one event may mention.
pub const MENTIONS_MAX: usize = 128;
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
        _ => Vec::new(),
    };
    Extraction {
        extractor: EXTRACTOR.to_owned(),
        language: (!language.is_empty()).then(|| language.to_owned()),
        mentions: mention::mentions(&tokens, &claims),
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
    let mut before: (usize, Vec<Referent>) = (usize::MAX, Vec::new());
    let mut claims: Vec<Claim> = Vec::new();
    for (index, clause) in clause::clauses(tokens).iter().enumerate() {
        let subjects = subjects(tokens, clause, parties, &discourse, &before);
        let scene = Scene {
            tokens,
            clause,
            times: time::find(tokens, clause.start, clause.end),
            parties,
            discourse: &discourse,
            observed: &observed,
        };
        let mut drafts = grammar::drafts(&scene, &subjects);
        if grammar::is_implicit(clause.subject) {
            claims::less_sure(&mut drafts, 1_000);
        } else if subjects.iter().any(|subject| subject.pronoun) {
            claims::less_sure(&mut drafts, 1_500);
        }
        for draft in drafts {
            let claim = claims::claim(&scene, draft);
            let known = claims.iter().any(|known| is_same(known, &claim));
            if !known && claims.len() < CLAIMS_MAX && grounded(&claim, source).is_ok() {
                claims.push(claim);
            }
        }
        let names = scene_names(&scene);
        note(&mut discourse, &names, &subjects, index);
        if !subjects.is_empty() {
            before = (clause.sentence, subjects);
        }
    }
    claims
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
        Subject::Relative => discourse.last().cloned().into_iter().collect(),
        Subject::Elided => vec![phrase::speaker(parties, clause.start)],
        Subject::None if same_sentence => before.1.clone(),
        Subject::None => vec![phrase::speaker(parties, clause.start)],
    }
}

/// The names and relatives in a clause, besides its subject.
fn scene_names(scene: &Scene<'_>) -> Vec<Referent> {
    let (tokens, clause, parties) = (scene.tokens, scene.clause, scene.parties);
    let mut found = Vec::new();
    let mut at = clause.start;
    while at < clause.end {
        let token = tokens.at(at);
        let starts = token.is(lexicon::Class::POSSESSIVE) || phrase::is_name_token(tokens, at);
        if starts && scene.time_at(at).is_none() {
            let mut to = (at + 1).max(phrase::name_run(tokens, at, clause.end).unwrap_or(at + 1));
            while to < clause.end.min(at + 8)
                && !tokens.at(to).is(lexicon::Class::PREPOSITION
                    .or(lexicon::Class::CONJUNCTION)
                    .or(lexicon::Class::BE))
                && tokens.at(to).kind == token::Kind::Word
                && !verb::is_finite(tokens, to, at)
            {
                to += 1;
            }
            if let Some(referent) = phrase::refer(tokens, at, to, parties, scene.discourse) {
                found.push(referent);
            }
            at = to;
        } else {
            at += 1;
        }
    }
    found
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
