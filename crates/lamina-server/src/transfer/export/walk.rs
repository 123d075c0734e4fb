//! The walk of an export: events in the order of the log, the decisions about them, then every layer that
//! was asked for. One page is in memory at a time.

use std::io::Write as _;
use std::sync::Arc;

use lamina_api::v1::exports::ExportLayer;
use lamina_engine::Error as EngineError;
use lamina_engine::read::export::{CancelledEvent, ExportPageStart};
use lamina_portable::export::{
    ExportFrame, ExportHeader, ExportRecord, ExportWriter, FinishedExport,
};
use lamina_portable::loss::LossAccount;
use lamina_types::ScopeView;
use lamina_types::capability::VocabularyRead;

use super::output::{PieceBuffer, PieceSender, PieceWriter};
use super::reach::ExportReach;
use super::session::{SessionBytes, session_bytes};
use super::{ExportPlan, SessionPlan, pam, records};
use crate::http::failure::{Failure, internal};

/// Bytes of a session that are compressed at once.
const SESSION_PIECE_BYTES: usize = 64 << 10;

/// An export that was made to its end.
#[derive(Debug)]
pub(crate) struct ExportSummary {
    /// Bytes that were sent.
    pub(crate) bytes: u64,
    /// The account of its records.
    pub(crate) account: LossAccount,
}

/// Why an export did not come to its end.
#[derive(Debug)]
pub(crate) enum ExportStop {
    /// The receiver went away.
    Closed,
    /// It cannot go on.
    Failed(Failure),
}

impl From<Failure> for ExportStop {
    fn from(failure: Failure) -> ExportStop {
        ExportStop::Failed(failure)
    }
}

impl From<EngineError> for ExportStop {
    fn from(error: EngineError) -> ExportStop {
        ExportStop::Failed(error.into())
    }
}

/// Makes the bytes of an export and sends them. `progress` is told the number of events so far.
pub(crate) async fn walk(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    out: PieceSender,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<ExportSummary, ExportStop> {
    if let Some(session) = &plan.session {
        return send_session(reach, plan, session, Outlet { out, progress }).await;
    }
    #[cfg(feature = "aegx")]
    if let Some(terms) = &plan.evidence {
        return super::evidence::walk(reach, plan, terms, out, progress).await;
    }
    if let Some(terms) = &plan.pam {
        return pam::walk(reach, plan, terms, out, progress).await;
    }
    let Some(format) = plan.format.records() else {
        return Err(internal(format!("{} has no records", plan.format.name())).into());
    };
    let frame = ExportFrame { scope: plan.point.scope.to_string(), as_of: plan.point.recorded.0 };
    let buffer = PieceBuffer::default();
    let writer = PieceWriter::new(buffer.clone(), out.compression);
    let writer = ExportWriter::new(format, frame, writer);
    let mut walker = Walker { reach, plan, out, buffer, writer, bytes: 0 };
    walker.push(&header(plan)).await?;
    if plan.has(ExportLayer::Events) {
        walker.vocabularies().await?;
        let cancelled = walker.events(progress).await?;
        for event in cancelled.iter() {
            walker.push(&records::cancellation(event)).await?;
        }
        walker.decisions().await?;
    }
    walker.layers().await?;
    walker.finish().await
}

/// Where the bytes of a session go, and who is told how far it is.
struct Outlet<'a> {
    out: PieceSender,
    progress: &'a (dyn Fn(u64) + Send + Sync),
}

/// Sends a session, whose bytes are made at once.
async fn send_session(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    session: &SessionPlan,
    outlet: Outlet<'_>,
) -> Result<ExportSummary, ExportStop> {
    let Outlet { out, progress } = outlet;
    let SessionBytes { text, account } = session_bytes(reach, plan, session, progress).await?;
    let buffer = PieceBuffer::default();
    let mut writer = PieceWriter::new(buffer.clone(), out.compression);
    let mut bytes = 0;
    let failed = |error: std::io::Error| internal(error.to_string());
    for piece in text.as_bytes().chunks(SESSION_PIECE_BYTES) {
        writer.write_all(piece).map_err(failed)?;
        if let Some(piece) = buffer.full() {
            bytes += piece.len() as u64;
            out.pieces.send(Ok(piece)).await.map_err(|_| ExportStop::Closed)?;
        }
    }
    writer.finish().map_err(failed)?;
    let rest = buffer.rest();
    bytes += rest.len() as u64;
    if !rest.is_empty() {
        out.pieces.send(Ok(rest)).await.map_err(|_| ExportStop::Closed)?;
    }
    Ok(ExportSummary { bytes, account })
}

fn header(plan: &ExportPlan) -> ExportRecord {
    ExportRecord::Header(ExportHeader {
        scope: plan.point.scope.to_string(),
        descends: plan.view == ScopeView::Descend,
        as_of: plan.point.recorded.0,
        layers: plan.layers.iter().map(|layer| layer.as_str().to_owned()).collect(),
    })
}

struct Walker<'a> {
    reach: &'a mut ExportReach,
    plan: &'a ExportPlan,
    out: PieceSender,
    buffer: PieceBuffer,
    writer: ExportWriter<PieceWriter>,
    bytes: u64,
}

impl Walker<'_> {
    async fn push(&mut self, record: &ExportRecord) -> Result<(), ExportStop> {
        self.writer.push(record).map_err(|error| internal(error.to_string()))?;
        match self.buffer.full() {
            Some(piece) => self.send(piece).await,
            None => Ok(()),
        }
    }

    async fn send(&mut self, piece: bytes::Bytes) -> Result<(), ExportStop> {
        self.bytes += piece.len() as u64;
        self.out.pieces.send(Ok(piece)).await.map_err(|_| ExportStop::Closed)
    }

    async fn finish(self) -> Result<ExportSummary, ExportStop> {
        let Walker { reach: _, plan: _, out, buffer, writer, bytes } = self;
        let finished = writer.finish().map_err(|error| internal(error.to_string()))?;
        let FinishedExport { out: writer, account } = finished;
        writer.finish().map_err(|error| internal(error.to_string()))?;
        let rest = buffer.rest();
        let bytes = bytes + rest.len() as u64;
        if !rest.is_empty() {
            out.pieces.send(Ok(rest)).await.map_err(|_| ExportStop::Closed)?;
        }
        Ok(ExportSummary { bytes, account })
    }

    /// The vocabularies of the scopes, for callers that may read vocabularies.
    async fn vocabularies(&mut self) -> Result<(), ExportStop> {
        let (desk, caller) = (self.reach.desk().clone(), self.reach.caller().clone());
        let permit = desk.app.stack(&caller, None).await?.permit::<VocabularyRead>(&caller, None);
        let Ok(permit) = permit else { return Ok(()) };
        for record in desk.app.engine.vocabulary_list(&permit) {
            let scope = record.vocabulary.scope.as_ref();
            let is_here = scope.is_some_and(|scope| self.reach.permit().covers(scope));
            if is_here
                && record.created <= self.plan.point.recorded
                && let Some(line) = records::vocabulary(&record)
            {
                self.push(&line).await?;
            }
        }
        Ok(())
    }

    /// All events; those that were cancelled are handed on.
    async fn events(
        &mut self,
        progress: &(dyn Fn(u64) + Send + Sync),
    ) -> Result<Arc<Vec<CancelledEvent>>, ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let point = &self.plan.point;
        let cancelled = engine.export_cancelled(self.reach.permit(), point).await?;
        let cancelled = Arc::new(cancelled);
        let (mut after, mut count) = (None, 0);
        loop {
            self.reach.renew(self.plan).await?;
            let start = ExportPageStart { after, cancelled: Arc::clone(&cancelled) };
            let page = engine.export_events(self.reach.permit(), point, start).await?;
            count += page.items.len() as u64;
            for item in page.items {
                self.push(&records::event(item)).await?;
            }
            progress(count);
            after = page.next;
            if after.is_none() {
                return Ok(cancelled);
            }
        }
    }

    /// Merges of entities, decided conflicts and declared beliefs.
    async fn decisions(&mut self) -> Result<(), ExportStop> {
        let engine = self.reach.desk().app.engine.clone();
        let point = &self.plan.point;
        self.reach.renew(self.plan).await?;
        for merge in engine.export_merges(self.reach.permit(), point).await? {
            self.push(&records::merge(&merge)).await?;
        }
        let mut before = None;
        loop {
            self.reach.renew(self.plan).await?;
            let (decided, next) =
                engine.export_decisions(self.reach.permit(), point, before).await?;
            for record in decided.iter().filter_map(records::decision) {
                self.push(&record).await?;
            }
            before = next;
            if before.is_none() {
                break;
            }
        }
        self.reach.renew(self.plan).await?;
        for declared in engine.export_declarations(self.reach.permit(), point).await? {
            self.push(&records::declaration(&declared)).await?;
        }
        Ok(())
    }

    async fn layers(&mut self) -> Result<(), ExportStop> {
        let layers = self.plan.layers.clone();
        for layer in layers {
            let mut after = None;
            loop {
                self.reach.renew(self.plan).await?;
                let (records, next) = match layer {
                    ExportLayer::Events => break,
                    ExportLayer::Facts => self.facts(after).await?,
                    ExportLayer::Beliefs => self.beliefs(after).await?,
                    ExportLayer::Episodes => self.episodes(after).await?,
                    ExportLayer::Concepts => self.concepts(after).await?,
                };
                for record in records {
                    self.push(&record).await?;
                }
                after = next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn facts(&mut self, after: LayerPosition) -> Result<LayerPage, ExportStop> {
        let engine = &self.reach.desk().app.engine;
        let page = engine.export_facts(self.reach.permit(), &self.plan.point, after).await?;
        Ok((page.items.iter().flat_map(records::facts).collect(), page.next))
    }

    async fn beliefs(&mut self, after: LayerPosition) -> Result<LayerPage, ExportStop> {
        let engine = &self.reach.desk().app.engine;
        let page = engine.export_beliefs(self.reach.permit(), &self.plan.point, after).await?;
        Ok((page.items.iter().map(records::belief).collect(), page.next))
    }

    async fn episodes(&mut self, after: LayerPosition) -> Result<LayerPage, ExportStop> {
        let engine = &self.reach.desk().app.engine;
        let page = engine.export_episodes(self.reach.permit(), &self.plan.point, after).await?;
        Ok((page.items.iter().map(records::episode).collect(), page.next))
    }

    async fn concepts(&mut self, after: LayerPosition) -> Result<LayerPage, ExportStop> {
        let engine = &self.reach.desk().app.engine;
        let Some(may) = self.reach.concepts() else { return Ok((Vec::new(), None)) };
        let page = engine.export_concepts(may, &self.plan.point, after).await?;
        Ok((page.items.iter().map(records::concept).collect(), page.next))
    }
}

/// After which record of a layer a page begins.
type LayerPosition = Option<lamina_engine::read::facts::FactKey>;
/// The records of a page, and where the next one begins.
type LayerPage = (Vec<ExportRecord>, LayerPosition);
