//! What words tell about who is meant: decided before the answer is appended, and written into it.
//!
//! What kind of thing a name belongs to, which names the words themselves give somebody, and whether a
//! name that nobody bears is another spelling or a part of one that somebody does. For the last the
//! views are asked by keyed hashes, a few at a time and only about names that are new; the names of the
//! candidates are read from their answers, and `lamina-core` decides. What was said so recently that
//! the views do not have it yet is remembered here.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use lamina_core::derive::entities::{
    Known, Mentioned, NameKey, Nearness, Resolution, kind_of_name, kind_of_subject, names_by,
    near_keys, resolve,
};
use lamina_store::codec::answer::{Answer, Match};
use lamina_store::kv::{Direction, Space};
use lamina_store::log::LogReader;
use lamina_store::view::{Tag, ViewError, Views};
use lamina_types::EntityId;
use lamina_types::layer::{Effect, EntityKind, Object, Settling, Term};

use super::rows::{BearerRow, EntityRow, Pointer, read_bearers};
use super::{NAME, NEAR, PART, TENANT_WIDE, fold_name, is_personal, is_proper};
use crate::admin::said;
use crate::derive::fold::terms;
use crate::derive::key;
use crate::derive::read::{answer_row, row, walk};

/// Names that were said lately and that the views may not have yet.
const RECENT_MAX: usize = 256;
/// Names that are remembered to be known.
const KNOWN_MAX: usize = 16_384;
/// Candidates that are looked at for one key, and for one name.
const PER_KEY_MAX: usize = 4;
const CANDIDATES_MAX: usize = 16;
/// Longer words are no names.
const NAME_BYTES_MAX: usize = 256;

/// Knows who is called how.
#[derive(Debug)]
pub(crate) struct Acquaintance {
    views: Arc<Views>,
    reader: Arc<dyn LogReader>,
    memory: Mutex<Memory>,
}

#[derive(Debug, Default)]
struct Memory {
    known: HashSet<Said>,
    recent: VecDeque<Said>,
    ways: Ways,
}

/// What scopes ask to be done with values that exclude each other, for as long as no scope changes.
#[derive(Debug, Default)]
struct Ways {
    version: u64,
    known: HashMap<(u32, u64), Option<Settling>>,
}

/// A name that was said.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Said {
    tenant: u32,
    scope: u64,
    name: String,
    kind: EntityKind,
}

/// Somebody it could be, and how to name that one.
type Candidate = (Known, Term);

impl Acquaintance {
    /// Over these views.
    pub(crate) fn new(views: Arc<Views>, reader: Arc<dyn LogReader>) -> Acquaintance {
        Acquaintance { views, reader, memory: Mutex::default() }
    }

    /// Decides about the names of an answer. Without the views nothing is guessed.
    pub(crate) fn decide(&self, tenant: u32, scope: u64, answer: &mut Answer) {
        // Whatever was guessed in an earlier answer: what is known now decides.
        answer.matches.retain(|matched| matched.stated);
        let mut said: Vec<Said> = Vec::new();
        for term in terms(answer) {
            if let Term::Named { name, kind } = innermost(term)
                && is_proper(name)
                && name.len() <= NAME_BYTES_MAX
                && *kind != EntityKind::Identifier
                && !said.iter().any(|known| known.name == *name)
                && !answer.matches.iter().any(|matched| matched.name == *name)
            {
                said.push(Said { tenant, scope, name: name.clone(), kind: *kind });
            }
        }
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        said.retain(|said| !memory.known.contains(said));
        for said in said {
            match self.guess(&said, &memory.recent) {
                Ok(guess) => {
                    answer.matches.extend(guess);
                    memory.remember(said);
                }
                Err(error) => {
                    tracing::warn!(%error, "who is known cannot be read; nothing is guessed");
                }
            }
        }
    }

    /// What a scope asks to be done with values of one instant that exclude each other. Without the views
    /// they are left open.
    pub(crate) fn settling(&self, tenant: u32, scope: u64, version: u64) -> Option<Settling> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let ways = &mut memory.ways;
        if ways.version != version || ways.known.len() >= KNOWN_MAX {
            *ways = Ways { version, ..Ways::default() };
        }
        if let Some(known) = ways.known.get(&(tenant, scope)) {
            return *known;
        }
        match said::settling(&self.views, &*self.reader, tenant, scope) {
            Ok(way) => {
                ways.known.insert((tenant, scope), way);
                way
            }
            Err(error) => {
                tracing::warn!(%error, "a scope cannot be read; conflicts of it are left open");
                None
            }
        }
    }

    /// Whom a name may mean that nobody bears.
    fn guess(&self, said: &Said, recent: &VecDeque<Said>) -> Result<Option<Match>, ViewError> {
        let Some(name) = NameKey::new(&said.name, said.kind) else { return Ok(None) };
        if self.is_known(said, &name, recent)? {
            return Ok(None);
        }
        let mut candidates: BTreeMap<EntityId, Candidate> = BTreeMap::new();
        self.near(said, &name, &mut candidates)?;
        if matches!(said.kind, EntityKind::Person | EntityKind::Thing) {
            self.parts(said, &name, &mut candidates)?;
        }
        from_recent(said, &name, recent, &mut candidates);
        let known: Vec<Known> = candidates.values().map(|(known, _)| known.clone()).collect();
        let mentioned = Mentioned { name, kind: said.kind };
        let Resolution::Existing { id, confidence, .. } = resolve(&mentioned, &known) else {
            return Ok(None);
        };
        Ok(candidates.remove(&id).map(|(_, is)| Match {
            name: said.name.clone(),
            kind: said.kind,
            is,
            stated: false,
            confidence: confidence.get(),
        }))
    }

    /// Whether somebody bears the name, as far as one can see.
    fn is_known(
        &self,
        said: &Said,
        name: &NameKey,
        recent: &VecDeque<Said>,
    ) -> Result<bool, ViewError> {
        let tag = self.tag(said.tenant, NAME, &name.to_string())?;
        for domain in [said.scope, TENANT_WIDE] {
            if !self.bearers(said.tenant, domain, &tag)?.is_empty() {
                return Ok(true);
            }
        }
        let far = name.is_full() || !is_personal(said.kind);
        Ok(recent.iter().any(|other| {
            other.tenant == said.tenant
                && (far || other.scope == said.scope)
                && NameKey::new(&other.name, other.kind).as_ref() == Some(name)
        }))
    }

    /// Names that are written nearly the same.
    fn near(
        &self,
        said: &Said,
        name: &NameKey,
        candidates: &mut BTreeMap<EntityId, Candidate>,
    ) -> Result<(), ViewError> {
        let domains: &[u64] = match (said.kind, name.is_full()) {
            (EntityKind::Person | EntityKind::Animal, false) => return Ok(()),
            (EntityKind::Person | EntityKind::Animal, true) => &[said.scope],
            (EntityKind::Thing, true) => &[said.scope, TENANT_WIDE],
            _ => &[TENANT_WIDE],
        };
        for near in near_keys(name) {
            let tag = self.tag(said.tenant, NEAR, &near)?;
            for domain in domains {
                let bounds = key::all_near(said.tenant, *domain, &tag);
                self.take(said, bounds, *domain != TENANT_WIDE, candidates)?;
            }
        }
        Ok(())
    }

    /// Full names of the scope of which it is a part, and parts of it that somebody is known by.
    fn parts(
        &self,
        said: &Said,
        name: &NameKey,
        candidates: &mut BTreeMap<EntityId, Candidate>,
    ) -> Result<(), ViewError> {
        self.bearer_of_affair(said, name, candidates)?;
        let Some(last) = name.words().last() else { return Ok(()) };
        let tag = self.tag(said.tenant, PART, last)?;
        self.take(said, key::all_with_part(said.tenant, said.scope, &tag), true, candidates)?;
        let [first, .., last] = name.words() else { return Ok(()) };
        for word in [first, last] {
            let tag = self.tag(said.tenant, NAME, word)?;
            for bearer in self.bearers(said.tenant, said.scope, &tag)? {
                if !matches!(bearer.kind, EntityKind::Person | EntityKind::Thing)
                    || bearer.confidence < super::CERTAIN
                {
                    continue;
                }
                let entity = key::entity(said.tenant, bearer.id);
                let entity = row(&self.views, Space::Records, &entity, EntityRow::decode)?;
                if entity.is_none_or(|entity| entity.is_full) {
                    continue;
                }
                let names = NameKey::new(word, bearer.kind).into_iter().collect();
                let known =
                    Known { id: bearer.id, kind: bearer.kind, names, nearness: Nearness::Scope };
                let is = Term::Named { name: word.clone(), kind: bearer.kind };
                candidates.entry(bearer.id).or_insert((known, is));
            }
        }
        Ok(())
    }

    /// Whoever bears the name that an affair is called by: "the Acme deal".
    fn bearer_of_affair(
        &self,
        said: &Said,
        name: &NameKey,
        candidates: &mut BTreeMap<EntityId, Candidate>,
    ) -> Result<(), ViewError> {
        let Some(bearer) = name.bearer() else { return Ok(()) };
        let tag = self.tag(said.tenant, NAME, &bearer.to_string())?;
        for (domain, nearness) in [(said.scope, Nearness::Scope), (TENANT_WIDE, Nearness::Tenant)] {
            for BearerRow { id, kind, .. } in self.bearers(said.tenant, domain, &tag)? {
                let known = Known { id, kind, names: vec![bearer.clone()], nearness };
                let is = Term::Named { name: bearer.to_string(), kind };
                candidates.entry(id).or_insert((known, is));
            }
        }
        Ok(())
    }

    /// Takes the names that a list points to.
    fn take(
        &self,
        said: &Said,
        (from, to): (Vec<u8>, Vec<u8>),
        is_here: bool,
        candidates: &mut BTreeMap<EntityId, Candidate>,
    ) -> Result<(), ViewError> {
        let mut found: Vec<(Tag, Pointer)> = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
            found.extend(key::tail_id(key).zip(Pointer::decode(value).ok()));
            if found.len() < PER_KEY_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        for (tag, pointer) in found {
            if candidates.len() >= CANDIDATES_MAX {
                break;
            }
            let mut bearers = self.bearers(said.tenant, TENANT_WIDE, &tag)?;
            if is_here {
                bearers.extend(self.bearers(said.tenant, said.scope, &tag)?);
            }
            bearers.retain(|bearer| !candidates.contains_key(&bearer.id));
            if bearers.is_empty() {
                continue;
            }
            let Some(name) = self.name_at(said.tenant, pointer)? else { continue };
            let nearness = if is_here { Nearness::Scope } else { Nearness::Tenant };
            for BearerRow { id, kind, .. } in bearers {
                let names = NameKey::new(&name, kind).into_iter().collect();
                let known = Known { id, kind, names, nearness };
                candidates.insert(id, (known, Term::Named { name: name.clone(), kind }));
            }
        }
        Ok(())
    }

    /// The name that a term of an answer is; none once its words are erased.
    fn name_at(&self, tenant: u32, pointer: Pointer) -> Result<Option<String>, ViewError> {
        let Some(row) = answer_row(&self.views, tenant, pointer.answer)? else { return Ok(None) };
        let Ok(entry) = self.reader.entry(pointer.answer, row.place) else { return Ok(None) };
        let Some(bytes) = entry.what.live() else { return Ok(None) };
        let answer = Answer::decode(bytes)
            .map_err(|source| ViewError::Entry { offset: pointer.answer, source })?;
        let name = match terms(&answer).nth(usize::from(pointer.term)).map(innermost) {
            Some(Term::Named { name, .. }) => Some(name.clone()),
            _ => None,
        };
        Ok(name)
    }

    fn bearers(&self, tenant: u32, domain: u64, tag: &Tag) -> Result<Vec<BearerRow>, ViewError> {
        let alias = key::alias(tenant, domain, tag);
        Ok(row(&self.views, Space::Sources, &alias, read_bearers)?.unwrap_or_default())
    }

    fn tag(&self, tenant: u32, domain: &str, word: &str) -> Result<Tag, ViewError> {
        self.views.derived_tag(tenant, domain, &[word.as_bytes()])
    }
}

impl Memory {
    fn remember(&mut self, said: Said) {
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        if self.recent.len() >= RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(said.clone());
        self.known.insert(said);
    }
}

/// What the words themselves tell about names: what kind of thing bears them, and who is called how.
pub(crate) fn tell(answer: &mut Answer) {
    tell_kinds(answer);
    answer.matches = stated(answer);
}

/// Those who were spoken of so recently that the views may not know them.
fn from_recent(
    said: &Said,
    name: &NameKey,
    recent: &VecDeque<Said>,
    candidates: &mut BTreeMap<EntityId, Candidate>,
) {
    let starts = |name: &NameKey| name.words().first().and_then(|word| word.chars().next());
    for (at, other) in recent.iter().enumerate().filter(|(_, other)| other.tenant == said.tenant) {
        let Some(key) = NameKey::new(&other.name, other.kind) else { continue };
        let shares = key.words().iter().any(|word| name.words().contains(word));
        let is_known = candidates.values().any(|(known, _)| known.names.contains(&key));
        if is_known || !shares && starts(&key) != starts(name) {
            continue;
        }
        let near = other.scope == said.scope;
        // A first name says nothing about who is meant elsewhere.
        if !near && is_personal(other.kind) && !(key.is_full() && name.is_full()) {
            continue;
        }
        let nearness = if near { Nearness::Scope } else { Nearness::Tenant };
        // No entity has such an id: the version of a real one is part of it.
        let mut id = [0xff; 16];
        id[..8].copy_from_slice(&(at as u64).to_be_bytes());
        let id = EntityId::from_bytes(id);
        let known = Known { id, kind: other.kind, names: vec![key], nearness };
        let is = Term::Named { name: other.name.clone(), kind: other.kind };
        candidates.insert(id, (known, is));
    }
}

/// What the words tell about what kind of thing bears a name, for every term with that name.
fn tell_kinds(answer: &mut Answer) {
    let mut told: BTreeMap<String, EntityKind> = BTreeMap::new();
    for claim in &answer.extraction.claims {
        if let Term::Named { name, kind: EntityKind::Thing } = &claim.subject
            && is_proper(name)
            && let Some(kind) = kind_of_subject(&claim.predicate)
        {
            told.insert(name.clone(), kind);
        }
        let object = match &claim.object {
            Object::Entity(term) => Some(term),
            _ => None,
        };
        for term in std::iter::once(&claim.subject).chain(object) {
            match innermost(term) {
                Term::Named { name, kind: EntityKind::Thing } => {
                    told.extend(kind_of_name(name).map(|kind| (name.clone(), kind)));
                }
                Term::Named { name, kind } => {
                    told.insert(name.clone(), *kind);
                }
                Term::Actor(_) | Term::Of { .. } => {}
            }
        }
    }
    if told.is_empty() {
        return;
    }
    for claim in &mut answer.extraction.claims {
        set_kind(&mut claim.subject, &told);
        if let Object::Entity(term) = &mut claim.object {
            set_kind(term, &told);
        }
    }
}

fn set_kind(term: &mut Term, told: &BTreeMap<String, EntityKind>) {
    match term {
        Term::Named { name, kind } if *kind == EntityKind::Thing => {
            *kind = told.get(name).copied().unwrap_or(*kind);
        }
        Term::Of { owner, .. } => set_kind(owner, told),
        Term::Named { .. } | Term::Actor(_) => {}
    }
}

/// The names that the words give somebody.
fn stated(answer: &Answer) -> Vec<Match> {
    let mut matches = Vec::new();
    for (position, claim) in answer.extraction.claims.iter().enumerate() {
        let is_believed = u16::try_from(position).is_ok_and(|at| answer.is_believed(at));
        let holds = matches!(claim.effect, Effect::Holds | Effect::Corrects);
        let Object::Text(name) = &claim.object else { continue };
        let kind = match &claim.subject {
            Term::Actor(_) => EntityKind::Person,
            Term::Named { kind, .. } => *kind,
            Term::Of { .. } => EntityKind::Thing,
        };
        if !is_believed || !holds || name.len() > NAME_BYTES_MAX {
            continue;
        }
        let Some((kind, confidence)) = names_by(&claim.predicate, kind) else { continue };
        if fold_name(name, kind).is_empty() {
            continue;
        }
        let (name, is) = (name.clone(), claim.subject.clone());
        matches.push(Match { name, kind, is, stated: true, confidence });
    }
    matches
}

/// Whose something is, at last.
pub(crate) fn innermost(term: &Term) -> &Term {
    match term {
        Term::Of { owner, .. } => innermost(owner),
        other => other,
    }
}
