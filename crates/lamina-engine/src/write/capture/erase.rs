//! Erasing sections of entries, and with them the answers that were made of their words.
//!
//! An erasure carries what the fold had used of each entry, without its words, so that a replay comes to
//! the rows that are there (`derive::words`).

use std::collections::BTreeSet;

use lamina_store::codec::answer::{Answer, AnswerWho};
use lamina_store::codec::control::BeliefDeclared;
use lamina_store::entry::{Kind, Place, control};
use lamina_store::log::{Appended, EraseTarget, LogError};
use lamina_store::view::{Residue, Tag, ViewError};
use lamina_types::limits::CAUSES_MAX;

use super::{Capture, Committed, Due};
use crate::Error;
use crate::derive::traces;
use crate::derive::words::{Kept, declared};
use crate::write::request::{Remains, Reply};

/// Bytes that one erasure carries of its targets: an entry has a limit of its own.
const RESIDUE_BYTES_MAX: usize = if cfg!(test) { 2_048 } else { 1_024 * 1_024 };

/// An entry that is erased, and what is left of it.
struct Gone {
    target: EraseTarget,
    kept: Option<Vec<u8>>,
    /// Where what was made of it stays.
    stays: Option<Vec<u64>>,
    /// A keyed hash of the idempotency key that is refused from now on.
    key: Option<Tag>,
}

impl Gone {
    /// Bytes that it takes of an erasure, roughly.
    fn bytes(&self) -> usize {
        let kept = self.kept.as_ref().map_or(0, Vec::len);
        kept + self.stays.as_ref().map_or(0, |stays| 16 + 8 * stays.len()) + 24
    }
}

impl Capture {
    /// Erases sections of entries that are applied, and with them the answers that were made of
    /// their words: on return the bytes are gone.
    pub fn erase(&mut self, tenant: u32, targets: &[EraseTarget]) -> Result<Committed, LogError> {
        let mut committed = Committed::default();
        self.erase_all(tenant, (targets, &Remains::default()), &mut committed.appended)?;
        Ok(committed)
    }

    /// Does what a request asks for. However many answers there are, an event goes with its own.
    pub(super) fn take_erasure(
        &mut self,
        tenant: u32,
        asked: (&[EraseTarget], &Remains),
        reply: Reply<()>,
        committed: &mut Committed,
    ) {
        match self.erase_all(tenant, asked, &mut committed.appended) {
            Ok(()) => committed.due.push(Due::TakenBack { reply }),
            Err(error) => drop(reply.send(Err(Error::LogUnavailable(Box::new(error))))),
        }
    }

    /// What was appended before something failed is durable, and has to reach the views.
    fn erase_all(
        &mut self,
        tenant: u32,
        (targets, remains): (&[EraseTarget], &Remains),
        appended: &mut Vec<Appended>,
    ) -> Result<(), LogError> {
        let mut batch: Vec<Gone> = Vec::new();
        let mut bytes = 0;
        let has_decisions = traces::has_decisions(&self.views, tenant).map_err(unknown)?;
        let mut bare: BTreeSet<u64> = BTreeSet::new();
        for target in targets {
            let reasons = match has_decisions {
                true => self.reasons(tenant, target.offset)?,
                false => Vec::new(),
            };
            let reasons = reasons.into_iter().filter(|gone| bare.insert(gone.target.offset));
            for gone in reasons.chain(self.with_answers(tenant, target, remains)?) {
                let more = gone.bytes();
                if batch.len() == CAUSES_MAX || bytes + more > RESIDUE_BYTES_MAX {
                    self.erase_some(tenant, &mut batch, appended)?;
                    bytes = 0;
                }
                bytes += more;
                batch.push(gone);
            }
        }
        self.erase_some(tenant, &mut batch, appended)?;
        self.recent.erased.extend(targets.iter().map(|target| target.offset));
        Ok(())
    }

    fn erase_some(
        &mut self,
        tenant: u32,
        batch: &mut Vec<Gone>,
        appended: &mut Vec<Appended>,
    ) -> Result<(), LogError> {
        if batch.is_empty() {
            return Ok(());
        }
        let targets: Vec<EraseTarget> = batch.iter().map(|gone| gone.target).collect();
        let mut residue = Residue::default();
        for Gone { target, kept, stays, key } in batch.drain(..) {
            residue.kept.extend(kept.map(|kept| (target.offset, kept)));
            residue.stays.extend(stays.map(|stays| (target.offset, stays)));
            residue.keys.extend(key.map(|key| (target.offset, key)));
        }
        appended.extend(self.log.erase(tenant, &targets, &residue.encode())?);
        Ok(())
    }

    /// Every answer that was made of an entry, and the entry itself: last, so that whoever finds it there
    /// after a crash finds what is left of its answers.
    fn with_answers(
        &self,
        tenant: u32,
        target: &EraseTarget,
        remains: &Remains,
    ) -> Result<Vec<Gone>, LogError> {
        let stays = remains.stays.get(&target.offset);
        // An erasure that leaves words behind is none: without the views it is not begun.
        let known = traces::of_event(&self.views, tenant, target.offset).map_err(unknown)?;
        let recent = self.recent.answers.get(&target.offset).into_iter().flatten().copied();
        let mut all: Vec<Gone> = Vec::new();
        for (offset, place) in known.into_iter().chain(recent) {
            if all.iter().all(|other| other.target.offset != offset) {
                let target = EraseTarget { offset, place, who: true, what: true };
                let kept = self.kept(tenant, offset, place)?;
                all.push(Gone { target, kept, stays: stays.cloned(), key: None });
            }
        }
        let event = self.views.event_at(target.offset).map_err(unknown)?;
        let (kept, key) = match event {
            Some((tenant, id)) if remains.refuse_keys => {
                let facets = self.views.event(tenant, id).map_err(unknown)?;
                let facets = facets.and_then(|row| row.facets);
                (None, facets.map(|facets| facets.idempotency))
            }
            Some(_) => (None, None),
            None if target.what => (self.kept(tenant, target.offset, target.place)?, None),
            None => (None, None),
        };
        all.push(Gone { target: *target, kept, stays: stays.cloned(), key });
        Ok(all)
    }

    /// Why something was decided about what an event says, and by whom. What was decided stands.
    fn reasons(&self, tenant: u32, event: u64) -> Result<Vec<Gone>, LogError> {
        let answers = traces::of_event(&self.views, tenant, event).map_err(unknown)?;
        let answers = answers.into_iter().map(|(offset, _)| offset);
        let mut all = Vec::new();
        for (offset, place) in
            traces::decided_about(&self.views, tenant, answers).map_err(unknown)?
        {
            if self.log.reader().entry(offset, place)?.who.live().is_some() {
                let target = EraseTarget { offset, place, who: true, what: false };
                all.push(Gone { target, kept: None, stays: None, key: None });
            }
        }
        Ok(all)
    }

    /// What the fold needs of an entry that is about to be erased; `None` if it is nothing, or gone already.
    fn kept(&self, tenant: u32, offset: u64, place: Place) -> Result<Option<Vec<u8>>, LogError> {
        let entry = self.log.reader().entry(offset, place)?;
        let Some(what) = entry.what.live() else { return Ok(None) };
        let hash = |domain: &str, parts: &[&[u8]]| self.views.derived_tag(tenant, domain, parts);
        let unreadable = |source| unknown(ViewError::Entry { offset, source });
        match (entry.head.kind, entry.head.sub) {
            (Kind::Answer, _) => {
                let Some(who) = entry.who.live() else { return Ok(None) };
                let answer = Answer::decode(what).map_err(unreadable)?;
                let who = AnswerWho::decode(who).map_err(unreadable)?;
                let path = |path: &_| self.views.path_tag(tenant, path);
                let kept = Kept::of(&hash, &path, &answer, &who).map_err(unknown)?;
                Ok(Some(kept.encode()))
            }
            (Kind::Control, control::BELIEF_DECLARED) => {
                let what = BeliefDeclared::decode(what).map_err(unreadable)?;
                let kept = declared::without_words(&hash, &what).map_err(unknown)?;
                Ok(Some(kept.encode()))
            }
            // It has no words: what was decided is ids and keyed hashes.
            (Kind::Control, control::CONFLICT_RESOLVED) => Ok(Some(what.to_vec())),
            _ => Ok(None),
        }
    }
}

fn unknown(error: ViewError) -> LogError {
    LogError::Views(error.to_string())
}
