//! A tool's way to an HTTP route: the handler itself, with the caller, the record for the audit log and the
//! permits of the MCP request. No socket, no second authentication, one row in the audit log.

use axum::body::Body;
use axum::http::Request as HttpRequest;
use axum::http::header::CONTENT_TYPE;
use http_body_util::BodyExt as _;
use lamina_api::{Method, routes};
use lamina_core::policy::Caller;
use serde_json::Value;

use super::tools::ToolFailure;
use crate::http::call::{Call, Desk};
use crate::http::failure::internal;
use crate::http::handlers;
use crate::http::request_id::Id;

/// Who calls routes, and on behalf of which request.
#[derive(Debug, Clone)]
pub(crate) struct RouteCaller {
    pub(crate) desk: Desk,
    pub(crate) caller: Caller,
    pub(crate) request_id: Id,
}

/// One call of a route.
#[derive(Debug, Clone)]
pub(crate) struct RouteCall {
    method: Method,
    template: &'static str,
    id: Option<(&'static str, String)>,
    query: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl RouteCall {
    /// Reads.
    pub(crate) fn get(template: &'static str) -> RouteCall {
        RouteCall { method: Method::Get, template, id: None, query: Vec::new(), body: None }
    }

    /// Acts.
    pub(crate) fn post(template: &'static str, body: Value) -> RouteCall {
        let call = RouteCall::get(template);
        RouteCall { method: Method::Post, body: Some(body), ..call }
    }

    /// The value of the parameter in the path.
    pub(crate) fn with_id(self, name: &'static str, value: impl Into<String>) -> RouteCall {
        RouteCall { id: Some((name, value.into())), ..self }
    }

    /// A query parameter.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> RouteCall {
        self.query.push((name, value.into()));
        self
    }
}

impl RouteCaller {
    /// Calls the route, and reads the JSON that it answers.
    pub(crate) async fn call(&self, call: RouteCall) -> Result<Value, ToolFailure> {
        let RouteCall { method, template, id, query, body } = call;
        let handler = routes::find(method, template).and_then(handlers::of);
        let handler = handler.ok_or_else(|| self.broken("there is no such route".to_owned()))?;
        let mut uri = template.to_owned();
        for (at, (name, value)) in query.iter().enumerate() {
            uri.push(if at == 0 { '?' } else { '&' });
            uri.push_str(name);
            uri.push('=');
            uri.push_str(&percent_encoded(value));
        }
        if let Some((name, _)) = &id {
            uri = uri.replace(&format!("{{{name}}}"), "-");
        }
        let request = HttpRequest::builder().method(method.as_str()).uri(uri);
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.body(()).map_err(|error| self.broken(error.to_string()))?;
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let call = Call {
            app: self.desk.app.clone(),
            id: self.request_id.clone(),
            head: request.into_parts().0,
            body,
            identity: Ok(self.caller.clone()),
            record: self.desk.record.clone(),
            rest: None,
            desk: self.desk.clone(),
            named: id,
        };
        let response = handler(call).await;
        let response = response.map_err(|failure| ToolFailure::of(failure, &self.request_id))?;
        let body = response.into_body().collect().await;
        let body = body.map_err(|error| self.broken(error.to_string()))?.to_bytes();
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| self.broken(error.to_string()))
    }

    fn broken(&self, cause: String) -> ToolFailure {
        ToolFailure::of(internal(cause), &self.request_id)
    }
}

/// A value for a query string.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
