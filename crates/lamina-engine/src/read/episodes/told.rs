//! What can be said of an episode: made from the words of its events when it is read.

use std::collections::BTreeSet;

use lamina_core::derive::episodes::words::{self, Said};
use lamina_core::derive::episodes::{Role, Step, chain};
use lamina_core::read::prompt::{AuthorList, RecordAuthor};
use lamina_store::codec::answer::Answer;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_types::layer::Term;
use lamina_types::{ActorId, Content, EpisodeId, EventId};

use super::Member;
use super::before::{Stamp, Text};
use crate::Error;
use crate::derive::fold::terms;
use crate::derive::read::answers_placed;
use crate::engine::Inner;

/// Events of an episode whose words are read for its name and its summary: its beginning and its end.
const EVENTS_READ_MAX: usize = if cfg!(test) { 8 } else { 64 };

/// What an episode says of itself.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) name: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) actors: Vec<ActorId>,
    pub(super) authors: AuthorList,
    pub(super) chain: Option<Vec<(EventId, Role)>>,
    /// Of how many events the words were read.
    pub(super) read: usize,
}

/// One event with its words.
struct Spoken {
    who: ExperienceWho,
    what: ExperienceWhat,
    names: Vec<String>,
}

impl Inner {
    /// What there is to tell of these events, from before if they are still the same.
    pub(super) fn told_of(
        &self,
        (tenant, scope): (u32, u64),
        id: EpisodeId,
        known: Stamp,
        with_chain: bool,
        members: impl FnOnce() -> Result<Vec<Member>, Error>,
    ) -> Result<Told, Error> {
        if with_chain {
            return self.tell(tenant, &members()?, true);
        }
        let asked = match self.shared.told.get(tenant, id, known) {
            Ok(text) => {
                let Text { name, summary, actors, authors } = (*text).clone();
                return Ok(Told { name, summary, actors, authors, chain: None, read: 0 });
            }
            Err(asked) => asked,
        };
        let members = members()?;
        let told = self.tell(tenant, &members, false)?;
        let text = Text {
            name: told.name.clone(),
            summary: told.summary.clone(),
            actors: told.actors.clone(),
            authors: told.authors.clone(),
        };
        // They may have changed since it was asked.
        self.shared.told.put((tenant, scope), id, Stamp::of(&members), asked, text);
        Ok(told)
    }

    fn tell(&self, tenant: u32, members: &[Member], with_chain: bool) -> Result<Told, Error> {
        let half = EVENTS_READ_MAX / 2;
        let quoted = |index: usize| index < half || index + half >= members.len();
        let (mut told, mut known) = (Told::default(), BTreeSet::new());
        let (mut said, mut steps) = (Vec::new(), Vec::new());
        for (index, (observed, event, member)) in members.iter().enumerate() {
            let new = known.insert(member.actor);
            if !(new || quoted(index) || with_chain) {
                continue;
            }
            told.read += 1;
            let Some(spoken) = self.spoken(tenant, *event, quoted(index))? else { continue };
            if new {
                told.actors.push(spoken.who.observed_actor.id.clone());
            }
            told.authors.add(RecordAuthor {
                actor: spoken.who.observed_actor.id.clone(),
                caller: spoken.who.caller.clone(),
            });
            if with_chain {
                steps.push(Step {
                    event: *event,
                    observed: *observed,
                    preceded_by: spoken.what.context.preceded_by.clone(),
                    role: role(&spoken.what),
                });
            }
            if quoted(index) {
                said.push(spoken);
            }
        }
        let names: Vec<Vec<&str>> =
            said.iter().map(|spoken| spoken.names.iter().map(String::as_str).collect()).collect();
        let said: Vec<Said<'_>> = said
            .iter()
            .zip(&names)
            .map(|(spoken, names)| Said { text: text(&spoken.what.content), names })
            .collect();
        told.name = words::name(&said);
        told.summary = words::summary(&said);
        told.chain = with_chain.then(|| chain(&steps));
        Ok(told)
    }

    /// An event with its words, and the names in them if they are wanted; `None` once it is taken back.
    fn spoken(
        &self,
        tenant: u32,
        event: EventId,
        with_names: bool,
    ) -> Result<Option<Spoken>, Error> {
        let Some(row) = self.event_seen(tenant, event)? else { return Ok(None) };
        if row.listed().is_none() {
            return Ok(None);
        }
        let Some(entry) = self.sound_entry(row.offset, row.place)? else { return Ok(None) };
        let (who, what) = match (self.decode_who(&entry), self.decode_what(&entry)) {
            (Ok(who), Ok(what)) => (who, what),
            // Erased between the two looks.
            (Err(Error::Deleted), _) | (_, Err(Error::Deleted)) => return Ok(None),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        let names = match with_names {
            true => self.names(tenant, row.offset)?,
            false => Vec::new(),
        };
        Ok(Some(Spoken { who, what, names }))
    }

    /// The names that the last answer to an event found.
    fn names(&self, tenant: u32, event: u64) -> Result<Vec<String>, Error> {
        let Some((offset, place)) = answers_placed(&self.views, tenant, event)?.pop() else {
            return Ok(Vec::new());
        };
        let Some(entry) = self.sound_entry(offset, place)? else { return Ok(Vec::new()) };
        let Some(bytes) = entry.what.live() else { return Ok(Vec::new()) };
        let answer = Answer::decode(bytes).map_err(|_| Error::Undecodable { what: "an answer" })?;
        let mentions = &answer.extraction.mentions;
        let mentioned = |name: &String| mentions.iter().any(|mention| mention.name == *name);
        let named = terms(&answer).filter_map(|term| match term {
            Term::Named { name, .. } if !mentioned(name) => Some(name.clone()),
            _ => None,
        });
        Ok(mentions.iter().map(|mention| mention.name.clone()).chain(named).collect())
    }
}

/// What is worth quoting: structured content is for machines.
fn text(content: &Content) -> &str {
    match content {
        Content::Json { .. } | Content::Triple { .. } => "",
        words => words.text(),
    }
}

/// The role that an event names, by its type or by what its actor was after.
fn role(what: &ExperienceWhat) -> Option<Role> {
    let kind = match &what.content {
        Content::Json { data, .. } => lamina_models::kind_of(data),
        _ => None,
    };
    let named = kind.as_deref().and_then(Role::of_kind);
    named.or_else(|| what.context.intent.as_deref().and_then(Role::of_kind))
}
