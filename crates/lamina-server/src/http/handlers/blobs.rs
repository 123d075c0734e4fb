//! Blobs: uploaded as a form or as bare bytes, spooled to disk piece by piece, streamed back.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRequest as _, Multipart, Request};
use axum::http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use lamina_api::ApiError;
use lamina_api::v1::blobs::{BlobDeleted, BlobFacts, BlobUploaded, upload_key};
use lamina_core::policy::Permit;
use lamina_engine::{
    BlobReader, BlobRecord, BlobSaid, BlobUpload as Spool, Engine, Error as EngineError,
};
use lamina_types::capability::{BlobRead, BlobUpload, PolicyAdministerDeployment};
use lamina_types::{BlobId, ErrorCode};
use tokio::time::timeout;

use super::blocking;
use crate::http::body;
use crate::http::call::Call;
use crate::http::failure::{Failure, internal};
use crate::http::hashed::hashed;
use crate::http::paced::paced;
use crate::http::reply;

/// Pieces are collected up to this size before a thread is asked to write them.
const SPOOL_BYTES: usize = 1 << 20;
/// A blob is read back in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;
/// What a form may cost beyond the file it carries.
const FORM_BYTES_MAX: u64 = 64 << 10;
const CONTENT_TYPE_CHARS_MAX: usize = 255;
const UNKNOWN_TYPE: &str = "application/octet-stream";
const FIELD: &str = "file";

/// `POST /v1/blobs`.
pub(super) async fn upload(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = call.desk.permit::<BlobUpload>(&caller, None).await?;
    let key = call.idempotency_key()?.map(upload_key).transpose()?;
    let bytes_max = call.app.limits.blob_bytes;
    let declared = call.header_text(CONTENT_TYPE.as_str())?.unwrap_or(UNKNOWN_TYPE).to_owned();
    let is_form = declared.to_ascii_lowercase().starts_with("multipart/form-data");
    let room = if is_form { bytes_max.saturating_add(FORM_BYTES_MAX) } else { bytes_max };
    if body::declared(call.headers()).is_some_and(|bytes| bytes > room) {
        let body = std::mem::take(&mut call.body);
        body::drain(call.headers(), body).await;
        return Err(EngineError::BlobTooLarge { max: bytes_max }.into());
    }
    let hash = call.app.engine.audit_pepper(caller.tenant).ok().map(|pepper| {
        let (body, hash) = hashed(std::mem::take(&mut call.body), &pepper);
        call.body = body;
        hash
    });
    let read = receive(&mut call, &permit, declared, is_form).await;
    if let Some(hash) = hash {
        hash.note(&call.record);
    }
    let (spool, content_type) = read?;
    let noted = call.noted("");
    let said = BlobSaid { content_type: checked_type(content_type)?, key };
    let stored = call.app.engine.blob_finish(&permit, spool, said, &noted).await?;
    let mut response = reply::json(StatusCode::CREATED, &uploaded(&stored.record))?;
    if stored.replayed {
        response.headers_mut().insert(reply::REPLAY, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// The bytes of an upload on disk, and their content type.
async fn receive(
    call: &mut Call,
    permit: &Permit<BlobUpload>,
    declared: String,
    is_form: bool,
) -> Result<(Spool, String), Failure> {
    let mut spooler = Spooler::start(&call.app.engine, permit)?;
    let content_type = if is_form {
        read_form(call, &mut spooler).await?
    } else {
        let mut body = std::mem::take(&mut call.body);
        while let Some(piece) = body::piece(&mut body, call.app.body_timeout()).await? {
            if let Err(failure) = spooler.add(piece).await {
                body::drain(call.headers(), body).await;
                return Err(failure);
            }
        }
        declared
    };
    Ok((spooler.finish().await?, content_type))
}

/// `GET /v1/blobs/{blob_id}`. The bytes are a stranger's: a browser must neither guess what they are
/// nor show them.
pub(super) async fn download(mut call: Call) -> Result<Response, Failure> {
    let id: BlobId = call.path_id("blob_id").await?;
    let caller = call.caller()?;
    let (desk, engine) = (call.desk.clone(), call.app.engine.clone());
    let permit = desk.permit::<BlobRead>(&caller, None).await?;
    let sight = engine.sight(desk.app.boot(), &permit).await;
    let (record, reader) = engine.blob(&permit, sight, id).await?;
    let mut response = Response::new(streamed(reader, record.size_bytes));
    let headers = response.headers_mut();
    let content_type = HeaderValue::try_from(&record.content_type);
    headers.insert(CONTENT_TYPE, content_type.unwrap_or(HeaderValue::from_static(UNKNOWN_TYPE)));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(record.size_bytes));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("none"));
    Ok(response)
}

/// `DELETE /v1/blobs/{blob_id}`: by who uploaded it, or an operator.
pub(super) async fn delete(mut call: Call) -> Result<Response, Failure> {
    let id: BlobId = call.path_id("blob_id").await?;
    let caller = call.caller()?;
    let (desk, engine) = (call.desk.clone(), call.app.engine.clone());
    let permit = desk.permit::<BlobUpload>(&caller, None).await?;
    let operator = match engine.blob_uploader(&permit, id)? == caller.actor {
        true => None,
        false => {
            // What one may not read is as absent as what is not there.
            let sight = engine.sight(desk.app.boot(), &permit).await;
            if !caller.operator && !engine.blob_is_seen(sight, id).await? {
                return Err(EngineError::NotFound.into());
            }
            Some(desk.permit::<PolicyAdministerDeployment>(&caller, None).await?)
        }
    };
    let noted = call.noted("");
    let record = engine.blob_delete(&permit, operator.as_ref(), id, &noted).await?;
    let shape = BlobDeleted { blob_id: record.id.to_string(), bytes_deleted: record.size_bytes };
    reply::json(StatusCode::OK, &shape)
}

/// Writes to disk in large pieces, on threads that may wait for it.
struct Spooler {
    spool: Option<Spool>,
    waiting: BytesMut,
}

impl Spooler {
    fn start(engine: &Engine, permit: &Permit<BlobUpload>) -> Result<Spooler, Failure> {
        Ok(Spooler { spool: Some(engine.blob_start(permit)?), waiting: BytesMut::new() })
    }

    async fn add(&mut self, piece: Bytes) -> Result<(), Failure> {
        self.waiting.extend_from_slice(&piece);
        if self.waiting.len() >= SPOOL_BYTES { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        let bytes = self.waiting.split().freeze();
        let mut spool =
            self.spool.take().ok_or_else(|| internal("an upload went on after it had failed"))?;
        let written = blocking(move || spool.write(&bytes).map(|()| spool)).await?;
        self.spool = Some(written?);
        Ok(())
    }

    async fn finish(mut self) -> Result<Spool, Failure> {
        self.flush().await?;
        self.spool.ok_or_else(|| internal("an upload went on after it had failed"))
    }
}

/// Reads the one field `file` of a form and gives back its content type.
async fn read_form(call: &mut Call, spooler: &mut Spooler) -> Result<String, Failure> {
    let time = call.app.body_timeout();
    let (body, meter) = paced(std::mem::take(&mut call.body));
    let mut request = Request::new(body);
    *request.headers_mut() = call.headers().clone();
    // The spooler has the limit; the extractor's own would be far below it.
    DefaultBodyLimit::disable().apply(&mut request);
    let mut form =
        Multipart::from_request(request, &()).await.map_err(|_| bad_form("has no boundary"))?;
    let mut content_type = None;
    while let Some(mut field) = in_time(time, form.next_field()).await? {
        let name = field.name().unwrap_or_default();
        if name != FIELD || content_type.is_some() {
            let reason = if name == FIELD {
                "was given more than once"
            } else {
                "unknown field; send `file`"
            };
            let name: String = name.chars().take(64).collect();
            return Err(ApiError::invalid_shape(name, reason).into());
        }
        content_type = Some(field.content_type().unwrap_or(UNKNOWN_TYPE).to_owned());
        while let Some(piece) = in_time(time, field.chunk()).await? {
            let bytes = piece.len();
            spooler.add(piece).await?;
            meter.used(bytes);
        }
    }
    content_type.ok_or_else(|| {
        ApiError::at(ErrorCode::MissingRequiredField, FIELD, "the form has no such field").into()
    })
}

async fn in_time<T>(
    time: Duration,
    step: impl Future<Output = Result<T, axum::extract::multipart::MultipartError>>,
) -> Result<T, Failure> {
    match timeout(time, step).await {
        Err(_) => Err(ApiError::of(ErrorCode::RequestTimeout).into()),
        Ok(Err(_)) => Err(bad_form("is cut short or badly formed").into()),
        Ok(Ok(value)) => Ok(value),
    }
}

fn bad_form(reason: &str) -> ApiError {
    ApiError::new(ErrorCode::InvalidBody, format!("The multipart body {reason}."))
        .with("reason", reason)
}

/// A content type comes back in a header one day, so it has to fit into one.
fn checked_type(content_type: String) -> Result<String, ApiError> {
    let fits = content_type.len() <= CONTENT_TYPE_CHARS_MAX
        && content_type.contains('/')
        && content_type.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if fits {
        return Ok(content_type);
    }
    let reason =
        format!("must be `type/subtype` in at most {CONTENT_TYPE_CHARS_MAX} ASCII characters");
    Err(ApiError::at(ErrorCode::UnsupportedMediaType, "Content-Type", reason))
}

fn uploaded(record: &BlobRecord) -> BlobUploaded {
    BlobUploaded::from(BlobFacts {
        id: record.id,
        size_bytes: record.size_bytes,
        content_type: &record.content_type,
        sha256: &record.sha256,
        perceptual_hash: record.perceptual_hash,
    })
}

/// The bytes of a blob, read one piece ahead of the client at most.
fn streamed(reader: BlobReader, size: u64) -> Body {
    Body::from_stream(stream::unfold((Some(reader), 0u64), move |(reader, at)| async move {
        let reader = reader.filter(|_| at < size)?;
        let read = blocking(move || {
            let mut piece = vec![0; PIECE_BYTES];
            let count = reader.read_at(&mut piece, at);
            count.map(|count| {
                piece.truncate(count);
                (piece, reader)
            })
        });
        match read.await {
            Ok(Ok((piece, reader))) if !piece.is_empty() => {
                let next = at + piece.len() as u64;
                Some((Ok(Bytes::from(piece)), (Some(reader), next)))
            }
            Ok(Err(error)) => Some((Err(error), (None, at))),
            // Shorter than its record: the length that was promised breaks the response off.
            Ok(Ok(_)) | Err(_) => Some((Err(std::io::ErrorKind::UnexpectedEof.into()), (None, at))),
        }
    }))
}
