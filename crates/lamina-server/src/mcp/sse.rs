//! The older transport of two endpoints: `GET /sse` opens a stream and names the place for messages, and answers to
//! messages that are posted there come back on the stream. For configurations that were made for it.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request as HttpRequest, StatusCode, Uri};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use lamina_api::ApiError;
use lamina_api::routes::OtherEndpoint;
use lamina_core::policy::Caller;
use lamina_env::rng::draw;
use lamina_types::stdx::hex;
use lamina_types::{ActorId, ErrorCode, SessionScope};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::endpoint;
use super::rpc::MESSAGE_BYTES_MAX;
use crate::auth::bound::bound_session;
use crate::http::answer::{self as http_answer, Answer};
use crate::http::call::Call;
use crate::http::site::Site;
use crate::http::sse::{self, Next, Source};

/// The path of the streams.
pub(crate) const STREAM_PATH: &str = "/sse";
/// The path of the messages.
pub(crate) const MESSAGES_PATH: &str = OtherEndpoint::McpMessages.path();
/// Streams of one server.
const STREAMS_MAX: usize = 1_024;
/// Answers that wait for a stream.
const WAITING_MAX: usize = 64;

/// The open streams.
#[derive(Debug, Default)]
pub(crate) struct SseStreams(Arc<Mutex<HashMap<String, OpenStream>>>);

/// An open stream.
#[derive(Debug, Clone)]
struct OpenStream {
    answers: mpsc::Sender<Bytes>,
    owner: StreamOwner,
    /// The query of its address: project, session and profile.
    query: String,
}

/// Who may post to a stream: the one who opened it, for the same session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StreamOwner {
    tenant: u32,
    actor: ActorId,
    session: Option<SessionScope>,
}

impl StreamOwner {
    fn of(caller: &Caller) -> StreamOwner {
        StreamOwner {
            tenant: caller.tenant,
            actor: caller.actor.clone(),
            session: bound_session(caller),
        }
    }
}

/// Opens a stream.
pub(crate) fn open(call: Call) -> Answer {
    Box::pin(async move {
        let caller = call.caller()?;
        let id = hex::encode(&draw::<16>(&*call.app.env.rng));
        let (answers, receiver) = mpsc::channel(WAITING_MAX);
        let query = call.head.uri.query().unwrap_or("profile=zaxy").to_owned();
        let query =
            if query.contains("profile=") { query } else { format!("{query}&profile=zaxy") };
        let open = OpenStream { answers, owner: StreamOwner::of(&caller), query };
        {
            let mut streams = call.app.mcp.streams.0.lock();
            streams.retain(|_, open| !open.answers.is_closed());
            if streams.len() >= STREAMS_MAX {
                let text = format!("{STREAMS_MAX} streams are open; close one, or call POST /mcp.");
                return Err(ApiError::new(ErrorCode::RateLimited, text).into());
            }
            streams.insert(id.clone(), open);
        }
        let first = format!("{MESSAGES_PATH}?session_id={id}");
        let first = Some(sse::frame(None, "endpoint", first.as_bytes()));
        Ok(sse::response(AnswerStream { first, receiver }, call.app.closing.clone()))
    })
}

/// Takes a message; its answer goes to the stream.
pub(crate) fn message(mut call: Call) -> Answer {
    Box::pin(async move {
        let caller = call.caller()?;
        let pairs = call.pairs()?;
        let id = pairs.iter().find(|(name, _)| name == "session_id").map(|(_, id)| id.as_str());
        let open = id.and_then(|id| call.app.mcp.streams.0.lock().get(id).cloned());
        let is_own = |open: &OpenStream| open.owner == StreamOwner::of(&caller);
        let open =
            open.filter(is_own).filter(|open| !open.answers.is_closed()).ok_or_else(|| {
                let text = "There is no such stream of this caller; open one with GET /sse.";
                ApiError::new(ErrorCode::NotFound, text)
            })?;
        let body = call.json_body(MESSAGE_BYTES_MAX as u64).await?;
        let mut head = call.head.clone();
        if let Ok(uri) = format!("{}?{}", endpoint::PATH, open.query).parse::<Uri>() {
            head.uri = uri;
        }
        let request = HttpRequest::from_parts(head, Body::from(body));
        let app = Arc::clone(&call.app);
        tokio::spawn(async move {
            let site = Arc::new(Site::of_mcp());
            let answered = http_answer::answer(app, site, endpoint::handle, request).await;
            let Ok(body) = answered.into_body().collect().await else { return };
            let body = body.to_bytes();
            if !body.is_empty() {
                // A stream that is closed has nobody left to answer.
                let _ = open.answers.send(sse::frame(None, "message", &body)).await;
            }
        });
        let mut response = Response::new(Body::from("Accepted"));
        *response.status_mut() = StatusCode::ACCEPTED;
        Ok(response)
    })
}

/// The endpoint, then answers until the client is gone.
struct AnswerStream {
    first: Option<Bytes>,
    receiver: mpsc::Receiver<Bytes>,
}

impl Source for AnswerStream {
    async fn next(&mut self) -> Next {
        if let Some(first) = self.first.take() {
            return Next::Frame(first);
        }
        match self.receiver.recv().await {
            Some(frame) => Next::Frame(frame),
            None => Next::Done,
        }
    }
}
