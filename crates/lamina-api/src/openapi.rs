//! The OpenAPI 3.1 document: the route table and the schemas, put together.

use std::collections::BTreeMap;

use lamina_types::ErrorCode;
use serde_json::{Map, Value, json};

use crate::help::help;
use crate::routes::{
    Answer, AnswerBody, Body, COMMON_ERRORS, IDEMPOTENCY_KEY, Method, Param, ROUTES, RouteSpec,
    RouteStatus, Values,
};
use crate::schema;

/// The whole document.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let path = route.path.replace("{*", "{");
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        if let Value::Object(entry) = entry {
            for method in methods(route.method) {
                entry.insert((*method).to_owned(), operation(route, method));
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {
            "title": "Lamina",
            "version": "v1",
            "description": "A memory database for AI agents. Routes marked `x-status: planned` answer 501.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:3141" }],
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": schema::components(),
            "responses": error_responses(),
            "headers": headers(),
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "PASETO v4 public or JWT (RS256, ES256). Not needed under `dev_local`.",
                },
            },
        },
    })
}

fn methods(method: Method) -> &'static [&'static str] {
    match method {
        Method::Get => &["get"],
        Method::Post => &["post"],
        Method::Put => &["put"],
        Method::Patch => &["patch"],
        Method::Delete => &["delete"],
        Method::Any => &["get", "post", "put", "patch", "delete"],
    }
}

fn operation(route: &RouteSpec, method: &str) -> Value {
    let status = match route.status {
        RouteStatus::Built => "built",
        RouteStatus::NotImplemented => "planned",
        RouteStatus::Unavailable(_) => "unavailable",
    };
    let mut operation = Map::new();
    operation.insert("operationId".into(), operation_id(route, method).into());
    operation.insert("summary".into(), route.summary.into());
    operation.insert("tags".into(), json!([tag(route.path)]));
    operation.insert("x-stability".into(), route.tier.as_str().into());
    operation.insert("x-status".into(), status.into());
    if let Some(capability) = route.capability {
        operation.insert("x-capability".into(), capability.into());
    }
    let key = route.keeps_answers().then_some(&IDEMPOTENCY_KEY);
    let parameters: Vec<Value> = route
        .path_params()
        .map(path_parameter)
        .chain(route.params.iter().chain(key).map(parameter))
        .collect();
    if !parameters.is_empty() {
        operation.insert("parameters".into(), parameters.into());
    }
    if let Some(body) = request_body(route.body) {
        operation.insert("requestBody".into(), body);
    }
    operation.insert("responses".into(), responses(route));
    Value::Object(operation)
}

/// `get_events_by_event_id` for `GET /v1/events/{event_id}`.
fn operation_id(route: &RouteSpec, method: &str) -> String {
    let mut id = method.to_owned();
    for part in route.path.trim_start_matches("/v1").split('/') {
        let name = part.trim_matches(['{', '}', '*']);
        if name.is_empty() {
            continue;
        }
        id.push('_');
        if part.starts_with('{') {
            id.push_str("by_");
        }
        id.push_str(&name.replace(['-', '.'], "_"));
    }
    id
}

fn tag(path: &str) -> &str {
    path.split('/').nth(2).unwrap_or_default()
}

fn path_parameter(name: &str) -> Value {
    let schema = match name {
        "event_id" => id_schema("evt"),
        "lifecycle_id" => id_schema("lce"),
        "blob_id" => id_schema("blob"),
        _ => json!({ "type": "string" }),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn id_schema(prefix: &str) -> Value {
    json!({ "type": "string", "pattern": format!("^{prefix}_[0-9a-fA-F-]{{32,36}}$") })
}

fn parameter(param: &Param) -> Value {
    let Param { name, header, required, about, values } = param;
    let schema = match values {
        Values::Text => json!({ "type": "string" }),
        Values::Integer(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Values::Time => json!({
            "type": "string",
            "anyOf": [{ "format": "date-time" }, { "format": "date" }],
        }),
        Values::OneOf(values) => json!({ "type": "string", "enum": values }),
        Values::Id(prefix) => id_schema(prefix),
    };
    let place = if *header { "header" } else { "query" };
    json!({
        "name": name,
        "in": place,
        "required": required,
        "description": about,
        "schema": schema,
    })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

fn request_body(body: Body) -> Option<Value> {
    let (required, content) = match body {
        Body::None => return None,
        Body::Json(name) => (true, json!({ "application/json": { "schema": reference(name) } })),
        Body::OptionalJson(name) => {
            (false, json!({ "application/json": { "schema": reference(name) } }))
        }
        Body::JsonOrBytes(name) => (
            true,
            json!({
                "application/json": { "schema": reference(name) },
                "*/*": { "schema": { "type": "string", "contentEncoding": "binary" } },
            }),
        ),
        Body::File => (
            true,
            json!({
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["file"],
                        "properties": { "file": { "type": "string", "contentEncoding": "binary" } },
                    },
                },
                "*/*": { "schema": { "type": "string", "contentEncoding": "binary" } },
            }),
        ),
    };
    Some(json!({ "required": required, "content": content }))
}

/// The schema of refusals.
const ERROR: &str = "error_envelope";
/// Where a response keeps the schema of its JSON.
const JSON_SCHEMA: &str = "/content/application~1json/schema";

fn responses(route: &RouteSpec) -> Value {
    let errors = errors(route);
    let mut responses: BTreeMap<u16, Value> = BTreeMap::new();
    for (status, codes) in &errors {
        let name = format!("#/components/responses/{}", error_name(*status, codes));
        responses.insert(*status, json!({ "$ref": name }));
    }
    for Answer { status, about, body } in route.answers {
        let mut response = json!({
            "description": about,
            "headers": header_references(),
            "content": answer_content(*body),
        });
        // A status may stand for an answer and an error, as 503 of the health routes does.
        if let (true, Some(own)) = (errors.contains_key(status), response.pointer_mut(JSON_SCHEMA))
        {
            *own = json!({ "anyOf": [own, reference(ERROR)] });
        }
        responses.insert(*status, response);
    }
    responses
        .into_iter()
        .map(|(status, response)| (status.to_string(), response))
        .collect::<Map<_, _>>()
        .into()
}

/// What routes answer when they refuse: many of them the same, so that each is described once.
fn error_responses() -> Value {
    let mut responses: BTreeMap<String, Value> = BTreeMap::new();
    for (status, codes) in ROUTES.iter().flat_map(errors) {
        let name = error_name(status, &codes);
        responses.entry(name).or_insert_with(|| error_response(&codes));
    }
    responses.into_iter().collect::<Map<_, _>>().into()
}

/// A refusal by its status and the codes that not every route has.
fn error_name(status: u16, codes: &[ErrorCode]) -> String {
    let own = codes.iter().filter(|code| !COMMON_ERRORS.contains(code));
    own.fold(format!("error_{status}"), |name, code| format!("{name}.{}", code.as_str()))
}

/// The routes that take envelopes.
const WRITES: &[&str] = &["/v1/experience", "/v1/experience/bulk"];

/// The codes of a route by status.
fn errors(route: &RouteSpec) -> BTreeMap<u16, Vec<ErrorCode>> {
    let own: &[ErrorCode] = match &route.status {
        RouteStatus::Built => route.errors,
        RouteStatus::NotImplemented => &[ErrorCode::NotImplemented],
        RouteStatus::Unavailable(code) => std::slice::from_ref(code),
    };
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    // A body lacks a field; an envelope that does is an invalid one (C34).
    let written = WRITES.contains(&route.path);
    let lacks = match route.body {
        Body::Json(_) if !written && !own.contains(&ErrorCode::MissingRequiredField) => {
            Some(ErrorCode::MissingRequiredField)
        }
        _ => None,
    };
    for code in own.iter().chain(&lacks).chain(COMMON_ERRORS) {
        by_status.entry(code.status()).or_default().push(*code);
        // The one code with two statuses (ruling 17).
        if *code == ErrorCode::InvalidBody {
            by_status.entry(422).or_default().push(*code);
        }
    }
    by_status
}

fn error_response(codes: &[ErrorCode]) -> Value {
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let about: Vec<String> =
        codes.iter().map(|code| format!("`{}`: {}", code.as_str(), help(*code).meaning)).collect();
    json!({
        "description": about.join("\n"),
        "headers": header_references(),
        "content": { "application/json": { "schema": reference(ERROR) } },
        "x-error-codes": names,
    })
}

fn answer_content(body: AnswerBody) -> Value {
    match body {
        AnswerBody::Json(name) => json!({ "application/json": { "schema": reference(name) } }),
        AnswerBody::Events(name) => json!({
            "text/event-stream": { "schema": { "type": "string" }, "x-event-schema": reference(name) },
        }),
        AnswerBody::Metrics => json!({ "text/plain": { "schema": { "type": "string" } } }),
        AnswerBody::Bytes => json!({
            "*/*": { "schema": { "type": "string", "contentEncoding": "binary" } },
        }),
        AnswerBody::OpenApi => json!({ "application/json": { "schema": { "type": "object" } } }),
        AnswerBody::Nothing => json!({}),
    }
}

/// Headers of every response.
const HEADERS: &[(&str, &str)] = &[
    ("X-Cortex-Request-ID", "The id of the request: the one the client sent, or a new one."),
    ("X-Cortex-Stability", "The tier of the route: stable, beta or experimental."),
    ("X-RateLimit-Limit", "Requests the bucket of this actor holds."),
    ("X-RateLimit-Remaining", "Requests left in it."),
    ("X-RateLimit-Reset", "When it is full again, in seconds since 1970."),
];

fn headers() -> Value {
    HEADERS
        .iter()
        .map(|(name, about)| {
            let header = json!({ "description": about, "schema": { "type": "string" } });
            ((*name).to_owned(), header)
        })
        .collect::<Map<_, _>>()
        .into()
}

fn header_references() -> Value {
    HEADERS
        .iter()
        .map(|(name, _)| {
            let reference = json!({ "$ref": format!("#/components/headers/{name}") });
            ((*name).to_owned(), reference)
        })
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests;
