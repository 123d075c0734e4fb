//! Facts that count in other tracks, because entities became one or are two again: what an episode
//! contributes stays the same, and is counted where it stands now.

use std::collections::BTreeMap;

use lamina_core::derive::concepts::When;
use lamina_core::derive::facts::AssertionId;
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::{EpisodeId, ValidAt};

use super::{Recount, Step, counted, key, things_row};
use crate::derive::entities::merge::Operation;
use crate::derive::facts::Moved;

/// Counts what an operation has moved in its new tracks.
pub(in crate::derive) fn moved(
    rows: &mut Rows<'_, '_>,
    by: &Operation,
    moved: &[Moved],
) -> Result<(), ViewError> {
    let tenant = by.tenant;
    let when = When { at: by.recorded, valid: ValidAt(by.recorded.0) };
    let step = Step { tenant, when, seed: by.seed };
    let mut tracks: BTreeMap<(u64, Tag), Vec<(AssertionId, EpisodeId)>> = BTreeMap::new();
    for one in moved {
        tracks.entry((one.scope, one.old.track)).or_default();
        let Some(mut row) = things_row(rows, tenant, one.origin.offset)? else { continue };
        for stated in &mut row.facts {
            if (stated.scope, stated.track, stated.source)
                == (one.scope, one.old.track, one.old.source)
            {
                (stated.track, stated.source) = (one.new.track, one.new.source);
            }
        }
        rows.put(Space::Sources, key::things(tenant, one.origin.offset), row.encode());
        if let Some(episode) = row.episode {
            let track = tracks.entry((one.scope, one.new.track)).or_default();
            track.push((one.new.source, episode));
        }
    }
    let mut recount = Recount::default();
    for ((scope, track), again) in tracks {
        let before = counted(rows, tenant, scope, &track)?;
        recount.track(rows, &step, (scope, track), before, &again)?;
    }
    recount.done(rows, &step)
}
