//! The server without a socket: commands that work on a directory no server uses speak to the same routes.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use lamina_env::{Env, RealDisk};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use super::exit::Failure;
use super::serve;
use crate::auth::Gate;
use crate::config::{Config, Environment, Flags};
use crate::http::{App, Parts, router};
use crate::mcp::access::McpAccess;
use crate::meters::Meters;
use crate::transfer::import::Imports;

/// An open data directory behind the routes of the server.
pub(super) struct InProcess {
    runtime: Runtime,
    app: Arc<App>,
    routes: Router,
    close: watch::Sender<bool>,
}

impl InProcess {
    /// Opens the directory for this process alone. Callers are who they say they are, as under `dev_local`:
    /// whoever may read the directory can do everything with it.
    pub(super) fn open(data: &Path) -> Result<InProcess, Failure> {
        let flags = Flags {
            data: Some(data.to_owned()),
            preset: Some("dev_local".to_owned()),
            ..Flags::default()
        };
        let config = Config::load(&flags, &Environment::of_process(), &RealDisk);
        let config = config.map_err(Failure::usage)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.context("the runtime cannot start").map_err(Failure::unreadable)?;
        let env = Env::real();
        let gate = Gate::of(&config, &env).map_err(Failure::usage)?;
        let mcp = McpAccess::open(&config.mcp, &env).map_err(Failure::usage)?;
        let (engine, _) = runtime.block_on(serve::open(&config, env.clone(), Arc::default()))?;
        let (close, closing) = watch::channel(false);
        let meters = Meters::install();
        let parts = Parts { engine, gate, env, meters, closing, answerer: None, mcp };
        let app = Arc::new(App::new(parts, &config));
        let routes = router(Arc::clone(&app));
        Ok(InProcess { runtime, app, routes, close })
    }

    /// Goes on with imports that were cut short, and sweeps staged sources without a job.
    pub(super) fn resume_imports(&self) {
        self.runtime.block_on(Imports::resume(&self.app));
    }

    /// Answers one request.
    pub(super) fn request(&self, request: Request<Body>) -> Response<Body> {
        let answered = self.routes.clone().oneshot(request);
        match self.runtime.block_on(answered) {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// Answers one request of another runtime.
    pub(super) async fn answer(&self, request: Request<Body>) -> Response<Body> {
        // The work is of this process's own runtime, whoever waits for it.
        let routes = self.routes.clone();
        // Who stops waiting ends the work, as who closes a connection does.
        let mut work = JoinSet::new();
        work.spawn_on(routes.oneshot(request), self.runtime.handle());
        let answered = work.join_next().await;
        match answered {
            Some(Ok(Ok(response))) => response,
            Some(Ok(Err(never))) => match never {},
            Some(Err(_)) | None => {
                let mut response = Response::new(Body::empty());
                *response.status_mut() = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
                response
            }
        }
    }

    /// Runs work of the runtime.
    pub(super) fn block_on<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }

    /// Closes the directory; everything acknowledged is durable.
    pub(super) fn close(self) {
        let InProcess { runtime, app, routes, close } = self;
        drop(routes);
        // Nobody may be left to hear it; then there is nothing to close.
        let _ = close.send(true);
        runtime.block_on(async {
            app.imports.shutdown().await;
            app.engine.shutdown().await;
        });
    }
}
