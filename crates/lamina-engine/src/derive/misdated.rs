//! Stretches of the log that are not dated by the machine's clock.
//!
//! While nobody vouches for a clock that is far ahead, the log goes on with its own time. If the clock turns out to be
//! right, the events of that stretch look older than they are. So two entries mark the stretch, and retention counts
//! the age of its events from the end of it.

use std::ops::ControlFlow;

use lamina_store::entry::{Entry, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::{Micros, RecordedAt};

use super::key::{retention as key, tail_number};
use super::read::walk;

/// One stretch: from the entry that begins it, before the one that ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MisdatedSpan {
    from: u64,
    /// The entry that ends it, and when that was recorded; `None` if nothing has ended it.
    end: Option<(u64, Micros)>,
}

/// All stretches of the log that are not dated by the machine's clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MisdatedSpans(Vec<MisdatedSpan>);

impl MisdatedSpans {
    /// Those that are marked in the log.
    pub(crate) fn read(views: &Views) -> Result<MisdatedSpans, ViewError> {
        let mut spans = MisdatedSpans::default();
        let (from, to) = key::clock_marks();
        walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
            if let (Some(offset), Some(mark)) = (tail_number(key), Mark::decode(value)) {
                spans.push(offset, mark);
            }
            ControlFlow::Continue(())
        })?;
        Ok(spans)
    }

    /// Whether the last one has no end.
    pub(crate) fn is_open(&self) -> bool {
        self.0.last().is_some_and(|span| span.end.is_none())
    }

    /// When an entry was recorded at the latest: by its date, or by the end of the stretch that it is in. What is in a
    /// stretch without an end is as young as can be.
    pub(crate) fn recorded_by(&self, offset: u64, dated: RecordedAt, now: Micros) -> Micros {
        let within = |span: &&MisdatedSpan| {
            span.from <= offset && span.end.is_none_or(|(end, _)| offset < end)
        };
        let span = self.0.iter().rfind(within);
        let latest = span.map(|span| span.end.map_or(now, |(_, at)| at));
        latest.map_or(dated.0, |latest| latest.max(dated.0))
    }

    fn push(&mut self, offset: u64, mark: Mark) {
        match (mark, self.is_open()) {
            (Mark::Doubted, false) => self.0.push(MisdatedSpan { from: offset, end: None }),
            (Mark::Trusted(at), true) => {
                if let Some(span) = self.0.last_mut() {
                    span.end = Some((offset, at));
                }
            }
            (Mark::Doubted, true) | (Mark::Trusted(_), false) => {}
        }
    }
}

/// What a marking entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Doubted,
    Trusted(Micros),
}

impl Mark {
    fn encode(self) -> Vec<u8> {
        match self {
            Mark::Doubted => Vec::new(),
            Mark::Trusted(at) => at.0.to_be_bytes().to_vec(),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Mark> {
        if bytes.is_empty() {
            return Some(Mark::Doubted);
        }
        Some(Mark::Trusted(Micros(i64::from_be_bytes(bytes.try_into().ok()?))))
    }
}

/// Notes whether the log goes by another clock from here on.
pub(super) fn note(rows: &mut Rows<'_, '_>, entry: &Entry) {
    let mark = match entry.head.sub {
        control::CLOCK_DOUBTED => Mark::Doubted,
        control::CLOCK_TRUSTED => Mark::Trusted(entry.head.at()),
        _ => return,
    };
    rows.put(Space::Sources, key::clock_mark(entry.head.offset), mark.encode());
}

#[cfg(test)]
mod tests;
