//! Idempotency keys of events that an erasure took: refused for a day, so that whoever sends the same once more does
//! not bring back what somebody wanted gone. Then they are free again.
//!
//! The erasure names them, because a replay never sees the events' words. Each applied entry forgets at most a
//! few, so that a replay forgets the same ones.

use lamina_types::limits::IDEMPOTENCY_TTL_US;
use lamina_types::{Micros, RecordedAt};

use crate::codec::CodecError;
use crate::kv::Space;
use crate::view::fold::{Fold, row_error};
use crate::view::revoked::Ends;
use crate::view::row::IdempotencyRow;
use crate::view::{Tag, ViewError, key};

/// Keys forgotten for each applied entry.
const STEPS_PER_ENTRY: usize = 4;

impl Ends {
    pub(crate) fn of_refused(earliest: Option<Micros>) -> Ends {
        Ends { earliest, from: key::refused_ends().0 }
    }
}

impl Fold<'_> {
    /// The key of an event that was erased now is refused.
    pub(crate) fn refuse_key(
        &mut self,
        (offset, used): (u64, &Tag),
        at: RecordedAt,
    ) -> Result<(), ViewError> {
        let Some(event) = self.event_of(offset)? else { return Ok(()) };
        let mut uses = self.key_uses(event.tenant, used)?;
        uses.retain(|row| row.offset != offset);
        uses.push(IdempotencyRow {
            event_id: event.id,
            offset,
            place: event.place,
            body_mac: [0; 32],
            recorded_at: at,
            batch_id: None,
        });
        self.put_key_uses(event.tenant, used, &uses);
        let end = at.0.plus(IDEMPOTENCY_TTL_US);
        self.put(Space::Scopes, key::refused_end(end, event.tenant, used, offset), []);
        self.refused.earliest = self.refused.earliest.map(|earliest| earliest.min(end));
        Ok(())
    }

    /// Frees keys whose day is over.
    pub(crate) fn free_refused(&mut self, now: Micros) -> Result<(), ViewError> {
        for _ in 0..STEPS_PER_ENTRY {
            if self.refused.earliest.is_some_and(|earliest| earliest > now) {
                return Ok(());
            }
            let first = self.first_key(&self.refused.from, &key::refused_ends())?;
            self.refused.from = first.from;
            let Some(first) = first.key else {
                self.refused.earliest = Some(Micros::MAX);
                return Ok(());
            };
            let Some((end, tenant, used, offset)) = key::refused_end_of(&first) else {
                return Err(row_error(Space::Scopes)(CodecError::Truncated));
            };
            if end > now {
                self.refused.earliest = Some(end);
                return Ok(());
            }
            self.delete(Space::Scopes, first);
            self.forget_key(tenant, &used, offset)?;
        }
        Ok(())
    }
}
