//! JSON-RPC 2.0 as MCP uses it: one message in, one answer out.

use serde_json::{Map, Value, json};

/// The text is no JSON.
pub(crate) const PARSE_ERROR: i64 = -32_700;
/// The JSON is no message.
pub(crate) const INVALID_REQUEST: i64 = -32_600;
/// No method has this name.
pub(crate) const METHOD_NOT_FOUND: i64 = -32_601;
/// The parameters do not fit the method.
pub(crate) const INVALID_PARAMS: i64 = -32_602;
/// The server failed, or refuses before it looks at the method.
pub(crate) const SERVER_ERROR: i64 = -32_000;
/// A header of a request contradicts its body.
pub(crate) const HEADER_MISMATCH: i64 = -32_020;
/// The server does not speak the version of a request.
pub(crate) const UNSUPPORTED_VERSION: i64 = -32_022;

/// The one version that has batches.
pub(crate) const BATCH_VERSION: &str = "2025-03-26";
/// Messages of a batch.
pub(crate) const BATCH_MESSAGES_MAX: usize = 64;
/// Bytes of one message, or of a batch.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// Bytes of an id that is a text.
const ID_BYTES_MAX: usize = 1_024;
/// Bytes of the name of a method.
const METHOD_BYTES_MAX: usize = 128;

/// A message from a client.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Message {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Answers a request of the server. This server makes none.
    Answer,
}

/// What one body or one line holds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Incoming {
    Single(Message),
    /// Messages of a batch, each as far as it can be read.
    Batch(Vec<Result<Message, Box<Unreadable>>>),
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    /// A text or a whole number; the answer carries it.
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// A notification.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notification {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// An error of the protocol. Failures of tools are results and not errors.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    pub(crate) data: Option<Box<Value>>,
    /// The status of the answer over HTTP.
    pub(crate) status: u16,
}

/// A message that cannot be read, and the id that its answer carries as far as one is known.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unreadable {
    pub(crate) id: Value,
    pub(crate) error: RpcError,
}

impl Request {
    /// The message as it is sent.
    pub(crate) fn to_json(&self) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "method": self.method, "params": self.params})
    }
}

impl RpcError {
    /// An error that is an answer like others.
    pub(crate) fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None, status: 200 }
    }

    /// An error of the request itself: 400 over HTTP.
    pub(crate) fn bad_request(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { status: 400, ..RpcError::new(code, message) }
    }

    pub(crate) fn with_data(self, data: Value) -> RpcError {
        RpcError { data: Some(Box::new(data)), ..self }
    }

    /// The message that answers a request with this error.
    pub(crate) fn answer(self, id: &Value) -> Value {
        let mut error = json!({"code": self.code, "message": self.message});
        if let (Some(error), Some(data)) = (error.as_object_mut(), self.data) {
            error.insert("data".to_owned(), *data);
        }
        json!({"jsonrpc": "2.0", "id": id, "error": error})
    }
}

/// The message that answers a request.
pub(crate) fn answer(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Reads one message, or a batch of them.
pub(crate) fn read(bytes: &[u8]) -> Result<Incoming, Box<Unreadable>> {
    let unreadable = |error| Box::new(Unreadable { id: Value::Null, error });
    if bytes.len() > MESSAGE_BYTES_MAX {
        let text = format!("A message has at most {MESSAGE_BYTES_MAX} bytes.");
        return Err(unreadable(RpcError::bad_request(INVALID_REQUEST, text)));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        unreadable(RpcError::bad_request(PARSE_ERROR, format!("The message is no JSON: {error}.")))
    })?;
    match value {
        Value::Array(messages) => batch(messages),
        value => message(value).map(Incoming::Single),
    }
}

/// Reads the messages of a batch. `initialize` and other batches have no place in one.
fn batch(messages: Vec<Value>) -> Result<Incoming, Box<Unreadable>> {
    let refused = |id: Value, text: String| {
        Box::new(Unreadable { id, error: RpcError::bad_request(INVALID_REQUEST, text) })
    };
    if messages.is_empty() || messages.len() > BATCH_MESSAGES_MAX {
        let text = format!("A batch has 1 to {BATCH_MESSAGES_MAX} messages.");
        return Err(refused(Value::Null, text));
    }
    let read = messages.into_iter().map(|value| match message(value)? {
        Message::Request(request) if request.method == "initialize" => {
            Err(refused(request.id, "`initialize` stands alone, never in a batch.".to_owned()))
        }
        message => Ok(message),
    });
    Ok(Incoming::Batch(read.collect()))
}

/// The refusal of a batch of a version that has none.
pub(crate) fn no_batch() -> RpcError {
    let text = format!("Only version {BATCH_VERSION} has batches. Send one message at a time.");
    RpcError::bad_request(INVALID_REQUEST, text)
}

/// Reads a message that is JSON already.
pub(crate) fn message(value: Value) -> Result<Message, Box<Unreadable>> {
    let invalid = |id: &Value, text: &str| {
        let error = RpcError::bad_request(INVALID_REQUEST, text);
        Box::new(Unreadable { id: id.clone(), error })
    };
    let Value::Object(mut object) = value else {
        let text = "A message is one JSON object.";
        return Err(invalid(&Value::Null, text));
    };
    let id = object.remove("id");
    let known = id.clone().filter(is_id).unwrap_or(Value::Null);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(&known, "`jsonrpc` must be \"2.0\"."));
    }
    let Some(method) = object.remove("method") else {
        return match object.contains_key("result") || object.contains_key("error") {
            true => Ok(Message::Answer),
            false => Err(invalid(&known, "The message has no `method`.")),
        };
    };
    let method = match method {
        Value::String(method) if method.len() <= METHOD_BYTES_MAX => method,
        _ => return Err(invalid(&known, "`method` must be a text of at most 128 bytes.")),
    };
    let params = match object.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            let error = RpcError::bad_request(INVALID_PARAMS, "`params` must be an object.");
            return Err(Box::new(Unreadable { id: known, error }));
        }
    };
    match id {
        None => Ok(Message::Notification(Notification { method, params })),
        Some(id) if is_id(&id) => Ok(Message::Request(Request { id, method, params })),
        Some(_) => {
            let text = "`id` must be a whole number or a text of at most 1024 bytes.";
            Err(invalid(&Value::Null, text))
        }
    }
}

fn is_id(id: &Value) -> bool {
    match id {
        Value::Number(number) => number.is_i64() || number.is_u64(),
        Value::String(text) => text.len() <= ID_BYTES_MAX,
        _ => false,
    }
}
