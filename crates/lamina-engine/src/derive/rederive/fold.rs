//! The rows of runs: where each began, in which scope, how many answers it has brought, and whether it
//! is through.

use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::codec::control::{RederiveBegun, RederiveEnded};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{Entry, Head, control};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::{JobId, RecordedAt};

use crate::derive::fold::row_error;
use crate::derive::key;
use crate::derive::read;
use crate::derive::rows::{Read, done, flag, instant, optional, put_instant, put_optional};

/// A run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunRow {
    /// The offset of the entry that began it: its answers name it among their causes.
    pub(crate) begun: u64,
    pub(crate) scope: u64,
    pub(crate) at: RecordedAt,
    pub(crate) undoes: Option<JobId>,
    pub(crate) replaces_models: bool,
    /// Answers so far.
    pub(crate) answers: u64,
    pub(crate) ended: Option<RecordedAt>,
}

/// A control entry about a run.
pub(crate) fn control(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(what) = entry.what.live() else { return Ok(()) };
    let Head { tenant, scope, offset, recorded_at, .. } = entry.head;
    let bad = |source| ViewError::Entry { offset, source };
    match entry.head.sub {
        control::REDERIVE_BEGUN => {
            let RederiveBegun { run, undoes, replaces_models } =
                RederiveBegun::decode(what).map_err(bad)?;
            let row = RunRow {
                begun: offset,
                scope,
                at: recorded_at,
                undoes,
                replaces_models,
                answers: 0,
                ended: None,
            };
            rows.put(Space::Records, key::run(tenant, run), row.encode());
            rows.put(Space::Sources, key::run_at(tenant, offset), run.as_bytes().to_vec());
            Ok(())
        }
        control::REDERIVE_ENDED => {
            let RederiveEnded { run, .. } = RederiveEnded::decode(what).map_err(bad)?;
            change(rows, tenant, run, |row| row.ended = Some(recorded_at))
        }
        _ => Ok(()),
    }
}

/// Counts an answer of a run; whether it is one.
pub(crate) fn answered(rows: &mut Rows<'_, '_>, head: &Head) -> Result<bool, ViewError> {
    let Some(begun) = head.causes.get(1) else { return Ok(false) };
    let run = rows.get(Space::Sources, &key::run_at(head.tenant, *begun))?;
    let Some(run) = run.and_then(|bytes| bytes.try_into().ok()) else { return Ok(false) };
    change(rows, head.tenant, JobId::from_bytes(run), |row| row.answers += 1)?;
    Ok(true)
}

fn change(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    run: JobId,
    with: impl Fn(&mut RunRow),
) -> Result<(), ViewError> {
    let key = key::run(tenant, run);
    let Some(bytes) = rows.get(Space::Records, &key)? else { return Ok(()) };
    let mut row = RunRow::decode(&bytes).map_err(row_error(Space::Records))?;
    with(&mut row);
    rows.put(Space::Records, key, row.encode());
    Ok(())
}

/// A run.
pub(crate) fn run(views: &Views, tenant: u32, run: JobId) -> Result<Option<RunRow>, ViewError> {
    read::row(views, Space::Records, &key::run(tenant, run), RunRow::decode)
}

/// The runs of a tenant, the oldest first: their ids are in the order of time.
pub(crate) fn runs(views: &Views, tenant: u32) -> Result<Vec<(JobId, RunRow)>, ViewError> {
    let (from, to) = key::runs(tenant);
    let mut found: Vec<Result<_, CodecError>> = Vec::new();
    read::walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
        let id = key::tail_id(key).ok_or(CodecError::Truncated);
        found.push(id.and_then(|id| Ok((JobId::from_bytes(id), RunRow::decode(value)?))));
        ControlFlow::Continue(())
    })?;
    found.into_iter().collect::<Result<_, _>>().map_err(row_error(Space::Records))
}

impl RunRow {
    fn encode(&self) -> Vec<u8> {
        let RunRow { begun, scope, at, undoes, replaces_models, answers, ended } = self;
        let mut out = Vec::with_capacity(64);
        put_varint(&mut out, *begun);
        put_varint(&mut out, *scope);
        put_instant(&mut out, at.0);
        put_optional(&mut out, undoes.as_ref(), |out, run| out.extend_from_slice(run.as_bytes()));
        out.push(u8::from(*replaces_models));
        put_varint(&mut out, *answers);
        put_optional(&mut out, ended.as_ref(), |out, at| put_instant(out, at.0));
        out
    }

    fn decode(bytes: &[u8]) -> Read<RunRow> {
        let mut from = Cursor::new(bytes);
        let row = RunRow {
            begun: from.varint()?,
            scope: from.varint()?,
            at: RecordedAt(instant(&mut from)?),
            undoes: optional(&mut from, |from| from.array().map(JobId::from_bytes))?,
            replaces_models: flag(&mut from)?,
            answers: from.varint()?,
            ended: optional(&mut from, instant)?.map(RecordedAt),
        };
        done(&from, row)
    }
}
