//! Lines of our own export that are no events: vocabularies, cancellations, merges, decisions and declared
//! beliefs. Vocabularies hold before the events are read, the others need them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lamina_core::policy::Caller;
use lamina_engine::Noted;
use lamina_portable::export::LineKind;
use lamina_portable::foreign::{ForeignRow, Place, RowContent};
use lamina_portable::json::{ReadPolicy, parse};
use lamina_types::{ErrorCode, EventId, ScopePath};
use tokio::runtime::Handle;

use super::envelope::{RowRefusal, RowRules};
use super::permission::check_person;
use super::run::Stop;
use crate::http::App;
use crate::http::call::Desk;
use crate::http::record::Record;
use crate::transfer::controls::{ControlLine, ControlOutcome, ControlTarget, apply, settle};

/// Lines that wait for the events.
#[derive(Debug, Default)]
pub(super) struct ControlLines {
    rows: Vec<ForeignRow>,
}

/// Everything that the lines of a job need.
pub(super) struct ControlFrame<'a> {
    pub(super) app: &'a Arc<App>,
    pub(super) handle: &'a Handle,
    pub(super) caller: &'a Caller,
    pub(super) rules: &'a RowRules,
    pub(super) tenant: u32,
    pub(super) is_dry: bool,
}

/// A line that was not done.
pub(super) struct RefusedLine {
    pub(super) place: Place,
    pub(super) refusal: RowRefusal,
}

/// Lines that were not done.
#[derive(Default)]
pub(super) struct SettledLines {
    pub(super) refused: Vec<RefusedLine>,
}

impl ControlLines {
    pub(super) fn hold(&mut self, row: ForeignRow) {
        self.rows.push(row);
    }

    /// Does what the lines say, in their order. Derivation has come to all events before the first line that
    /// is about derived records, and again after cancellations.
    pub(super) fn apply_rest(self, frame: &ControlFrame<'_>) -> Result<SettledLines, Stop> {
        let mut settled = SettledLines::default();
        let mut calm: BTreeSet<ScopePath> = BTreeSet::new();
        for row in self.rows {
            let read = match frame.read(&row) {
                Ok(read) => read,
                Err(refusal) => {
                    settled.refused.push(RefusedLine { place: row.place, refusal });
                    continue;
                }
            };
            if frame.is_dry {
                continue;
            }
            let needs_calm = read.line.kind() != LineKind::Cancellation;
            if needs_calm && calm.insert(read.scope.clone()) {
                match frame.handle.block_on(settle(&frame.target(&read.scope))) {
                    Ok(_) => {}
                    // Where the caller may not read, its lines are refused one by one.
                    Err(failure) if failure.error.status < 500 => {}
                    Err(failure) => return Err(failure.into()),
                }
            }
            if let Some(refusal) = frame.apply(&read)? {
                settled.refused.push(RefusedLine { place: row.place, refusal });
            }
        }
        Ok(settled)
    }
}

/// Does what a line says that comes before the events.
pub(super) fn apply_first(row: ForeignRow, frame: &ControlFrame<'_>) -> Result<SettledLines, Stop> {
    let refusal = match frame.read(&row) {
        Ok(_) if frame.is_dry => None,
        Ok(read) => frame.apply(&read)?,
        Err(refusal) => Some(refusal),
    };
    let refused = refusal.map(|refusal| RefusedLine { place: row.place, refusal });
    Ok(SettledLines { refused: refused.into_iter().collect() })
}

/// A line and the scope that it is about here.
struct ReadLine {
    line: ControlLine,
    scope: ScopePath,
}

impl ControlFrame<'_> {
    fn read(&self, row: &ForeignRow) -> Result<ReadLine, RowRefusal> {
        let invalid = |detail: String| RowRefusal::error(ErrorCode::InvalidEnvelope, detail);
        let RowContent::Line { line, body } = &row.content else {
            return Err(invalid("is no line of an export".to_owned()));
        };
        let kind = LineKind::find(line).ok_or_else(|| invalid(format!("`{line}` is no line")))?;
        let value = parse(body.as_bytes(), &ReadPolicy::STRICT)
            .map_err(|error| invalid(error.to_string()))?;
        let line = ControlLine::read(kind, &value).map_err(invalid)?;
        let scope =
            self.rules.line_scope(Some(line.scope()).filter(|named| !named.is_empty()), row)?;
        let scope: ScopePath =
            scope.parse().map_err(|error: lamina_types::scope::ScopeError| {
                RowRefusal::error(ErrorCode::InvalidScopeGrammar, error.to_string())
            })?;
        check_person(self.caller, &scope)?;
        Ok(ReadLine { line, scope })
    }

    fn target(&self, scope: &ScopePath) -> ControlTarget {
        let audit_id = self.app.engine.audit_id();
        ControlTarget {
            desk: Desk { app: Arc::clone(self.app), record: Arc::new(Record::default()) },
            caller: self.caller.clone(),
            scope: scope.clone(),
            noted: Noted { audit_id, request_id: String::new(), note: String::new() },
        }
    }

    /// Does what a line says. A refusal of the policy costs the line.
    fn apply(&self, read: &ReadLine) -> Result<Option<RowRefusal>, Stop> {
        let ReadLine { line, scope } = read;
        let mut events: BTreeMap<EventId, EventId> = BTreeMap::new();
        for exported in line.events() {
            let engine = &self.app.engine;
            let (format, source_id) = (self.rules.format.name(), exported.to_string());
            let found = engine.import_event(self.tenant, format, &source_id, scope);
            if let Some(event) = self.handle.block_on(found)? {
                events.insert(exported, event);
            }
        }
        match self.handle.block_on(apply(line, &self.target(scope), &events)) {
            Ok(ControlOutcome::Applied | ControlOutcome::Known) => Ok(None),
            Ok(ControlOutcome::Skipped { why }) => Ok(Some(RowRefusal::Skip(why))),
            Err(failure) if failure.error.status < 500 => Ok(Some(failure.error.into())),
            Err(failure) => Err(failure.into()),
        }
    }
}
