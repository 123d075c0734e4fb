//! An answer whose words are replaced by what they are known by.

use std::collections::BTreeMap;

use lamina_store::codec::CodecError;
use lamina_store::codec::answer::{Answer, AnswerWho, Mapped, Match};
use lamina_store::codec::wire::{Cursor, put_sized, put_varint};
use lamina_store::kv::Space;
use lamina_store::view::{Tag, ViewError};
use lamina_types::layer::{ByteSpan, Claim, EntityKind, Extraction, Object, Term};
use lamina_types::stdx::hex;
use lamina_types::{ActorId, ScopePath};

use super::{Hash, NameIs, Near, Words, name_of, near_of};
use crate::derive::concepts::rows::ThingsRow;
use crate::derive::entities::is_personal;
use crate::derive::fold::row_error;

const VERSION: u8 = 1;
/// What an actor and a scope begin with whose words are gone.
const KIND: &str = "k";

/// What is kept of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Without words.
    pub(crate) answer: Answer,
    pub(crate) who: AnswerWho,
    /// Names, by the number that stands for them in the answer.
    names: Vec<Vec<Form>>,
    pub(crate) things: ThingsRow,
}

/// A name as one kind of thing bears it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    kind: EntityKind,
    pub(super) is: NameIs,
    pub(super) near: Near,
}

impl Kept {
    /// What is kept of an answer. `path` is what its second scope is known by.
    pub(crate) fn of(
        hash: &Hash<'_>,
        path: &dyn Fn(&ScopePath) -> Result<Tag, ViewError>,
        answer: &Answer,
        who: &AnswerWho,
    ) -> Result<Kept, ViewError> {
        let things = Words::Said.things(hash, answer)?;
        let mut making = Making { hash, numbers: BTreeMap::new(), names: Vec::new() };
        let claims = answer.extraction.claims.iter().map(|claim| making.claim(claim));
        let claims = claims.collect::<Result<_, _>>()?;
        let matches = answer.matches.iter().map(|one| making.matched(one));
        let matches = matches.collect::<Result<_, _>>()?;
        let mapped = answer.mapped.iter().map(|one| making.mapped(one));
        let mapped = mapped.collect::<Result<_, _>>()?;
        let session = who.session.as_deref().map(|session| Words::Said.session(hash, session));
        let who = AnswerWho {
            observed_actor: making.actor(&who.observed_actor)?,
            session: session.transpose()?.map(|tag| hex::encode(&tag)),
        };
        let mut asked = answer.asked.clone();
        asked.consolidate_into = match &answer.asked.consolidate_into {
            Some(scope) => Some(standing(path(scope)?)?),
            None => None,
        };
        let source = answer.asked.source.as_deref().map(|source| Words::Said.source(hash, source));
        asked.source = source.transpose()?.map(|tag| hex::encode(&tag));
        let answer = Answer {
            extraction: Extraction { claims, ..Extraction::default() },
            matches,
            mapped,
            relations: Vec::new(),
            ungrounded: answer.ungrounded.clone(),
            preceded_by: answer.preceded_by.clone(),
            asked,
            echoes: answer.echoes.clone(),
            echoed: answer.echoed.clone(),
            revoked: answer.revoked.clone(),
            concepts: Vec::new(),
            // Feedback without its words does not count any more.
            rated: Vec::new(),
            ..*answer
        };
        Ok(Kept { answer, who, names: making.names, things })
    }

    pub(super) fn name(&self, number: &str, kind: EntityKind) -> Result<&Form, ViewError> {
        let forms = number.parse().ok().and_then(|at: usize| self.names.get(at));
        let form = forms.and_then(|forms| forms.iter().find(|form| form.kind == kind));
        form.ok_or_else(unknown)
    }

    /// Its bytes in the residue of an erasure.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put_sized(&mut out, &self.answer.encode());
        put_sized(&mut out, &self.who.encode());
        put_varint(&mut out, self.names.len() as u64);
        for forms in &self.names {
            put_varint(&mut out, forms.len() as u64);
            for Form { kind, is, near } in forms {
                out.push(*kind as u8);
                out.extend_from_slice(&is.tag);
                out.push(u8::from(is.is_full) | u8::from(is.is_sought) << 1);
                put_tags(&mut out, &near.near);
                put_tags(&mut out, &near.parts);
            }
        }
        put_sized(&mut out, &self.things.encode());
        out
    }

    /// Reads what is kept of an answer.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Kept, CodecError> {
        let mut from = Cursor::new(bytes);
        let found = from.byte()?;
        if found != VERSION {
            return Err(CodecError::Version { found, supported: VERSION });
        }
        let answer = Answer::decode(from.sized()?)?;
        let who = AnswerWho::decode(from.sized()?)?;
        let mut names = Vec::new();
        for _ in 0..from.varint()? {
            let mut forms = Vec::new();
            for _ in 0..from.varint()? {
                forms.push(form(&mut from)?);
            }
            names.push(forms);
        }
        let things = ThingsRow::decode(from.sized()?)?;
        if !from.is_done() {
            return Err(CodecError::Malformed { field: "kept" });
        }
        Ok(Kept { answer, who, names, things })
    }
}

fn form(from: &mut Cursor<'_>) -> Result<Form, CodecError> {
    let number = from.byte()?;
    let kind = EntityKind::ALL.iter().copied().find(|kind| *kind as u8 == number);
    let kind = kind.ok_or(CodecError::Malformed { field: "kept kind" })?;
    let tag = from.array()?;
    let flags = from.byte()?;
    let is = NameIs { tag, is_full: flags & 1 != 0, is_sought: flags & 2 != 0 };
    Ok(Form { kind, is, near: Near { near: tags(from)?, parts: tags(from)? } })
}

fn put_tags(out: &mut Vec<u8>, tags: &[Tag]) {
    put_varint(out, tags.len() as u64);
    tags.iter().for_each(|tag| out.extend_from_slice(tag));
}

fn tags(from: &mut Cursor<'_>) -> Result<Vec<Tag>, CodecError> {
    let mut tags = Vec::new();
    for _ in 0..from.varint()? {
        tags.push(from.array()?);
    }
    Ok(tags)
}

/// Replaces words.
struct Making<'a> {
    hash: &'a Hash<'a>,
    numbers: BTreeMap<String, usize>,
    names: Vec<Vec<Form>>,
}

impl Making<'_> {
    fn claim(&mut self, claim: &Claim) -> Result<Claim, ViewError> {
        let predicate = hex::encode(&Words::Said.predicate(self.hash, &claim.predicate)?);
        let predicate = match Words::Said.denied(self.hash, &claim.predicate)? {
            Some(denied) => format!("{predicate}-{}", hex::encode(&denied)),
            None => predicate,
        };
        let object = match &claim.object {
            Object::Entity(term) => Object::Entity(self.term(term)?),
            other => {
                let value = Words::Said.value(self.hash, other)?;
                Object::Text(value.map(|tag| hex::encode(&tag)).unwrap_or_default())
            }
        };
        Ok(Claim {
            subject: self.term(&claim.subject)?,
            predicate,
            object,
            span: ByteSpan::default(),
            clause: ByteSpan::default(),
            ..*claim
        })
    }

    fn matched(&mut self, one: &Match) -> Result<Match, ViewError> {
        // Both names are looked at as names of either kind.
        if let Term::Named { name, .. } = &one.is {
            self.name(name, one.kind)?;
        }
        Ok(Match { name: self.name(&one.name, one.kind)?, is: self.term(&one.is)?, ..*one })
    }

    /// Under a term of which vocabulary a claim is.
    fn mapped(&self, one: &Mapped) -> Result<Mapped, ViewError> {
        let vocabulary = Words::Said.vocabulary(self.hash, &one.vocabulary)?;
        Ok(Mapped {
            claim: one.claim,
            confidence: one.confidence,
            vocabulary: hex::encode(&vocabulary),
            predicate: String::new(),
            object: None,
        })
    }

    fn term(&mut self, term: &Term) -> Result<Term, ViewError> {
        Ok(match term {
            Term::Actor(actor) => Term::Actor(self.actor(actor)?),
            Term::Named { name, kind } => {
                Term::Named { name: self.name(name, *kind)?, kind: *kind }
            }
            Term::Of { owner, relation } => Term::Of {
                owner: Box::new(self.term(owner)?),
                relation: hex::encode(&Words::Said.relation(self.hash, relation)?),
            },
        })
    }

    fn actor(&self, actor: &ActorId) -> Result<ActorId, ViewError> {
        let tag = Words::Said.actor(self.hash, actor)?;
        format!("{KIND}:{}", hex::encode(&tag)).parse().map_err(|_| unknown())
    }

    /// The number that stands for a name.
    fn name(&mut self, name: &str, kind: EntityKind) -> Result<String, ViewError> {
        let next = self.names.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.names.push(Vec::new());
        }
        let Some(forms) = self.names.get_mut(number) else { return Err(unknown()) };
        if forms.iter().all(|form| form.kind != kind) {
            let is = name_of(self.hash, name, kind)?;
            let is_ever_sought = is.is_sought
                && kind != EntityKind::Identifier
                && (is.is_full || !is_personal(kind));
            let near =
                if is_ever_sought { near_of(self.hash, name, kind)? } else { Near::default() };
            forms.push(Form { kind, is, near });
        }
        Ok(number.to_string())
    }
}

fn standing(path: Tag) -> Result<ScopePath, ViewError> {
    format!("{KIND}:{}", hex::encode(&path)).parse().map_err(|_| unknown())
}

/// What the second scope of an answer is known by.
pub(crate) fn tag_of_scope(scope: &ScopePath) -> Result<Tag, ViewError> {
    after_kind(scope.as_str())
}

pub(super) fn tag_of_actor(actor: &ActorId) -> Result<Tag, ViewError> {
    after_kind(actor.as_str())
}

fn after_kind(text: &str) -> Result<Tag, ViewError> {
    text.split_once(':')
        .filter(|(kind, _)| *kind == KIND)
        .ok_or_else(unknown)
        .and_then(|(_, known)| tag(known))
}

/// The predicate, and the one that it denies.
pub(super) fn predicate(known: &str) -> (&str, Option<&str>) {
    match known.split_once('-') {
        Some((predicate, denied)) => (predicate, Some(denied)),
        None => (known, None),
    }
}

pub(super) fn tag(known: &str) -> Result<Tag, ViewError> {
    hex::decode_array(known).ok_or_else(unknown)
}

fn unknown() -> ViewError {
    row_error(Space::Sources)(CodecError::Malformed { field: "kept" })
}
