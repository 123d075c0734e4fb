//! The router, built from the table of the contract: what is in the table answers, what is not does
//! not, and a route that is specified but not built says so.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{HeaderValue, Method as HttpMethod, StatusCode};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter};
use lamina_api::routes::OtherEndpoint;
use lamina_api::{ApiError, Method, ROUTES, RouteSpec, RouteStatus};
use lamina_types::ErrorCode;

use super::answer::{Answer, Handler, answer};
use super::app::App;
use super::call::Call;
use super::failure::Failure;
use super::handlers;
use super::site::Site;
use crate::mcp::{access, endpoint, sse};

/// The router of the server.
pub fn router(app: Arc<App>) -> Router {
    build(&app, handlers::of)
}

/// The same router and the same path through it, but writes are only read and checked, not written:
/// what the surface costs by itself. For measurements; no server routes to it.
pub fn router_without_engine(app: Arc<App>) -> Router {
    build(&app, |route| match (route.method, route.path) {
        (Method::Post, "/v1/experience") => Some(handlers::admit_only),
        _ => handlers::of(route),
    })
}

fn build(app: &Arc<App>, handler_of: fn(&RouteSpec) -> Option<Handler>) -> Router {
    let mut by_path: BTreeMap<&str, Vec<&'static RouteSpec>> = BTreeMap::new();
    for route in ROUTES {
        by_path.entry(route.path).or_default().push(route);
    }
    let mut router = Router::new();
    for (path, routes) in by_path {
        let mut methods = MethodRouter::new();
        for route in &routes {
            let handler = handler_of(route).unwrap_or(fallback_of(route));
            let (app, site) = (Arc::clone(app), Arc::new(Site::of(route)));
            let service = move |request: Request| {
                answer(Arc::clone(&app), Arc::clone(&site), handler, request)
            };
            methods = match filter(route.method) {
                Some(filter) => methods.on(filter, service),
                None => methods.fallback(service),
            };
        }
        if routes.iter().all(|route| route.method != Method::Any) {
            methods = wrong_method(methods, app, &allowed(&routes));
        }
        router = router.route(path, methods);
    }
    router = with_agent_endpoints(router, app);
    let (app, site) = (Arc::clone(app), Arc::new(Site::nowhere("unknown")));
    router.fallback(move |request: Request| {
        answer(Arc::clone(&app), Arc::clone(&site), no_route, request)
    })
}

/// Adds the endpoints for agents, which are not in the table of the HTTP API.
fn with_agent_endpoints(mut router: Router, app: &Arc<App>) -> Router {
    for endpoint in OtherEndpoint::ALL {
        let methods = match endpoint {
            OtherEndpoint::Mcp => mcp(app),
            OtherEndpoint::McpMessages if app.mcp.sse => {
                let place = (endpoint.path(), "POST");
                wrong_method(
                    MethodRouter::new().post(served(app, place, sse::message)),
                    app,
                    "POST",
                )
            }
            OtherEndpoint::McpMessages => continue,
        };
        router = router.route(endpoint.path(), methods);
    }
    if app.mcp.sse {
        let stream = MethodRouter::new().get(served(app, (sse::STREAM_PATH, "GET"), sse::open));
        router = router.route(sse::STREAM_PATH, wrong_method(stream, app, "GET"));
    }
    if app.mcp.metadata.is_some() {
        for path in [access::METADATA_PATH, "/.well-known/oauth-protected-resource/mcp"] {
            let (app, site) = (Arc::clone(app), Arc::new(Site::nowhere(path)));
            let methods = MethodRouter::new().get(move |request: Request| {
                answer(Arc::clone(&app), Arc::clone(&site), access::metadata, request)
            });
            router = router.route(path, methods);
        }
    }
    router
}

/// The endpoint of the Model Context Protocol, which is not of the contract of the HTTP API: `docs/MCP.md` describes it.
fn mcp(app: &Arc<App>) -> MethodRouter {
    let (kept, site) = (Arc::clone(app), Arc::new(Site::of_mcp()));
    let methods = MethodRouter::new().post(move |request: Request| {
        answer(Arc::clone(&kept), Arc::clone(&site), endpoint::handle, request)
    });
    wrong_method(methods, app, "POST")
}

/// A path of the older transport of the protocol.
fn served(
    app: &Arc<App>,
    (path, method): (&'static str, &'static str),
    handler: Handler,
) -> impl Fn(Request) -> Pin<Box<dyn Future<Output = Response> + Send>> + Clone + Send + Sync + 'static
{
    let (app, site) = (Arc::clone(app), Arc::new(Site::of_mcp_at(path, method)));
    move |request: Request| Box::pin(answer(Arc::clone(&app), Arc::clone(&site), handler, request))
}

/// What a route without code answers.
fn fallback_of(route: &RouteSpec) -> Handler {
    match route.status {
        RouteStatus::Unavailable(ErrorCode::CodePlaneDisabled) => {
            |_| refuse(ErrorCode::CodePlaneDisabled)
        }
        RouteStatus::Unavailable(_) => |_| refuse(ErrorCode::NotConfigured),
        RouteStatus::NotImplemented | RouteStatus::Built => |_| refuse(ErrorCode::NotImplemented),
    }
}

fn refuse(code: ErrorCode) -> Answer {
    Box::pin(std::future::ready(Err(ApiError::of(code).into())))
}

fn no_route(call: Call) -> Answer {
    let path: String = call.head.uri.path().chars().take(256).collect();
    let error = ApiError::new(
        ErrorCode::NotFound,
        "There is no such route; /v1/openapi.json lists them all.",
    );
    Box::pin(std::future::ready(Err(error.with("path", path).into())))
}

/// The path is right and the method is not; or the client asks which methods there are.
fn wrong_method(methods: MethodRouter, app: &Arc<App>, allow: &str) -> MethodRouter {
    let (app, site) = (Arc::clone(app), Arc::new(Site::nowhere("wrong_method")));
    let allow = HeaderValue::try_from(allow).expect("methods are letters and commas");
    methods.fallback(move |request: Request| {
        let (app, site, allow) = (Arc::clone(&app), Arc::clone(&site), allow.clone());
        async move {
            let handler: Handler = match *request.method() {
                HttpMethod::OPTIONS => |_| Box::pin(std::future::ready(Ok(no_content()))),
                _ => |call| Box::pin(std::future::ready(Err(not_allowed(&call)))),
            };
            let mut response = answer(app, site, handler, request).await;
            response.headers_mut().insert(ALLOW, allow);
            response
        }
    })
}

fn no_content() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

fn not_allowed(call: &Call) -> Failure {
    let method: String = call.head.method.as_str().chars().take(32).collect();
    ApiError::new(
        ErrorCode::MethodNotAllowed,
        "The route does not take this method; `Allow` lists those it takes.",
    )
    .with("method", method)
    .into()
}

/// `GET` brings `HEAD` with it.
fn allowed(routes: &[&RouteSpec]) -> String {
    let mut methods: Vec<&str> = routes.iter().map(|route| route.method.as_str()).collect();
    if methods.contains(&"GET") {
        methods.push("HEAD");
    }
    methods.sort_unstable();
    methods.join(", ")
}

fn filter(method: Method) -> Option<MethodFilter> {
    match method {
        Method::Get => Some(MethodFilter::GET),
        Method::Post => Some(MethodFilter::POST),
        Method::Put => Some(MethodFilter::PUT),
        Method::Patch => Some(MethodFilter::PATCH),
        Method::Delete => Some(MethodFilter::DELETE),
        Method::Any => None,
    }
}

#[cfg(test)]
mod tests;
