//! What an answer speaks of, as keyed hashes: names, nouns, and what its claims say about them.

use lamina_core::derive::concepts::Relation;
use lamina_core::derive::concepts::things::{Noun, Spoken, folded};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::answer::Answer;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::layer::{ByteSpan, Claim, Effect, EntityKind, Mention, Object, Term};

use super::rows::{Stated, ThingsRow, Tie};
use crate::derive::fold::Given;
use crate::derive::words::{Hash, hash};

/// The domain of the hashes of things.
pub(crate) const THING: &str = "derive.thing";
/// The domain of the hashes of relations that vocabularies add.
pub(crate) const RELATION: &str = "derive.concept_relation";
/// Things that one end of a claim may be.
const ENDS_MAX: usize = 6;

/// A name or a noun, and how it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// What equal things have in common.
    pub(crate) folded: String,
    /// As it is said.
    pub(crate) shown: String,
}

/// What an answer speaks of, with the claims that were learned.
pub(super) fn of_answer(rows: &Rows<'_, '_>, given: &Given<'_>) -> Result<ThingsRow, ViewError> {
    let all = given.words.things(&hash(rows, given.tenant), given.answer)?;
    let mut facts = Vec::new();
    for (ordinal, scope, track) in &given.learned {
        let stated = all.facts.iter().find(|stated| stated.source.ordinal == *ordinal);
        facts.extend(stated.map(|stated| Stated {
            scope: *scope,
            track: *track,
            source: AssertionId { offset: given.offset, ordinal: *ordinal },
            ..stated.clone()
        }));
    }
    Ok(ThingsRow { scopes: given.scopes.clone(), facts, ..all })
}

/// What an answer speaks of, with all that it claims to hold: of which track is not known yet.
pub(crate) fn spoken(hash: &Hash<'_>, answer: &Answer) -> Result<ThingsRow, ViewError> {
    let tag = |said: &Said| hash(THING, &[said.folded.as_bytes()]);
    let hashes = |all: Vec<Said>| -> Result<Vec<Tag>, ViewError> { all.iter().map(tag).collect() };
    let mut spoken = Spoken::default();
    for said in names(answer) {
        let tag = tag(&said)?;
        if !spoken.names.contains(&tag) {
            spoken.names.push(tag);
        }
    }
    for (noun, both, maybe_name) in nouns(answer) {
        let with_next = both.as_ref().map(tag).transpose()?;
        spoken.nouns.push(Noun { word: tag(&noun)?, with_next, maybe_name });
    }
    let mut facts = Vec::new();
    for (position, claim) in answer.extraction.claims.iter().enumerate() {
        let Ok(ordinal) = u16::try_from(position) else { break };
        if !matches!(claim.effect, Effect::Holds | Effect::Corrects) {
            continue;
        }
        let (subjects, objects) = (hashes(ends(&claim.subject))?, hashes(objects(answer, claim))?);
        // What people say of themselves is about what they speak of: who talks is no matter.
        let (subjects, objects) =
            if subjects.is_empty() { (objects, Vec::new()) } else { (subjects, objects) };
        if subjects.is_empty() {
            continue;
        }
        let source = AssertionId { offset: 0, ordinal };
        let relation = match Relation::of_predicate(&claim.predicate) {
            Relation::RelatedTo if answer.relations.contains(&ordinal) => {
                Relation::Custom(hash(RELATION, &[claim.predicate.as_bytes()])?)
            }
            built_in => built_in,
        };
        facts.push(Stated { scope: 0, track: Tag::default(), source, relation, subjects, objects });
    }
    let mut bonds = Vec::new();
    for bond in &answer.extraction.bonds {
        let (from, to) = (hashes(at(answer, bond.from))?, hashes(at(answer, bond.to))?);
        bonds.push(Tie { from, relation: Relation::of_predicate(&bond.relation), to });
    }
    let mut labels = Vec::new();
    for said in labelled(answer) {
        let tag = tag(&said)?;
        if !labels.contains(&tag) {
            labels.push(tag);
        }
    }
    Ok(ThingsRow { scopes: Vec::new(), episode: None, spoken, facts, bonds, labels })
}

/// The names that labels of the event give concepts.
pub(crate) fn labelled(answer: &Answer) -> impl Iterator<Item = Said> {
    answer.concepts.iter().filter_map(|name| said(name))
}

/// The names in an answer: those that claims are about, and those that merely occur. What is written
/// small is no name where nouns are known.
pub(crate) fn names(answer: &Answer) -> impl Iterator<Item = Said> {
    let believed =
        answer.extraction.claims.iter().enumerate().filter(|(position, _)| {
            u16::try_from(*position).is_ok_and(|at| answer.is_believed(at))
        });
    let terms = believed.flat_map(|(_, claim)| {
        let object = match &claim.object {
            Object::Entity(term) => Some(term),
            _ => None,
        };
        std::iter::once(&claim.subject).chain(object)
    });
    let nouns = !answer.extraction.nouns.is_empty();
    let named = move |name: &str, kind: EntityKind| {
        let capital = |word: &str| word.starts_with(|first: char| first.is_uppercase());
        let ends = [name.split_whitespace().next(), name.split_whitespace().last()];
        !nouns || kind == EntityKind::Identifier || ends.into_iter().flatten().all(capital)
    };
    let terms = terms.filter(move |term| match term {
        Term::Named { name, kind } => named(name, *kind),
        Term::Actor(_) | Term::Of { .. } => true,
    });
    let mentions = answer.extraction.mentions.iter();
    let mentions = mentions.filter(move |mention| {
        named(&mention.name, mention.kind) && !is_noun_too(answer, mention.span)
    });
    terms.filter_map(term).chain(mentions.filter_map(mention))
}

/// The nouns in an answer, each with itself and the next one as one thing if they stand side by side,
/// and whether it may be a name.
pub(crate) fn nouns(answer: &Answer) -> impl Iterator<Item = (Said, Option<Said>, bool)> {
    let all = &answer.extraction.nouns;
    all.iter().enumerate().filter_map(|(at, noun)| {
        let next = all.get(at + 1).filter(|next| next.span.start == noun.span.end + 1);
        let both = next.and_then(|next| said(&format!("{} {}", noun.name, next.name)));
        Some((mention(noun)?, both, is_noun_too(answer, noun.span)))
    })
}

/// Everything that an answer gives a name, names first: they are written as people write them.
pub(crate) fn called(answer: &Answer) -> impl Iterator<Item = Said> {
    let mentions = answer.extraction.mentions.iter().filter_map(mention);
    let nouns = nouns(answer).flat_map(|(noun, both, _)| [Some(noun), both]).flatten();
    names(answer).chain(mentions).chain(nouns)
}

/// Whether the same word counts as a name and as a noun.
fn is_noun_too(answer: &Answer, span: ByteSpan) -> bool {
    let here = |mention: &Mention| mention.span == span;
    answer.extraction.mentions.iter().any(here) && answer.extraction.nouns.iter().any(here)
}

fn mention(mention: &Mention) -> Option<Said> {
    said(&mention.name)
}

fn said(name: &str) -> Option<Said> {
    Some(Said { folded: folded(name)?, shown: name.to_owned() })
}

/// Somebody or something that is no speaker. What is only known as a speaker's ("my sister") is.
fn term(term: &Term) -> Option<Said> {
    match term {
        Term::Actor(_) => None,
        Term::Named { name, .. } => said(name),
        Term::Of { owner, relation } => {
            let of = match &**owner {
                Term::Actor(actor) => actor.as_str().to_owned(),
                other => self::term(other)?.shown,
            };
            said(&format!("{of} {relation}")).map(|said| Said { shown: relation.clone(), ..said })
        }
    }
}

/// What may stand at a place: a noun with its neighbours, alone, or a name.
fn at(answer: &Answer, span: ByteSpan) -> Vec<Said> {
    let nouns: Vec<(Said, Option<Said>)> =
        nouns(answer).map(|(noun, both, _)| (noun, both)).collect();
    let here = answer.extraction.nouns.iter().position(|noun| noun.span == span);
    let mut all = Vec::new();
    if let Some(here) = here {
        all.extend(nouns.get(here).and_then(|(_, both)| both.clone()));
        let before = here.checked_sub(1).and_then(|before| nouns.get(before));
        all.extend(before.and_then(|(_, both)| both.clone()));
        all.extend(nouns.get(here).map(|(noun, _)| noun.clone()));
    }
    let name = answer.extraction.mentions.iter().find(|name| name.span == span);
    all.extend(name.and_then(mention));
    all
}

/// What a term may be among the things of its episode, the likeliest first: its whole name, its head,
/// and what it begins with ("the Atlas importer" is the importer of Atlas).
fn ends(of: &Term) -> Vec<Said> {
    let Some(whole) = term(of) else { return Vec::new() };
    let mut all = vec![whole];
    if let Term::Named { name, .. } = of {
        let words: Vec<&str> = name.split_whitespace().collect();
        if let [first, .., last] = words.as_slice() {
            all.extend(said(last));
            all.extend(said(first));
        }
    }
    all
}

/// What the other end of a claim may be: an entity, or the things that the words of its object name.
fn objects(answer: &Answer, claim: &Claim) -> Vec<Said> {
    let words = match &claim.object {
        Object::Entity(term) => return ends(term),
        Object::Text(words) => words,
        _ => return Vec::new(),
    };
    let within = |span: ByteSpan| claim.span.start <= span.start && span.end <= claim.span.end;
    let mut all: Vec<Said> = said(words).into_iter().collect();
    // The head of "a telescope of the observatory" is the telescope: what follows a gap is not meant.
    let mut inside: Vec<(Said, Option<Said>)> = Vec::new();
    let mut end = None;
    for noun in answer.extraction.nouns.iter().filter(|noun| within(noun.span)) {
        if end.is_some_and(|end| noun.span.start != end + 1) {
            break;
        }
        end = Some(noun.span.end);
        let both = inside.last().map(|(last, _)| format!("{} {}", last.shown, noun.name));
        inside.extend(mention(noun).map(|one| (one, both.and_then(|both| said(&both)))));
    }
    for (noun, both) in inside.into_iter().rev() {
        all.extend(both);
        all.push(noun);
    }
    all.extend(
        answer.extraction.mentions.iter().filter(|name| within(name.span)).filter_map(mention),
    );
    all.truncate(ENDS_MAX);
    all
}
