//! Sending an export to a destination. Most object stores want the length before the first byte, so the
//! bytes are made twice: once to count them, once to send them. Both passes are pinned to one point.

use std::sync::Arc;

use lamina_api::ApiError;
use lamina_outbound::{Endpoint, Error as OutboundError, OutboundBody, Request};
use lamina_types::ErrorCode;
use tokio::sync::mpsc;

use super::format::media;
use super::jobs::{ExportJob, ExportTurn};
use super::output::{Compression, PIECES_WAITING_MAX, PieceSender};
use super::reach::ExportReach;
use super::walk::{ExportStop, ExportSummary, walk};
use crate::http::App;
use crate::http::failure::chain;
use crate::secret::Secret;

/// Where an export goes.
#[derive(Debug)]
pub(crate) struct SendPlace {
    pub(crate) endpoint: Endpoint,
    pub(crate) credential: Option<Secret<String>>,
    pub(crate) compression: Compression,
}

/// Sends an export, and notes how that ended.
pub(crate) async fn send(
    app: Arc<App>,
    job: Arc<ExportJob>,
    mut reach: ExportReach,
    place: SendPlace,
    turn: ExportTurn,
) {
    job.begin();
    let outcome = transfer(&app, &job, &mut reach, place).await;
    let step = match outcome {
        Ok(summary) => job.end(&Ok(summary)),
        Err(SendFault::Stopped(stop)) => job.end(&Err(stop)),
        Err(SendFault::Refused(error)) => {
            job.fail(&error);
            None
        }
    };
    job.announce(&app.engine, reach.permit(), step);
    drop(turn);
}

enum SendFault {
    /// The export did not come to its end.
    Stopped(ExportStop),
    /// The destination did not take it.
    Refused(ApiError),
}

async fn transfer(
    app: &App,
    job: &ExportJob,
    reach: &mut ExportReach,
    place: SendPlace,
) -> Result<ExportSummary, SendFault> {
    let SendPlace { endpoint, credential, compression } = place;
    let (pieces, mut receiver) = mpsc::channel(PIECES_WAITING_MAX);
    let out = PieceSender { pieces, compression };
    let counting = async { while receiver.recv().await.is_some() {} };
    let (counted, ()) = tokio::join!(walk(reach, &job.plan, out, &|_| ()), counting);
    let counted = counted.map_err(SendFault::Stopped)?;
    let client = app.places.client().map_err(refused)?;
    let (pieces, body) = OutboundBody::channel(Some(counted.bytes));
    let mut request = Request::put(endpoint, body);
    let content_type = media(job.plan.format);
    let content_type =
        if compression == Compression::Gzip { "application/gzip" } else { content_type };
    request = request.header("content-type", content_type).map_err(refused)?;
    if let Some(credential) = &credential {
        request = request.header("authorization", credential.expose()).map_err(refused)?;
    }
    let permit = Arc::clone(reach.permit());
    let progress = |events| job.announce(&app.engine, &permit, job.advance(events));
    let out = PieceSender { pieces, compression };
    let (sent, answered) =
        tokio::join!(walk(reach, &job.plan, out, &progress), client.send(request));
    // The walk ends with `Closed` when the destination hangs up, whose answer says more.
    match (sent, answered.and_then(lamina_outbound::Answer::success)) {
        (Err(stop @ ExportStop::Failed(_)), _) => Err(SendFault::Stopped(stop)),
        (_, Err(error)) => Err(refused(error)),
        (Err(stop), Ok(_)) => Err(SendFault::Stopped(stop)),
        (Ok(summary), Ok(_)) => Ok(summary),
    }
}

/// The destination did not take the bytes. No message repeats its address.
fn refused(error: OutboundError) -> SendFault {
    tracing::warn!(error = chain(&error), "an export could not be sent");
    let text = format!("The export could not be sent: {error}.");
    SendFault::Refused(ApiError::new(ErrorCode::InvalidBody, text))
}
