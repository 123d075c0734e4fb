//! Which rules a request follows: those of the versions with `initialize`, or those of 2026-07-28, where every
//! request says in `_meta` what its client speaks.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::rpc::{
    HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, Request, RpcError, UNSUPPORTED_VERSION,
};

/// The version without `initialize`.
pub(crate) const MODERN: &str = "2026-07-28";
/// The versions with `initialize`, newest first.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The version of a request.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// What the client of a request can do.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Who the client of a request is.
pub(crate) const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// Who the server of a result is.
pub(crate) const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// The request that a message on a subscription belongs to.
pub(crate) const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The version of the protocol that a client speaks.
pub(crate) const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

/// Methods that only clients of the modern version call.
const MODERN_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];
/// Methods that the modern version has no more.
const LEGACY_METHODS: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The rules of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2024-11-05 to 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

/// The `_meta` of parameters.
pub(crate) fn meta(params: &Map<String, Value>) -> Option<&Map<String, Value>> {
    params.get("_meta")?.as_object()
}

/// The rules of a request on a stream of lines, which has no headers.
pub(crate) fn of_line(request: &Request) -> Result<Era, RpcError> {
    let has_version = meta(&request.params).is_some_and(|meta| meta.contains_key(META_VERSION));
    match has_version || MODERN_METHODS.contains(&request.method.as_str()) {
        false => Ok(Era::Legacy),
        true => {
            let version = checked_meta(request)?;
            check_version(version)?;
            check_method(request)
        }
    }
}

/// The rules of a request over HTTP, with its headers held against its body. Some clients of earlier versions send
/// no version after `initialize`.
pub(crate) fn of_post(headers: &HeaderMap, request: &Request) -> Result<Era, RpcError> {
    let named = header(headers, VERSION_HEADER)?;
    let in_meta = meta(&request.params).is_some_and(|meta| meta.contains_key(META_VERSION));
    let legacy_version = named.as_deref().is_none_or(|version| LEGACY.contains(&version));
    // `initialize` is what the other era begins with, whatever version a client hopes for.
    let begins_legacy = request.method == "initialize" && !in_meta;
    let is_modern = in_meta
        || !legacy_version
        || headers.contains_key(METHOD_HEADER)
        || MODERN_METHODS.contains(&request.method.as_str());
    if !is_modern || begins_legacy {
        return Ok(Era::Legacy);
    }
    let version = checked_meta(request)?;
    require(VERSION_HEADER, named.as_deref(), version)?;
    check_version(version)?;
    require(METHOD_HEADER, header(headers, METHOD_HEADER)?.as_deref(), &request.method)?;
    if let Some(name) = named_by(request) {
        let sent = header(headers, NAME_HEADER)?.map(|sent| decoded(&sent));
        require(NAME_HEADER, sent.transpose()?.as_deref(), name)?;
    }
    check_method(request)
}

fn check_method(request: &Request) -> Result<Era, RpcError> {
    match LEGACY_METHODS.contains(&request.method.as_str()) {
        true => Err(unknown_method(&request.method, Era::Modern)),
        false => Ok(Era::Modern),
    }
}

/// The refusal of a method that is not there.
pub(crate) fn unknown_method(method: &str, era: Era) -> RpcError {
    let name: String = method.chars().take(64).collect();
    let error = RpcError::new(METHOD_NOT_FOUND, format!("There is no method `{name}`."));
    match era {
        Era::Legacy => error,
        Era::Modern => RpcError { status: 404, ..error },
    }
}

/// The version in `_meta`, if what has to stand there does.
fn checked_meta(request: &Request) -> Result<&str, RpcError> {
    let missing = |name: &str| {
        let text = format!("`_meta[\"{name}\"]` is required with every request.");
        RpcError::bad_request(INVALID_PARAMS, text)
    };
    let meta = meta(&request.params).ok_or_else(|| missing(META_VERSION))?;
    let version = meta.get(META_VERSION).and_then(Value::as_str);
    let version = version.ok_or_else(|| missing(META_VERSION))?;
    if !meta.get(META_CAPABILITIES).is_some_and(Value::is_object) {
        return Err(missing(META_CAPABILITIES));
    }
    Ok(version)
}

fn check_version(version: &str) -> Result<(), RpcError> {
    if version == MODERN {
        return Ok(());
    }
    let requested: String = version.chars().take(64).collect();
    let text = format!("This server speaks {MODERN}, and earlier versions after `initialize`.");
    let data = json!({"supported": [MODERN], "requested": requested});
    Err(RpcError::bad_request(UNSUPPORTED_VERSION, text).with_data(data))
}

/// What a request names beside its method.
pub(crate) fn named_by(request: &Request) -> Option<&str> {
    let parameter = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    request.params.get(parameter)?.as_str()
}

fn require(name: &str, sent: Option<&str>, expected: &str) -> Result<(), RpcError> {
    match sent {
        Some(sent) if sent == expected => Ok(()),
        Some(_) => Err(mismatch(format!("The header `{name}` contradicts the body."))),
        None => Err(mismatch(format!("The header `{name}` is required and must repeat the body."))),
    }
}

fn mismatch(text: String) -> RpcError {
    RpcError::bad_request(HEADER_MISMATCH, text)
}

/// The one value of a header.
fn header(headers: &HeaderMap, name: &str) -> Result<Option<String>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(mismatch(format!("The header `{name}` is there more than once.")));
    }
    let text = value.to_str().map_err(|_| mismatch(format!("The header `{name}` is no text.")))?;
    Ok(Some(text.trim().to_owned()))
}

/// A value for a header, wrapped if it is more than visible ASCII.
pub(crate) fn encoded(text: &str) -> String {
    match text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.starts_with("=?") {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", BASE64_STANDARD.encode(text)),
    }
}

/// A value that may be wrapped as `=?base64?...?=`, because a header holds only visible ASCII.
fn decoded(text: &str) -> Result<String, RpcError> {
    let wrapped = text.strip_prefix("=?base64?").and_then(|text| text.strip_suffix("?="));
    let Some(wrapped) = wrapped else { return Ok(text.to_owned()) };
    let bytes = BASE64_STANDARD.decode(wrapped).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| mismatch(format!("The header `{NAME_HEADER}` is no base64 of a text.")))
}
