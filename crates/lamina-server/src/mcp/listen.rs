//! `subscriptions/listen`: a stream that is acknowledged at once. Nothing that this server lists changes while it
//! runs, so that the acknowledged filter is empty and no notification follows.

use axum::response::Response;
use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::era::META_SUBSCRIPTION;
use super::rpc::{INVALID_PARAMS, RpcError, answer};
use crate::http::listen::Closing;
use crate::http::sse::{self, Next, Source};

/// The first message on the stream of a subscription.
pub(crate) fn acknowledgement(id: &Value, params: &Map<String, Value>) -> Result<Value, RpcError> {
    if !params.get("notifications").is_some_and(Value::is_object) {
        let text = "`notifications` is required, and an object.";
        return Err(RpcError::bad_request(INVALID_PARAMS, text));
    }
    Ok(json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {META_SUBSCRIPTION: id}, "notifications": {}},
    }))
}

/// The message that ends a subscription from the side of the server.
pub(crate) fn ended(id: &Value) -> Value {
    answer(id, json!({"resultType": "complete", "_meta": {META_SUBSCRIPTION: id}}))
}

/// The stream over HTTP: the acknowledgement, then comments until either side closes.
pub(crate) fn stream(acknowledged: &Value, closing: Closing) -> Response {
    let first = sse::frame(None, "message", acknowledged.to_string().as_bytes());
    sse::response(Subscription { first: Some(first) }, closing)
}

struct Subscription {
    first: Option<Bytes>,
}

impl Source for Subscription {
    async fn next(&mut self) -> Next {
        match self.first.take() {
            Some(first) => Next::Frame(first),
            None => std::future::pending().await,
        }
    }
}
