//! The routes of a server, and its answers while it opens the data directory: the port is open before the views are, so
//! that callers and orchestrators learn how far the start is.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::v1::admin::{Health, HealthCheck, HealthStatus, Ready};
use lamina_api::{ApiError, Tier};
use lamina_engine::open::OpenProgress;
use lamina_env::Env;
use lamina_types::ErrorCode;

use super::failure::Failure;
use super::reply;
use super::request_id::Id;

/// Seconds after which a caller asks again.
const RETRY_AFTER_S: u32 = 5;

/// The routes that requests are answered by: those of the contract once the directory is open.
#[derive(Debug, Clone)]
pub struct Routes(Arc<Stages>);

#[derive(Debug)]
struct Stages {
    starting: Router,
    open: OnceLock<Router>,
}

impl From<Router> for Routes {
    fn from(router: Router) -> Routes {
        Routes(Arc::new(Stages { starting: Router::new(), open: router.into() }))
    }
}

impl Routes {
    /// The routes of a server that opens its directory.
    pub(crate) fn starting(
        progress: Arc<OpenProgress>,
        env: Env,
        pages: Option<String>,
    ) -> Routes {
        let starting = Router::new().fallback(move |request: Request| {
            let (progress, env, pages) = (Arc::clone(&progress), env.clone(), pages.clone());
            async move { answer(&progress, &env, &request, pages.as_deref()) }
        });
        Routes(Arc::new(Stages { starting, open: OnceLock::new() }))
    }

    /// From now on requests are answered by the routes of the contract.
    pub(crate) fn open(&self, router: Router) {
        // Only the one start sets them.
        let _ = self.0.open.set(router);
    }

    pub(super) fn current(&self) -> Router {
        self.0.open.get().unwrap_or(&self.0.starting).clone()
    }
}

/// Answers a request while the directory is opened. `pages` is the address of the documentation.
fn answer(
    progress: &OpenProgress,
    env: &Env,
    request: &Request,
    pages: Option<&str>,
) -> Response {
    let id = Id::of(request.headers(), env);
    let (done, all) = progress.entries();
    let what = match all {
        0 => "the server opens its data directory".to_owned(),
        all => format!("the views are rebuilt from the log: {done} of {all} entries"),
    };
    let status = HealthStatus::Unhealthy;
    let values = BTreeMap::from([
        ("entries_done".to_owned(), done.into()),
        ("entries".to_owned(), all.into()),
    ]);
    let check = HealthCheck { status, reason: Some(what.clone()), values };
    let shape = match request.uri().path() {
        "/v1/ready" | "/v1/admin/ready" => {
            let checks = BTreeMap::from([("views".to_owned(), check)]);
            reply::json(StatusCode::SERVICE_UNAVAILABLE, &Ready { ready: false, status, checks })
        }
        "/v1/health" | "/v1/admin/health" => reply::json(
            StatusCode::SERVICE_UNAVAILABLE,
            &Health {
                status,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                reasons: vec![what],
                deployment_preset: None,
                uptime_ms: None,
                checks: BTreeMap::new(),
            },
        ),
        _ => {
            let text = format!("The server starts: {what}.");
            let error = ApiError::new(ErrorCode::Overloaded, text).retry_after(RETRY_AFTER_S);
            Err(Failure::from(error))
        }
    };
    let mut response = shape.unwrap_or_else(|failure| failure.into_response(&id, pages));
    reply::add_rate(&mut response, None, env.clock.wall());
    reply::protect_json(&mut response);
    let headers = response.headers_mut();
    headers.insert(reply::STABILITY, HeaderValue::from_static(Tier::Stable.as_str()));
    headers.insert(reply::REQUEST_ID, id.header());
    response
}
