//! Names that occur in a text, whether or not anything is said about them. Works in every language:
//! it needs capitals and shapes, no grammar.

use lamina_types::layer::extraction::{ByteSpan, Claim, EntityKind, Mention, Object, Term};

use super::MENTIONS_MAX;
use super::lexicon::Class;
use super::phrase::name_run;
use super::token::{Kind, Tokens};

pub(crate) fn mentions(tokens: &Tokens<'_>, claims: &[Claim]) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut at = 0;
    while at < tokens.len() && found.len() < MENTIONS_MAX {
        let token = tokens.at(at);
        let identifier = matches!(token.kind, Kind::Email | Kind::Url) || is_identifier(tokens, at);
        let end = if identifier {
            Some(at + 1)
        } else {
            name_run(tokens, at, tokens.len()).filter(|end| is_name(tokens, at, *end))
        };
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let name = tokens.slice(at, end).to_owned();
        let kind =
            if identifier { EntityKind::Identifier } else { kind_of(tokens, at, &name, claims) };
        if !found.iter().any(|known| known.name == name) {
            found.push(Mention { name, kind, span: tokens.span(at, end) });
        }
        at = end;
    }
    for claim in claims {
        note_subject(tokens, claim, &mut found);
    }
    found
}

/// A capital at the start of a sentence makes a name only if the word is no ordinary one.
fn is_name(tokens: &Tokens<'_>, at: usize, end: usize) -> bool {
    let starts = at == 0 || matches!(tokens.before(at).kind, Kind::Newline | Kind::Punct);
    let token = tokens.at(at);
    let ordinary = token.verb.is_some()
        || token.is(Class::STOP
            .or(Class::ADVERB)
            .or(Class::INTERJECTION)
            .or(Class::COMMON)
            .or(Class::PREPOSITION)
            .or(Class::NUMBER_WORD)
            .or(Class::KIN));
    !(starts && end == at + 1 && ordinary)
}

/// Versions, tickets, paths: `v2.3`, `ABC-123`, `src/main.rs`.
fn is_identifier(tokens: &Tokens<'_>, at: usize) -> bool {
    let fold = tokens.at(at).fold.as_str();
    let raw = tokens.slice(at, at + 1);
    let version = fold
        .strip_prefix('v')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains('.'));
    let ticket = raw.split_once('-').is_some_and(|(head, tail)| {
        head.len() >= 2
            && head.chars().all(|c| c.is_ascii_uppercase())
            && !tail.is_empty()
            && tail.chars().all(|c| c.is_ascii_digit())
    });
    let file = tokens.at(at).kind == Kind::Word
        && raw.rsplit_once('.').is_some_and(|(stem, tail)| {
            stem.len() > 1
                && (1..=5).contains(&tail.len())
                && tail.chars().all(|c| c.is_ascii_alphanumeric())
        });
    version || ticket || file || raw.contains('/') && raw.len() > 6 && raw.contains('.')
}

/// What the claims say a name is.
fn kind_of(tokens: &Tokens<'_>, at: usize, name: &str, claims: &[Claim]) -> EntityKind {
    let from_claims = claims.iter().find_map(|claim| match (&claim.object, &claim.subject) {
        (Object::Entity(Term::Named { name: known, kind }), _)
            if known == name && *kind != EntityKind::Thing =>
        {
            Some(*kind)
        }
        (_, Term::Named { name: known, kind }) if known == name && *kind != EntityKind::Thing => {
            Some(*kind)
        }
        _ => None,
    });
    let token = tokens.at(at);
    from_claims.unwrap_or(if token.is(Class::PLACE) {
        EntityKind::Place
    } else if token.is(Class::TOOL) {
        EntityKind::Product
    } else {
        EntityKind::Thing
    })
}

/// A subject in small letters ("the report") is mentioned as well.
fn note_subject(tokens: &Tokens<'_>, claim: &Claim, found: &mut Vec<Mention>) {
    let Term::Named { name, kind } = &claim.subject else { return };
    if found.len() >= MENTIONS_MAX || found.iter().any(|known| known.name == *name) {
        return;
    }
    if let Some(at) = tokens.text.find(name.as_str()) {
        let span = ByteSpan { start: at as u32, end: (at + name.len()) as u32 };
        found.push(Mention { name: name.clone(), kind: *kind, span });
    }
}
