//! A source on its way into staging: text of a request, the body of an upload, or a file that is fetched.

use bytes::{Bytes, BytesMut};
use lamina_api::ApiError;
use lamina_core::policy::Caller;
use lamina_engine::import::{ImportUpload, StagedFile};
use lamina_engine::{Engine, Error as EngineError};
use lamina_outbound::{Error as OutboundError, Request};

use super::super::blocking;
use crate::http::App;
use crate::http::body;
use crate::http::call::Call;
use crate::http::failure::{Failure, internal};
use crate::http::hashed::hashed;
use crate::transfer::places::Direction;

/// Pieces are collected up to this size before a thread is asked to write them.
const SPOOL_BYTES: usize = 1 << 20;
/// Pieces of a fetched source that wait for the disk.
const PIECES_AHEAD: usize = 64;

/// Stages a text.
pub(super) async fn text(engine: &Engine, text: String) -> Result<StagedFile, Failure> {
    let mut upload = engine.import_stage()?;
    let staged = blocking(move || {
        upload.write(text.as_bytes())?;
        upload.finish()
    });
    Ok(staged.await??)
}

/// Stages the body of a request, piece by piece.
pub(super) async fn upload(call: &mut Call, caller: &Caller) -> Result<StagedFile, Failure> {
    let bytes_max = call.app.limits.import_bytes;
    if body::declared(call.headers()).is_some_and(|bytes| bytes > bytes_max) {
        let refused = std::mem::take(&mut call.body);
        body::drain(call.headers(), refused).await;
        return Err(EngineError::ImportTooLarge { max: bytes_max }.into());
    }
    let hash = call.app.engine.audit_pepper(caller.tenant).ok().map(|pepper| {
        let (body, hash) = hashed(std::mem::take(&mut call.body), &pepper);
        call.body = body;
        hash
    });
    let staged = receive(call).await;
    if let Some(hash) = hash {
        hash.note(&call.record);
    }
    staged
}

async fn receive(call: &mut Call) -> Result<StagedFile, Failure> {
    let mut spool = SourceSpool::start(&call.app.engine)?;
    let mut body = std::mem::take(&mut call.body);
    while let Some(piece) = body::piece(&mut body, call.app.body_timeout()).await? {
        if let Err(failure) = spool.add(piece).await {
            body::drain(call.headers(), body).await;
            return Err(failure);
        }
    }
    spool.finish().await
}

/// Fetches a source from a host that the operator has named.
pub(super) async fn fetch(
    app: &App,
    url: &str,
    credentials_ref: Option<&str>,
) -> Result<StagedFile, Failure> {
    const FIELD: &str = "source.url";
    let endpoint = app.places.endpoint(url, FIELD, Direction::In)?;
    let mut request = Request::get(endpoint);
    if let Some(name) = credentials_ref.filter(|name| !name.is_empty()) {
        let credential = app.places.credential(name, "source.credentials_ref")?;
        request = request.header("authorization", credential.expose()).map_err(|error| {
            ApiError::invalid_shape("source.credentials_ref", error.to_string())
        })?;
    }
    let refuse = |error: OutboundError| {
        ApiError::invalid_shape(FIELD, format!("could not be fetched: {error}"))
    };
    let client = app.places.client().map_err(|error| internal(error.to_string()))?;
    let upload = app.engine.import_stage()?;
    // Pieces are written on a thread that may wait for the disk.
    let (sender, pieces) = std::sync::mpsc::sync_channel::<Bytes>(PIECES_AHEAD);
    let writing = tokio::task::spawn_blocking(move || write_pieces(upload, &pieces));
    let mut sink = |piece: Bytes| {
        let sent = sender.send(piece);
        sent.map_err(|_| std::io::Error::other("the staging area takes no more"))
    };
    let answer = client.receive(request, &mut sink).await;
    drop(sender);
    let written = writing.await.map_err(|error| internal(error.to_string()))?;
    let answer = match answer {
        Err(OutboundError::Sink(_)) => {
            return Err(written
                .err()
                .map_or_else(|| internal("a fetched source was cut off"), Failure::from));
        }
        answer => answer.map_err(refuse)?,
    };
    answer.success().map_err(refuse)?;
    let upload = written?;
    Ok(blocking(move || upload.finish()).await??)
}

fn write_pieces(
    mut upload: ImportUpload,
    pieces: &std::sync::mpsc::Receiver<Bytes>,
) -> Result<ImportUpload, EngineError> {
    while let Ok(piece) = pieces.recv() {
        upload.write(&piece)?;
    }
    Ok(upload)
}

/// Writes to staging in large pieces, on threads that may wait for the disk.
struct SourceSpool {
    upload: Option<ImportUpload>,
    waiting: BytesMut,
}

impl SourceSpool {
    fn start(engine: &Engine) -> Result<SourceSpool, Failure> {
        Ok(SourceSpool { upload: Some(engine.import_stage()?), waiting: BytesMut::new() })
    }

    async fn add(&mut self, piece: Bytes) -> Result<(), Failure> {
        self.waiting.extend_from_slice(&piece);
        if self.waiting.len() >= SPOOL_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        let bytes = self.waiting.split().freeze();
        let mut upload =
            self.upload.take().ok_or_else(|| internal("an upload went on after it had failed"))?;
        let written = blocking(move || upload.write(&bytes).map(|()| upload)).await?;
        self.upload = Some(written?);
        Ok(())
    }

    async fn finish(mut self) -> Result<StagedFile, Failure> {
        self.flush().await?;
        let upload =
            self.upload.ok_or_else(|| internal("an upload went on after it had failed"))?;
        Ok(blocking(move || upload.finish()).await??)
    }
}
